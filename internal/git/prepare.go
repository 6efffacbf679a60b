package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Prepare makes the work tree ready for an agent. It makes the scratch .git
// anew, see resetScratch. It removes instructions to agents that the tip does
// not have, even if a .gitignore hides them, because an agent could have
// written that, too. Other hidden files stay, such as what a build has
// installed. It removes pipes, sockets and devices, which git does not see and
// on which the next program may wait for ever. And it replaces the tip's
// instructions by those of the base, until the next call of Changes. The state
// folder is left alone. It returns what was removed.
func (r *Repo) Prepare(ctx context.Context, g Guard) ([]string, error) {
	if err := r.standing.Still(); err != nil {
		return nil, err
	}
	r.fresh = ""
	r.unlock()
	if err := r.aside().PutBack(); err != nil {
		return nil, err
	}
	r.removeEmpty()
	if err := errors.Join(r.large.fill(ctx), r.resetScratch(ctx)); err != nil {
		return nil, fmt.Errorf("make the work tree ready: %w", err)
	}
	var removed []string
	known, err := r.files(ctx)
	if err == nil {
		removed, err = r.instructions.removeStrays(known, g.Instruct)
	}
	if err == nil {
		err = r.instructions.instruct(ctx, g)
	}
	if err != nil {
		return removed, fmt.Errorf("make the work tree ready: %w", err)
	}
	return removed, nil
}

// resetScratch makes the scratch .git anew.
func (r *Repo) resetScratch(ctx context.Context) error {
	return scratch{r.tree}.reset(ctx, r.large.inLFS())
}

// RestoreTree makes the work tree equal to a commit, but for paths that are or
// lie under exclude or in the state folder, and stages what then differs from the tip: the very objects
// of that commit. What is uncommitted outside exclude is gone first.
// Submodules stay as they are, with a warning. Errors leave the work tree at
// the tip or between the two; RestoreAll helps.
func (r *Repo) RestoreTree(ctx context.Context, commit string, exclude ...string) (*Stage, error) {
	s, err := r.restoreTree(ctx, commit, exclude)
	if err != nil {
		return nil, fmt.Errorf("bring the work tree to %s: %w", short(commit), err)
	}
	return s, nil
}

func (r *Repo) restoreTree(ctx context.Context, commit string, exclude []string) (*Stage, error) {
	if err := r.need(ctx, commit); err != nil {
		return nil, err
	}
	exclude = append(slices.Clip(exclude), r.opt.State)
	left := func(p string) bool { return underAny(p, exclude) }
	changes, err := r.changes(ctx)
	if err != nil {
		return nil, err
	}
	changes = slices.DeleteFunc(changes, func(c Change) bool { return left(c.Path) })
	if err := r.restore(ctx, changes); err != nil {
		return nil, err
	}
	ops, err := r.opsBetween(ctx, r.tip, commit)
	if err != nil {
		return nil, err
	}
	ops = slices.DeleteFunc(ops, func(o op) bool { return left(o.path) || r.isSubmodule(o) })
	if r.large.inLFS() {
		r.large.fetch(ctx, commit)
	}
	s := &Stage{tip: r.tip, ops: ops}
	for _, o := range ops {
		if err := checkPath(o.path); err != nil {
			return nil, err
		}
		s.Paths = append(s.Paths, o.path)
	}
	if err := r.hold(ctx, s); err != nil {
		return nil, err
	}
	err = r.writeOut(ops, func(files []entry) error {
		var paths []string
		for _, f := range files {
			paths = append(paths, f.Path)
		}
		return r.checkOutPaths(ctx, paths)
	})
	if err != nil {
		return nil, err
	}
	s.pointers, err = r.large.staged(ctx, ops)
	return s, err
}

// At makes the work tree equal to a commit while do is at work, and to the tip again after it.
// What is not committed is lost, but for files that are ignored in both commits. After an
// interruption, the tree is at the tip when it is opened again.
func (r *Repo) At(ctx context.Context, commit string, do func() error) error {
	if err := errors.Join(r.standing.Still(), r.need(ctx, commit)); err != nil {
		return err
	}
	tip := r.tip
	err := r.turn(ctx, commit)
	if err == nil {
		err = do()
	}
	return errors.Join(err, r.turn(context.WithoutCancel(ctx), tip))
}

// turn makes the work tree, with its .git for programs, equal to a commit, which counts as the
// tip from then on.
func (r *Repo) turn(ctx context.Context, commit string) error {
	r.tip = commit
	err := r.reset(ctx)
	if err == nil {
		err = errors.Join(r.large.fill(ctx), r.resetScratch(ctx))
	}
	if err != nil {
		return fmt.Errorf("bring the work tree to %s: %w", short(commit), err)
	}
	return nil
}

// Merge makes the work tree what the tip and a commit make together, the state folder as
// the tip has it, and stages that. From is a commit that both have. An error leaves the
// work tree as RestoreTree does.
func (r *Repo) Merge(ctx context.Context, commit, from string) (*Stage, MergeResult, error) {
	result, err := mergeOf(ctx, r.reads(), r.tip, commit, from)
	if err == nil {
		err = r.keepOurs(ctx, &result, r.tip)
	}
	if err == nil {
		err = result.Detail(ctx, r.reads(), r.tip, commit, func(string) bool { return true })
	}
	if err != nil {
		return nil, result, fmt.Errorf("merge %s: %w", short(commit), err)
	}
	s, err := r.RestoreTree(ctx, result.Commit, r.opt.State)
	return s, result, err
}
