package git

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/reprise-ci/reprise/internal/folders"
)

// join brings this run and what the remote has together, after a push that did
// not succeed. It says whether the remote now has the tip.
func (r *Repo) join(ctx context.Context) (bool, error) {
	if r.theirs == r.tip {
		return true, nil // the push had arrived
	}
	if r.theirs == "" {
		return false, nil
	}
	if behind, err := r.contains(ctx, r.tip, r.theirs); err != nil || behind {
		return false, err
	}
	ahead, err := r.contains(ctx, r.theirs, r.tip)
	if err != nil {
		return false, err
	}
	if ahead {
		return true, r.goOn(ctx)
	}
	return false, r.replay(ctx)
}

// goOn takes what others put on top of the tip.
func (r *Repo) goOn(ctx context.Context) error {
	if err := r.mayTake(ctx, r.tip, nil); err != nil {
		return err
	}
	return r.move(ctx, r.theirs)
}

// replay makes the commits of this process again on top of the remote's.
func (r *Repo) replay(ctx context.Context) error {
	out, err := r.git(ctx, "merge-base", r.tip, r.theirs)
	if exitCode(err) == 1 {
		return r.moved("the two have no commit in common")
	}
	if err != nil {
		return err
	}
	base := string(out[:len(out)-1])
	count, err := r.git(ctx, "rev-list", "--count", base+".."+r.tip)
	if err != nil {
		return err
	}
	if string(count) != fmt.Sprintf("%d\n", len(r.unpushed)) {
		return r.moved("the run has commits of an earlier start that were never pushed")
	}
	ours, err := r.between(ctx, base, r.tip)
	if err != nil {
		return err
	}
	if err := r.mayTake(ctx, base, ours); err != nil {
		return err
	}
	old := r.tip
	id, err := r.fastImport(ctx, r.theirs, r.unpushed, true)
	if err != nil {
		return err
	}
	r.tip = old
	return r.move(ctx, id)
}

// mayTake refuses what the remote has since base if it touches the state
// folder, a path of ours, or a path that is changed and not committed.
func (r *Repo) mayTake(ctx context.Context, base string, ours []string) error {
	came, err := r.between(ctx, base, r.theirs)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(came, func(p string) bool { return under(p, r.opt.State) }) {
		return &Moved{Branch: r.opt.Branch, Ours: r.tip, Theirs: r.theirs, Where: r.opt.Remote, Why: "somebody else went on with this run", Run: true}
	}
	changes, err := r.changes(ctx)
	if err != nil {
		return err
	}
	for _, c := range changes {
		ours = append(ours, c.Path)
	}
	if overlap(ours, came) {
		return r.moved("both changed the same files")
	}
	return nil
}

func (r *Repo) moved(why string) error {
	return &Moved{Branch: r.opt.Branch, Ours: r.tip, Theirs: r.theirs, Where: r.opt.Remote, Why: why}
}

// between lists the paths in which two commits differ.
func (r *Repo) between(ctx context.Context, from, to string) ([]string, error) {
	out, err := r.git(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none", from, to)
	return records(out), err
}

// move takes commit as the tip and brings the work tree along. Changes that are
// not committed stay; the caller knows that they do not get in the way.
func (r *Repo) move(ctx context.Context, commit string) error {
	if err := r.syncIndex(ctx); err != nil {
		return err
	}
	folders.Unlock(r.top, ".") // git writes nothing into a closed folder
	if _, err := r.git(ctx, "read-tree", "-m", "-u", r.tip, commit); err != nil {
		return fmt.Errorf("bring the work tree to %s: %w", short(commit), err)
	}
	r.tip = commit
	if err := r.setOwn(ctx); err != nil {
		return err
	}
	if err := r.fill(ctx); err != nil {
		return err
	}
	return r.loadState(ctx, commit)
}

// Adopt gives up the commits of this run that moved.Theirs does not have, and
// goes on from there. They stay in the repository's objects until git removes
// what nothing refers to, after two weeks by default; uncommitted changes are
// gone.
func (r *Repo) Adopt(ctx context.Context, moved *Moved) error {
	r.tip, r.unpushed, r.isNew = moved.Theirs, nil, false
	err := r.reset(ctx)
	if err == nil {
		err = r.fill(ctx)
	}
	if err == nil {
		err = r.setOwn(ctx)
	}
	if err != nil {
		return fmt.Errorf("go on from %s: %w", short(moved.Theirs), err)
	}
	r.warn("commit %s was given up for %s, which is on %s", moved.Ours, short(moved.Theirs), moved.Where)
	if r.opt.Scratch {
		return nil
	}
	return r.publish(ctx)
}

// markPublished notes that others can see the branch: if it is gone from there
// later, a person deleted it.
func (r *Repo) markPublished() error {
	if _, err := os.Stat(r.home("published")); err == nil {
		return nil
	}
	return putFile(r.home("published"), []byte("yes\n"))
}
