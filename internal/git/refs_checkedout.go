package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// CheckedOut returns the work tree of the user that has a ref checked out, or is
// rebasing it; "" if none. Dir is the repository's common git directory.
func checkedOut(dir, ref string) string {
	dirs, _ := filepath.Glob(filepath.Join(EscapeGlob(dir), "worktrees", "*"))
	for _, dir := range append([]string{dir}, dirs...) {
		for _, name := range []string{"HEAD", "rebase-merge/head-name", "rebase-apply/head-name"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil && strings.TrimSpace(strings.TrimPrefix(string(text), "ref: ")) == ref {
				return workTreeOf(dir)
			}
		}
	}
	return ""
}

// workTreeOf names a work tree by its git directory, for people.
func workTreeOf(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "gitdir"))
	if errors.Is(err, os.ErrNotExist) {
		return filepath.Dir(dir)
	}
	return filepath.Dir(strings.TrimSpace(string(text)))
}
