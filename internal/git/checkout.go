package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// checkoutBranch returns the commit of the run's branch in the user's repository.
// A branch that makes the name impossible there is an error.
func (br *runBranch) checkoutBranch(ctx context.Context) (string, error) {
	if br.opt.Aside != "" {
		return "", nil
	}
	names := []string{br.ref}
	for _, p := range folders.Parents(br.opt.Branch) {
		names = append(names, "refs/heads/"+p)
	}
	listed, err := br.src.refs(ctx, names...)
	if err != nil {
		return "", fmt.Errorf("look for branch %s: %w", br.opt.Branch, err)
	}
	commit := ""
	for _, r := range listed {
		if r.Name == br.ref {
			commit = r.Commit
		} else if Under(r.Name, br.ref) || Under(br.ref, r.Name) {
			return "", br.besides(strings.TrimPrefix(r.Name, "refs/heads/"), "")
		}
	}
	return commit, nil
}

// updateCheckout moves the user's branch of the run along. It is a courtesy,
// because only the ref of the run and the remote count. So it returns a failure
// as a warning.
func (br *runBranch) updateCheckout(ctx context.Context, tip string) string {
	if br.checkoutTip == tip {
		return ""
	}
	if where := checkedOut(br.src.CommonDir, br.ref); where != "" {
		return fmt.Sprintf("branch %s is checked out in %s, so it is not moved along in this repository; check out another one there, and the next start of the run moves it", br.opt.Branch, where)
	}
	old := br.checkoutTip
	if old == "" {
		old = br.zero()
	}
	br.sweepBranchLock()
	if br.src.moveRef(ctx, br.ref, tip, old) == nil {
		br.checkoutTip = tip
		return ""
	}
	if ctx.Err() != nil {
		return ""
	}
	return fmt.Sprintf("branch %s of this repository could not be moved along: it was changed meanwhile, or is locked", br.opt.Branch)
}

// sweepBranchLock removes the lock that a killed process left on the run's
// branch in the user's repository. A recent one stays, since somebody may be at
// work.
func (br *runBranch) sweepBranchLock() {
	name := filepath.Join(br.src.CommonDir, br.ref+".lock")
	if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > 10*time.Second {
		_ = os.Remove(name) // if it stays, the update of the branch says so
	}
}
