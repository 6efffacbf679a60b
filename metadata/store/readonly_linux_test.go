package store

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// A folder that nobody may write to keeps its record. The save happens on a
// thread that has no rights over other people's files, so that this holds
// where the tests are run by root, too.
func TestReadOnlyFolderKeepsTheOldRecord(t *testing.T) {
	dir := t.TempDir()
	s := in(filepath.Join(dir, "issue-7"))
	testenv.Must(t, s.Save(sample(t)))
	for name, mode := range map[string]os.FileMode{s.Dir: 0o555, dir: 0o755, filepath.Dir(dir): 0o755} {
		testenv.Must(t, os.Chmod(name, mode))
	}
	defer os.Chmod(s.Dir, 0o755)
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if os.Geteuid() == 0 {
			const nobody = 65534
			if err := unix.Setfsuid(nobody); err != nil {
				result <- err
				return
			}
		}
		r := sample(t)
		r.Revision = 10
		result <- s.Save(r)
	}()
	err := <-result
	if err == nil || !strings.HasPrefix(err.Error(), "save "+filepath.Join(s.Dir, metadata.File)+": ") || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("got %v", err)
	}
	r, err := s.Load()
	if err != nil || r.Revision != sample(t).Revision {
		t.Errorf("revision %d, %v", r.Revision, err)
	}
	wantFiles(t, s.Dir, metadata.File)
}
