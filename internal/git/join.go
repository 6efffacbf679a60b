package git

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// join unites this run and the remote after a push that failed, and says whether the remote now has the tip.
func (r *Repo) join(ctx context.Context) (bool, error) {
	if r.remoteTip == r.tip {
		return true, nil // the push had arrived
	}
	if r.remoteTip == "" {
		return false, nil
	}
	if kept, err := r.shelfOf(ctx, r.remoteTip); err != nil {
		return false, err
	} else if kept != r.remoteTip && r.shelf == "" {
		if is, err := r.containsAll(ctx, r.tip, kept); err != nil {
			return false, err
		} else if !is {
			return false, r.moved(kept, r.opt.Remote, metadata.Because("moved_run"))
		}
	}
	if behind, err := r.contains(ctx, r.tip, r.remoteTip); err != nil || behind {
		return false, err
	}
	return r.replay(ctx)
}

// replay makes this process's commits again on top of the remote's, and says whether the remote had them all.
func (r *Repo) replay(ctx context.Context) (bool, error) {
	base, err := r.reads().base(ctx, r.tip, r.remoteTip)
	if err == nil && base == "" {
		return false, r.moved(r.remoteTip, r.opt.Remote, metadata.Because("moved_unrelated"))
	}
	if err != nil {
		return false, err
	}
	revs := r.unpushed
	if base == r.tip {
		revs = nil
	}
	count, err := r.git(ctx, "rev-list", "--first-parent", "--count", r.remoteTip+".."+r.tip)
	if err != nil {
		return false, err
	}
	if string(count) != fmt.Sprintf("%d\n", len(revs)) {
		return false, r.moved(r.remoteTip, r.opt.Remote, metadata.Because("moved_unpushed"))
	}
	ours, err := r.between(ctx, base, r.tip)
	if err == nil {
		err = r.mayTake(ctx, base, ours)
	}
	if err != nil {
		return false, err
	}
	id := r.remoteTip
	for _, rev := range revs {
		if err == nil {
			rev, err = r.withStatement(ctx, rev, id)
		}
		if err == nil {
			id, err = r.makeCommit(ctx, made, rev, id, true)
		}
	}
	if err == nil {
		err = r.move(ctx, id)
	}
	return len(revs) == 0, err
}

// mayTake refuses remote commits that touch the state folder, a path this run changed, or an uncommitted change.
func (r *Repo) mayTake(ctx context.Context, base string, ours []string) error {
	came, err := r.between(ctx, base, r.remoteTip)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(came, func(p string) bool { return Under(p, r.opt.State) }) {
		return r.moved(r.remoteTip, r.opt.Remote, metadata.Because("moved_run"))
	}
	changes, err := r.changes(ctx)
	if err != nil {
		return err
	}
	for _, c := range changes {
		ours = append(ours, c.Path)
	}
	if overlap(ours, came) {
		return r.moved(r.remoteTip, r.opt.Remote, metadata.Because("moved_files"))
	}
	return nil
}

func (r *Repo) moved(other, where string, why metadata.Reason) error {
	return &Moved{Branch: r.opt.Branch, Local: r.tip, Other: other, Where: where, Cause: why, Run: why.Code() == "moved_run"}
}

// move takes commit as the tip and the tree along. Uncommitted changes stay; the caller knows they are not in the way.
func (r *Repo) move(ctx context.Context, commit string) error {
	r.unlock()                                           // git writes nothing into a closed folder
	_, _ = r.git(ctx, "update-index", "-q", "--refresh") // the statement is another one; read-tree says what is wrong
	from, err := r.whole(ctx)
	was := r.tip
	r.tip = commit
	err = errors.Join(err, r.findShelf(ctx))
	to, wrong := r.whole(ctx)
	if err = errors.Join(err, wrong); err == nil {
		_, err = r.git(ctx, "read-tree", "-m", "-u", from, to)
	}
	if err != nil {
		r.tip = was
		return fmt.Errorf("bring the work tree to %s: %w", short(commit), err)
	}
	if err := r.setLocal(ctx); err != nil {
		return err
	}
	return r.fillLarge(ctx)
}

// Moved says that the branch went on elsewhere and cannot be joined with what is here. Nothing was lost: Local stays.
type Moved struct {
	Branch string
	Local  string // commit
	Other  string // commit
	Where  string // where Other is: "origin", or "this repository"
	Cause  metadata.Reason
	Run    bool // it is the run itself with which somebody went on
}

// Error names both commits.
func (e *Moved) Error() string { return e.Why().In(prompts.Words("en")) }

// Why names both commits, and says what keeps them apart.
func (e *Moved) Why() metadata.Reason {
	if e.Where == "this repository" {
		return metadata.Because("git_moved_here", "branch", e.Branch, "other", short(e.Other), "local", short(e.Local), "why", e.Cause)
	}
	return metadata.Because("git_moved", "branch", e.Branch, "other", short(e.Other), "where", e.Where, "local", short(e.Local), "why", e.Cause)
}

func short(commit string) string { return commit[:min(12, len(commit))] }
