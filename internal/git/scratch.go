package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// scratch is the .git in the work tree, for the agent to look around in. No git
// command of this package ever looks at it.
type scratch struct{ *tree }

// reset sees to it that there is a .git in the work tree as if it were made
// anew, in place of whatever is there. It shows the agent the branch, the default branch and their history,
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

// scratchTemp is where it is made: beside the work tree, where no agent can write.
const scratchTemp = "scratch"

// build makes all of it, and puts it in the place of what is there.
func (s scratch) build(lfs bool) error {
	if err := s.root.RemoveAll(scratchTemp); err != nil {
		return err
	}
	for _, dir := range []string{"objects/info", "refs/heads", "info"} {
		if err := s.root.MkdirAll(path.Join(scratchTemp, dir), 0o755); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"HEAD": "ref: " + s.ref + "\n", "config": s.src.basics(), "packed-refs": s.refs(), "objects/info/alternates": s.objects() + "\n",
	} {
		if err := s.root.WriteFile(path.Join(scratchTemp, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, name := range []string{"index", "shallow", "info/attributes"} {
		if err := folders.CopyFile(filepath.Join(s.opt.Root, scratchTemp, name), s.home(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if lfs {
		// Git compares files that are as old as its index, and here it could not
		// compare those of Git LFS.
		soon := time.Now().Add(time.Second)
		if err := s.root.Chtimes(path.Join(scratchTemp, "index"), soon, soon); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := folders.RemoveWithin(s.top, ".git"); err != nil {
		return err
	}
	return s.root.Rename(scratchTemp, "tree/.git")
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
