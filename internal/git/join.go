package git

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/text"
)

// join brings this run and what the remote has together, after a push that did
// not succeed. It says whether the remote now has the tip.
func (u *upstream) join(ctx context.Context) (bool, error) {
	if u.remoteTip == u.tip {
		return true, nil // the push had arrived
	}
	if u.remoteTip == "" {
		return false, nil
	}
	if kept, err := u.shelfOf(ctx, u.remoteTip); err != nil {
		return false, err
	} else if kept != u.remoteTip && u.shelf == "" {
		if is, err := u.containsAll(ctx, u.tip, kept); err != nil {
			return false, err
		} else if !is {
			return false, u.overtaken(kept)
		}
	}
	if behind, err := u.contains(ctx, u.tip, u.remoteTip); err != nil || behind {
		return false, err
	}
	ahead, err := u.contains(ctx, u.remoteTip, u.tip)
	if err != nil {
		return false, err
	}
	if ahead {
		return true, u.goOn(ctx)
	}
	return false, u.replay(ctx)
}

// goOn takes the commits that others have put on top of the tip.
func (u *upstream) goOn(ctx context.Context) error {
	if err := u.mayTake(ctx, u.tip, nil); err != nil {
		return err
	}
	return u.move(ctx, u.remoteTip)
}

// replay makes the commits of this process again on top of the remote's.
func (u *upstream) replay(ctx context.Context) error {
	out, err := u.git(ctx, "merge-base", u.tip, u.remoteTip)
	if exitCode(err) == 1 {
		return u.moved(text.CauseOf("moved_unrelated", "the two have no commit in common"))
	}
	if err != nil {
		return err
	}
	base := string(out[:len(out)-1])
	count, err := u.git(ctx, "rev-list", "--first-parent", "--count", u.remoteTip+".."+u.tip)
	if err != nil {
		return err
	}
	if string(count) != fmt.Sprintf("%d\n", len(u.unpushed)) {
		return u.moved(text.CauseOf("moved_unpushed", "the run has commits of an earlier start that were never pushed"))
	}
	ours, err := u.between(ctx, base, u.tip)
	if err != nil {
		return err
	}
	if err := u.mayTake(ctx, base, ours); err != nil {
		return err
	}
	id, err := u.build(ctx, u.ref, u.remoteTip, u.unpushed, true)
	if err != nil {
		return err
	}
	return u.move(ctx, id)
}

// mayTake refuses the commits of the remote since base if they touch the state
// folder, a path that this run has changed, or a path with uncommitted changes.
func (u *upstream) mayTake(ctx context.Context, base string, ours []string) error {
	came, err := u.between(ctx, base, u.remoteTip)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(came, func(p string) bool { return Under(p, u.opt.State) }) {
		return u.overtaken(u.remoteTip)
	}
	changes, err := u.changes(ctx)
	if err != nil {
		return err
	}
	for _, c := range changes {
		ours = append(ours, c.Path)
	}
	if overlap(ours, came) {
		return u.moved(text.CauseOf("moved_files", "both changed the same files"))
	}
	return nil
}

// overtaken says that somebody else has gone on with the run, to that commit.
func (u *upstream) overtaken(other string) error {
	return &Moved{Branch: u.opt.Branch, Local: u.tip, Other: other, Where: u.opt.Remote, Why: text.CauseOf("moved_run", "somebody else went on with this run"), Run: true}
}

func (u *upstream) moved(why text.Cause) error {
	return &Moved{Branch: u.opt.Branch, Local: u.tip, Other: u.remoteTip, Where: u.opt.Remote, Why: why}
}

// move takes commit as the tip and brings the work tree along. Changes that are
// not committed stay; the caller knows that they do not get in the way.
func (u *upstream) move(ctx context.Context, commit string) error {
	if err := u.syncIndex(ctx); err != nil {
		return err
	}
	folders.Unlock(u.top, ".") // git writes nothing into a closed folder
	if _, err := u.git(ctx, "read-tree", "-m", "-u", u.tip, commit); err != nil {
		return fmt.Errorf("bring the work tree to %s: %w", short(commit), err)
	}
	u.tip = commit
	if err := u.setLocal(ctx); err != nil {
		return err
	}
	if err := u.large.fill(ctx); err != nil {
		return err
	}
	return u.loadState(ctx, commit)
}

// Moved says that the branch went on elsewhere in a way that cannot be joined
// with what is here. Nothing was lost: Local stays as it was.
type Moved struct {
	Branch string
	Local  string // commit
	Other  string // commit
	Where  string // where Other is: "origin", or "this repository"
	Why    text.Cause
	Run    bool // it is the run itself with which somebody went on
}

// Error names both commits.
func (e *Moved) Error() string {
	return fmt.Sprintf("branch %s moved: it is at %s in %s and at %s in this run: %s",
		e.Branch, short(e.Other), e.Where, short(e.Local), e.Why)
}

func short(commit string) string { return commit[:min(12, len(commit))] }
