package folders

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A link in the place of a folder is seen, also one to where the folder is now, and
// is removed without what it leads to.
func TestStanding(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir, away := filepath.Join(top, "tree"), filepath.Join(top, "away")
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(os.Mkdir(dir, 0o755))
	do(os.WriteFile(filepath.Join(dir, "a"), nil, 0o644))
	s := Stands(top, dir)
	do(s.Still())
	do(Straighten(dir))
	do(os.Chmod(dir, 0))
	do(s.Still())
	do(os.Chmod(dir, 0o755))
	do(os.Rename(dir, away))
	do(s.Still())
	do(Straighten(dir))
	do(os.Symlink(away, dir))
	if err := s.Still(); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("of the link it says %v", err)
	}
	do(Straighten(dir))
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("the link is there: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(away, "a")); err != nil {
		t.Errorf("what it leads to: %v", err)
	}
	do(os.Mkdir(dir, 0o755))
	if s.Still() == nil {
		t.Error("another folder passes for the one that was there")
	}
}
