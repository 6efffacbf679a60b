package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// A repository that takes no commits is named, with the folder that keeps it from that.
// Root may write in each.
func TestUnwritableRepository(t *testing.T) {
	testenv.Ordinary(t, func(t *testing.T) {
		for _, closed := range []string{".", "objects", "refs"} {
			src := &git.Source{CommonDir: t.TempDir()}
			for _, name := range []string{"objects", "refs"} {
				testenv.Must(t, os.Mkdir(filepath.Join(src.CommonDir, name), 0o755))
			}
			if got := writable(src); len(got) > 0 {
				t.Errorf("all can be written, and it says %+v", got)
			}
			dir := filepath.Join(src.CommonDir, closed)
			testenv.Must(t, os.Chmod(dir, 0o555))
			got := writable(src)
			testenv.Must(t, os.Chmod(dir, 0o755))
			if os.Geteuid() == 0 {
				if len(got) > 0 {
					t.Errorf("%s: root is told %+v", closed, got)
				}
				continue
			}
			if len(got) != 1 || got[0].Status != Missing || !strings.Contains(got[0].Found, "nothing can be written in "+filepath.Clean(dir)+" (permission denied)") {
				t.Errorf("%s: it says %+v", closed, got)
			}
		}
	})
}
