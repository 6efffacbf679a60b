package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/git/merge"
	"github.com/reprise-ci/reprise/internal/git/pathname"
)

const besideRef = "refs/reprise/beside" // of the newest commit that was made beside the branch

// State gives what a stage has of the state folder: the files, and those it removes.
func (c *comparer) State(s *Stage) (files map[string][]byte, gone []string) {
	files = map[string][]byte{}
	for _, o := range s.changes() {
		if o.inline {
			files[o.path] = o.data
		} else if o.kind == 'D' && pathname.Under(o.path, c.opt.State) {
			gone = append(gone, o.path)
		}
	}
	return files, gone
}

// Overlay makes a commit with the state folder of one commit upon another one.
func (c *comparer) Overlay(ctx context.Context, code, state string, at time.Time) (string, error) {
	found, err := c.lookUp(ctx, state+":"+c.opt.State)
	if err != nil || code == state {
		return code, err
	}
	put := []op{{kind: 'M', path: c.opt.State, mode: "040000", id: found[0].ID}}
	return c.fastImport(ctx, besideRef, code, []revision{{message: "state", time: at, ops: put}}, true)
}

// Combine makes a commit on ours with what ours and theirs have changed since base,
// outside of the state folder. Where that does not go together it has what ours has, and
// so it does where a rename would carry something to a path that is refused: those are the
// conflicts. It needs git 2.38.
func (c *comparer) Combine(ctx context.Context, base, ours, theirs string, at time.Time, refused func(path string) bool) (string, []merge.Conflict, error) {
	var bare []revision // the state folder is none of the work, and nothing is renamed out of it
	for _, from := range []string{base, ours} {
		bare = append(bare, revision{message: "bare", time: at, tree: from, ops: []op{{kind: 'D', path: c.opt.State}}})
	}
	mine, err := c.fastImport(ctx, besideRef, base, bare, true)
	if err != nil {
		return "", nil, err
	}
	r, err := merge.Since(ctx, c.git, mine, theirs, mine+"^")
	if err == nil {
		err = errors.Join(r.Unfold(ctx, c.git), r.Detail(ctx, c.git, mine, theirs))
	}
	if err != nil {
		return "", nil, fmt.Errorf("merge: %w", err)
	}
	for _, p := range r.Mixed {
		if refused(p) && !slices.Contains(r.Paths(), p) {
			r.Conflicts = append(r.Conflicts, merge.Conflict{Path: p})
		}
	}
	rev := revision{message: "merged", time: at, tree: r.Commit}
	if rev.ops, err = c.asIn(ctx, mine, r.Paths()); err != nil {
		return "", nil, err
	}
	commit, err := c.fastImport(ctx, besideRef, ours, []revision{rev}, true)
	return commit, r.Conflicts, err
}

// asIn has paths be as a commit has them.
func (c *comparer) asIn(ctx context.Context, commit string, paths []string) (ops []op, err error) {
	for _, p := range paths {
		ops = append(ops, op{kind: 'D', path: p})
	}
	for some := range slices.Chunk(paths, 1000) { // a command takes so many
		out, err := c.git(ctx, append([]string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--"}, some...)...)
		if err != nil {
			return nil, err
		}
		for _, record := range pathname.Records(out) {
			info, name, _ := strings.Cut(record, "\t")
			f := strings.Fields(info) // mode, kind, id
			ops = append(ops, op{kind: 'M', path: name, mode: f[0], id: f[2]})
		}
	}
	return ops, nil
}
