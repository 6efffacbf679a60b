package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// scratch is the .git in the work tree, for the agent to look around in. No git
// command of this package ever looks at it.
type scratch struct{ *tree }

// reset puts a fresh .git into the work tree, in place of whatever is
// there. It shows the agent the branch, the default branch and their history,
// and git status and git diff what is uncommitted. It borrows the objects of
// the user's repository by path, so the agent has to be able to read those. With
// lfs some of the files are kept by Git LFS.
func (s scratch) reset(ctx context.Context, lfs bool) error {
	if err := s.syncIndex(ctx); err != nil {
		return fmt.Errorf("make .git for the agent: %w", err)
	}
	if err := s.build(lfs); err != nil {
		return fmt.Errorf("make .git for the agent: %w", err)
	}
	return nil
}

// build makes it beside the work tree, where no agent can write.
func (s scratch) build(lfs bool) error {
	const temp = "scratch"
	if err := s.root.RemoveAll(temp); err != nil {
		return err
	}
	for _, dir := range []string{"objects/info", "refs/heads", "info"} {
		if err := s.root.MkdirAll(filepath.Join(temp, dir), 0o755); err != nil {
			return err
		}
	}
	files := map[string]string{
		"HEAD":                    "ref: " + s.ref + "\n",
		"config":                  s.src.basics(),
		"packed-refs":             s.refs(),
		"objects/info/alternates": s.objects() + "\n",
	}
	for name, text := range files {
		if err := s.root.WriteFile(filepath.Join(temp, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, name := range []string{"index", "shallow", "info/attributes"} {
		err := folders.CopyFile(filepath.Join(s.opt.Root, temp, name), s.home(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if lfs {
		// Git compares files that are as old as its index, and here it could not
		// compare those of Git LFS.
		soon := time.Now().Add(time.Second)
		if err := s.root.Chtimes(filepath.Join(temp, "index"), soon, soon); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := folders.RemoveWithin(s.top, ".git"); err != nil {
		return err
	}
	return s.root.Rename(temp, "tree/.git")
}

// refs is a packed-refs file, which git wants in order.
func (s scratch) refs() string {
	lines := []string{s.tip + " " + s.ref}
	if name := s.src.DefaultBranch; name != "" {
		if "refs/heads/"+name != s.ref {
			lines = append(lines, s.src.defaultHead+" refs/heads/"+name)
		}
		lines = append(lines, s.src.defaultHead+" refs/remotes/origin/"+name)
	}
	slices.SortFunc(lines, func(a, b string) int {
		return strings.Compare(a[strings.IndexByte(a, ' '):], b[strings.IndexByte(b, ' '):])
	})
	return "# pack-refs with: sorted\n" + strings.Join(lines, "\n") + "\n"
}
