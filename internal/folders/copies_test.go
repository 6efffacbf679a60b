package folders

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// roots opens two empty folders.
func roots(t *testing.T) (src, dst *os.Root) {
	t.Helper()
	for _, r := range []**os.Root{&src, &dst} {
		var err error
		*r, err = os.OpenRoot(t.TempDir())
		do(t, err)
		t.Cleanup(func() { _ = (*r).Close() })
	}
	return src, dst
}

func TestCopy(t *testing.T) {
	src, dst := roots(t)
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	do(t, src.MkdirAll("a/b", 0o755))
	do(t, src.WriteFile("a/b/tool", []byte("program"), 0o755))
	do(t, src.Chmod("a/b/tool", 0o555))
	do(t, src.Chtimes("a/b/tool", old, old))
	do(t, src.Symlink("/etc", "a/link"))
	do(t, syscall.Mkfifo(filepath.Join(src.Name(), "a/pipe"), 0o600))
	do(t, src.Chmod("a/b", 0o500))
	defer func() { do(t, src.Chmod("a/b", 0o700)) }()
	do(t, Copy(t.Context(), src, "a", dst, "c"))
	info, err := dst.Stat("c/b/tool")
	do(t, err)
	if info.Mode().Perm() != 0o555 || !info.ModTime().Equal(old) {
		t.Errorf("mode %v and time %v, want 0555 and %v", info.Mode(), info.ModTime(), old)
	}
	if data, err := dst.ReadFile("c/b/tool"); err != nil || string(data) != "program" {
		t.Errorf("%q, %v", data, err)
	}
	if target, err := dst.Readlink("c/link"); err != nil || target != "/etc" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	if _, err := dst.Lstat("c/pipe"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a pipe: %v", err)
	}
	do(t, dst.WriteFile("c/b/new", nil, 0o600)) // whoever has the copy may write there
}

// What a program has closed to everybody can be copied all the same.
func TestLocked(t *testing.T) {
	testenv.Ordinary(t, func(t *testing.T) {
		src, dst := roots(t)
		do(t, src.MkdirAll("a/b", 0o755))
		do(t, src.WriteFile("a/b/c", []byte("text"), 0o644))
		do(t, src.Chmod("a/b/c", 0))
		do(t, src.Chmod("a/b", 0))
		do(t, src.Chmod("a", 0))
		do(t, Copy(t.Context(), src, "a", dst, "d"))
		if _, err := dst.Stat("d/b/c"); err != nil {
			t.Error(err)
		}
		do(t, errors.Join(src.Chmod("a", 0o700)))
	})
}
