package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Ref is a name and the commit that it is at, a full hash.
type Ref struct{ Name, Commit string }

// refFormat is how for-each-ref has to print refs for Parse; ls-remote prints them so itself.
const refFormat = "--format=%(objectname)%09%(refname)"

// ParseRefs reads what git prints of refs, each on a line of its own that has come to its end.
func ParseRefs(out []byte) (all []Ref) {
	for line := range strings.Lines(string(out)) {
		line, whole := strings.CutSuffix(line, "\n")
		commit, name, named := strings.Cut(line, "\t")
		if whole && named && isHash(commit) {
			all = append(all, Ref{name, commit})
		}
	}
	return all
}

// RefsBeginning gives the patterns by which ls-remote lists refs that begin in these ways.
func RefsBeginning(prefixes []string) (patterns []string) {
	for _, p := range prefixes {
		patterns = append(patterns, p+"*")
	}
	return patterns
}

// refsFetched gives the arguments by which git fetches refs of origin: its branches to where a
// clone has those of origin, and all else to the same name.
func refsFetched(all []Ref) (args []string) {
	for _, r := range all {
		into := r.Name
		if name, is := strings.CutPrefix(r.Name, "refs/heads/"); is {
			into = "refs/remotes/origin/" + name
		}
		args = append(args, "+"+r.Name+":"+into)
	}
	return args
}

// checkedOut returns the work tree of the user that has a ref checked out, or is
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

// checkoutBranch returns the commit of the run's branch in the user's repository.
// A branch that makes the name impossible there is an error.
func (r *Repo) checkoutBranch(ctx context.Context) (string, error) {
	if r.opt.Aside != "" {
		return "", nil
	}
	names := []string{r.ref}
	for _, p := range folders.Parents(r.opt.Branch) {
		names = append(names, "refs/heads/"+p)
	}
	listed, err := r.src.refs(ctx, names...)
	if err != nil {
		return "", fmt.Errorf("look for branch %s: %w", r.opt.Branch, err)
	}
	commit := ""
	for _, one := range listed {
		if one.Name == r.ref {
			commit = one.Commit
		} else if Under(one.Name, r.ref) || Under(r.ref, one.Name) {
			return "", r.blocked(strings.TrimPrefix(one.Name, "refs/heads/"), "")
		}
	}
	return commit, nil
}

// updateCheckout moves the user's branch of the run along. It is a courtesy,
// because only the ref of the run and the remote count. So it returns a failure
// as a warning.
func (r *Repo) updateCheckout(ctx context.Context, tip string) string {
	if r.checkoutTip == tip {
		return ""
	}
	if where := checkedOut(r.src.CommonDir, r.ref); where != "" {
		return fmt.Sprintf("branch %s is checked out in %s, so it is not moved along in this repository; check out another one there, and the next start of the run moves it", r.opt.Branch, where)
	}
	old := r.checkoutTip
	if old == "" {
		old = r.zero()
	}
	r.sweepBranchLock()
	if r.src.moveRef(ctx, r.ref, tip, old) == nil {
		r.checkoutTip = tip
		return ""
	}
	if ctx.Err() != nil {
		return ""
	}
	return fmt.Sprintf("branch %s of this repository could not be moved along: it was changed meanwhile, or is locked", r.opt.Branch)
}

// sweepBranchLock removes the lock that a killed process left on the run's
// branch in the user's repository. A recent one stays, since somebody may be at
// work.
func (r *Repo) sweepBranchLock() {
	name := filepath.Join(r.src.CommonDir, r.ref+".lock")
	if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > 10*time.Second {
		_ = os.Remove(name) // if it stays, the update of the branch says so
	}
}
