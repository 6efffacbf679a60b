package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ResetPlayground puts a fresh .git into the work tree, in place of whatever is
// there. It shows the agent the branch, the default branch and their history,
// and git status and git diff what is uncommitted. It borrows the objects of
// the user's repository by path, so the agent has to be able to read those. No
// git command of this package ever looks at it.
func (r *Repo) ResetPlayground(ctx context.Context) error {
	if err := r.syncIndex(ctx); err != nil {
		return fmt.Errorf("make .git for the agent: %w", err)
	}
	if err := r.buildPlayground(); err != nil {
		return fmt.Errorf("make .git for the agent: %w", err)
	}
	return nil
}

// buildPlayground builds it beside the work tree, where no agent can write.
func (r *Repo) buildPlayground() error {
	const temp = "playground"
	if err := r.root.RemoveAll(temp); err != nil {
		return err
	}
	for _, dir := range []string{"objects/info", "refs/heads", "info"} {
		if err := r.root.MkdirAll(filepath.Join(temp, dir), 0o755); err != nil {
			return err
		}
	}
	files := map[string]string{
		"HEAD":                    "ref: " + r.ref + "\n",
		"config":                  r.src.basics(),
		"packed-refs":             r.playgroundRefs(),
		"objects/info/alternates": r.objects() + "\n",
	}
	for name, text := range files {
		if err := r.root.WriteFile(filepath.Join(temp, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, name := range []string{"index", "shallow", "info/attributes"} {
		err := copyFile(filepath.Join(r.opt.Root, temp, name), r.home(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if r.inLFS() {
		// Git compares files that are as old as its index, and here it could not
		// compare those of Git LFS.
		soon := time.Now().Add(time.Second)
		if err := r.root.Chtimes(filepath.Join(temp, "index"), soon, soon); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := removeAll(r.top, ".git"); err != nil {
		return err
	}
	return r.root.Rename(temp, "tree/.git")
}

// playgroundRefs is a packed-refs file, which git wants in order.
func (r *Repo) playgroundRefs() string {
	lines := []string{r.tip + " " + r.ref}
	if name := r.src.DefaultBranch; name != "" {
		if "refs/heads/"+name != r.ref {
			lines = append(lines, r.src.defaultHead+" refs/heads/"+name)
		}
		lines = append(lines, r.src.defaultHead+" refs/remotes/origin/"+name)
	}
	slices.SortFunc(lines, func(a, b string) int {
		return strings.Compare(a[strings.IndexByte(a, ' '):], b[strings.IndexByte(b, ' '):])
	})
	return "# pack-refs with: sorted\n" + strings.Join(lines, "\n") + "\n"
}

// RemovePlayground takes the .git of the work tree away.
func (r *Repo) RemovePlayground() error {
	if err := removeAll(r.top, ".git"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the agent's .git: %w", err)
	}
	return nil
}
