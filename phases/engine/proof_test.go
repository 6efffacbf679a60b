package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// Tests are laid over a copy as they are in the tree: with the right to be run, those that are gone are gone, and no link
// in the copy leads a file out of it.
func TestLay(t *testing.T) {
	tree, dir, out := t.TempDir(), t.TempDir(), t.TempDir()
	put := func(name string, mode os.FileMode) {
		t.Helper()
		testenv.Must(t, os.WriteFile(name, []byte("old"), mode))
	}
	put(filepath.Join(tree, "run_test.sh"), 0o755)
	put(filepath.Join(dir, "gone_test.sh"), 0o644)
	testenv.Must(t, lay(dir, tree, map[string][]byte{"run_test.sh": []byte("new"), "tests/a/b.sh": []byte("new"), "gone_test.sh": nil}))
	info, err := os.Stat(filepath.Join(dir, "run_test.sh"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
	if body, err := os.ReadFile(filepath.Join(dir, "tests/a/b.sh")); err != nil || string(body) != "new" {
		t.Errorf("%q, %v", body, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "gone_test.sh")); !os.IsNotExist(err) {
		t.Errorf("what is gone: %v", err)
	}
	testenv.Must(t, os.Symlink(out, filepath.Join(dir, "link")))
	testenv.Must(t, lay(dir, tree, map[string][]byte{"link/x_test.sh": []byte("new")}))
	if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
		t.Errorf("a link led out of the copy: %v, %v", left, err)
	}
}
