package git

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/git/pathname"
	"github.com/reprise-ci/reprise/internal/git/program"
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
// outside of the state folder. It has what ours has at the paths, which it returns,
// where that does not go together. It needs git 2.38.
func (c *comparer) Combine(ctx context.Context, base, ours, theirs string, at time.Time) (commit string, conflicts []string, err error) {
	rev := revision{message: "ours", time: at, tree: ours, ops: []op{{kind: 'D', path: c.opt.State}}}
	mine, err := c.fastImport(ctx, besideRef, base, []revision{rev}, true)
	if err != nil {
		return "", nil, err
	}
	out, err := c.git(ctx, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", mine, theirs)
	found := pathname.Records(out)
	if err != nil && program.ExitCode(err) != 1 || len(found) == 0 {
		return "", nil, errors.Join(errors.New("merge"), err)
	}
	rev = revision{message: "merged", time: at, tree: found[0]}
	if conflicts, out = found[1:], nil; len(conflicts) > 0 {
		out, err = c.git(ctx, append([]string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree", mine, "--"}, conflicts...)...)
	}
	for _, p := range conflicts {
		rev.ops = append(rev.ops, op{kind: 'D', path: p})
	}
	for _, record := range pathname.Records(out) {
		info, name, _ := strings.Cut(record, "\t")
		f := strings.Fields(info) // mode, kind, id
		rev.ops = append(rev.ops, op{kind: 'M', path: name, mode: f[0], id: f[2]})
	}
	if err == nil {
		commit, err = c.fastImport(ctx, besideRef, ours, []revision{rev}, true)
	}
	return commit, conflicts, err
}
