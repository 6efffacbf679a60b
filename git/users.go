package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// updateUsers moves the user's branch of the run along. It is a courtesy: the
// own ref and the remote are what counts, so that a failure is a warning, which
// it returns.
func (r *Repo) updateUsers(ctx context.Context, tip string) string {
	if r.users == tip {
		return ""
	}
	if where := r.checkedOut(); where != "" {
		return fmt.Sprintf("branch %s is checked out in %s, so it is not moved along in this repository", r.opt.Branch, where)
	}
	old := r.users
	if old == "" {
		old = r.zero()
	}
	r.sweepBranchLock()
	_, err := r.src.inspect(ctx, "update-ref", "-m", "reprise", r.ref, tip, old)
	if err == nil {
		r.users = tip
		return ""
	}
	if ctx.Err() != nil {
		return ""
	}
	return fmt.Sprintf("branch %s of this repository could not be moved along: it was changed meanwhile, or is locked", r.opt.Branch)
}

// checkedOut returns the work tree of the user that has the run's branch
// checked out, or is rebasing it; "" if none.
func (r *Repo) checkedOut() string {
	dirs, _ := filepath.Glob(filepath.Join(escapeGlob(r.src.CommonDir), "worktrees", "*"))
	for _, dir := range append([]string{r.src.CommonDir}, dirs...) {
		for _, name := range []string{"HEAD", "rebase-merge/head-name", "rebase-apply/head-name"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil && strings.TrimSpace(strings.TrimPrefix(string(text), "ref: ")) == r.ref {
				return workTreeOf(dir)
			}
		}
	}
	return ""
}

func escapeGlob(p string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(p)
}

// workTreeOf names a work tree by its git directory, for people.
func workTreeOf(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "gitdir"))
	if errors.Is(err, os.ErrNotExist) {
		return filepath.Dir(dir)
	}
	return filepath.Dir(strings.TrimSpace(string(text)))
}
