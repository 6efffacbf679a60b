package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const besideRef = "refs/reprise/beside" // of the newest commit that was made beside the branch

// State gives what a stage has of the state folder: the files, and those it removes.
func (c *comparer) State(s *Stage) (files map[string][]byte, gone []string) {
	files = map[string][]byte{}
	for _, o := range s.changes() {
		if o.inline {
			files[o.path] = o.data
		} else if o.kind == 'D' && Under(o.path, c.opt.State) {
			gone = append(gone, o.path)
		}
	}
	return files, gone
}

// Overlay makes a commit with the state folder of one commit upon another one, and moves
// the branch of a tree beside that of the run to it.
func (c *comparer) Overlay(ctx context.Context, code, state string, at time.Time) (string, error) {
	found, err := c.lookUp(ctx, state+":"+c.opt.State)
	if err != nil || code == state {
		return code, err
	}
	put := []op{{kind: 'M', path: c.opt.State, mode: "040000", id: found[0].ID}}
	id, err := c.build(ctx, c.ref, code, []revision{{message: "state", time: at, ops: put}}, true)
	if err == nil {
		c.localTip, c.isNew = id, false // it is moved to next
	}
	return id, err
}

// Combine makes a commit on ours with what ours and theirs have changed since base, outside
// of the state folder. Where that conflicts, or a rename leads to a path that is
// refused, it has what ours has: those are the conflicts. It needs git 2.38.
func (c *comparer) Combine(ctx context.Context, base, ours, theirs string, at time.Time, refused func(path string) bool) (string, []Conflict, error) {
	bare := func(files, parent string) (string, error) { // the state folder is none of the work, and nothing is renamed out of it
		rev := revision{message: "bare", time: at, tree: files, ops: []op{{kind: 'D', path: c.opt.State}}}
		return c.makeCommit(ctx, rev, parent)
	}
	root, err := bare(base, base)
	if err != nil {
		return "", nil, err
	}
	mine, err := bare(ours, root)
	yours, wrong := bare(theirs, root)
	if err = errors.Join(err, wrong); err != nil {
		return "", nil, err
	}
	r, err := mergeUpon(ctx, c.reads(), mine, yours)
	if err == nil {
		err = r.Detail(ctx, c.reads(), mine, yours, refused)
	}
	if err != nil {
		return "", nil, fmt.Errorf("merge: %w", err)
	}
	for _, p := range r.Mixed {
		if !slices.Contains(r.Paths(), p) {
			r.Conflicts = append(r.Conflicts, Conflict{Path: p})
		}
	}
	found, err := c.reads().entries(ctx, mine, r.Paths())
	if err != nil {
		return "", nil, err
	}
	rev := revision{message: "merged", time: at, tree: r.Commit}
	for _, p := range append(r.Displaced, r.Paths()...) {
		rev.ops = append(rev.ops, op{kind: 'D', path: p})
	}
	for _, e := range found {
		rev.ops = append(rev.ops, op{kind: 'M', path: e.Path, mode: e.Mode, id: e.ID})
	}
	commit, err := c.build(ctx, besideRef, ours, []revision{rev}, true)
	return commit, r.Conflicts, err
}

// WithBase gives a commit, on no branch, with what another one has and what the base has
// changed from one of its commits to a later one. Where that conflicts there are marks.
func (c *comparer) WithBase(ctx context.Context, commit, from, to string) (string, error) {
	name := strings.Join([]string{commit, from, to}, " ")
	if c.based[name] != "" {
		return c.based[name], nil
	}
	r, err := MergeResult{}, errors.Join(c.need(ctx, commit), c.need(ctx, from), c.need(ctx, to))
	if err == nil {
		r, err = mergeSince(ctx, c.reads(), commit, to, from)
	}
	if err == nil {
		err = c.keepOurs(ctx, &r, commit)
	}
	c.based = map[string]string{name: r.Commit}
	return r.Commit, err
}

// keepOurs gives a merge what one side has wherever that has a file and the other one a folder,
// or the other way round, in place of both with a name that git has made up.
func (c *comparer) keepOurs(ctx context.Context, r *MergeResult, ours string) error {
	if len(r.Displaced) == 0 {
		return nil
	}
	paths := r.Displacing()
	found, err := c.reads().entries(ctx, ours, paths, "-r")
	if err != nil {
		return err
	}
	rev := revision{message: "merged", time: time.Now()}
	for _, p := range append(paths, r.Displaced...) {
		rev.ops = append(rev.ops, op{kind: 'D', path: p})
	}
	for _, e := range found {
		rev.ops = append(rev.ops, op{kind: 'M', path: e.Path, mode: e.Mode, id: e.ID})
	}
	r.Commit, err = c.makeCommit(ctx, rev, r.Commit)
	return err
}
