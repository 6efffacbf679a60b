package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Guard says which paths of the work tree decide what agents do there.
type Guard struct {
	Base     string                 // commit, a full hash
	Instruct func(path string) bool // is to be as in Base, or nowhere
}

// Tidy makes the work tree ready for an agent. It makes the playground anew,
// see ResetPlayground. It removes instructions to agents that the tip does not
// have, whether or not a .gitignore hides them: what hides is written by the
// same hands as what is hidden. Other hidden files stay, such as what a build
// has installed. It removes pipes, sockets and devices, which git does not see,
// and on which the next program may wait for ever. And it puts the base's
// instructions in the place of the tip's, until the next call of Changes. The
// state folder is left alone. It returns what was removed.
func (r *Repo) Tidy(ctx context.Context, g Guard) ([]string, error) {
	r.unlock()
	if err := r.putBack(); err != nil {
		return nil, err
	}
	r.removeEmpty()
	if err := errors.Join(r.refill(ctx), r.ResetPlayground(ctx)); err != nil {
		return nil, fmt.Errorf("make the work tree ready: %w", err)
	}
	var removed []string
	known, err := r.files(ctx)
	if err == nil {
		removed, err = r.removeStrays(known, g.Instruct)
	}
	if err == nil {
		err = r.instruct(ctx, g)
	}
	if err != nil {
		return removed, fmt.Errorf("make the work tree ready: %w", err)
	}
	return removed, nil
}

// removeEmpty removes the folders of the state folder that have no file, which
// git knows nothing of: one of them may stand where a file is to be.
func (r *Repo) removeEmpty() {
	var dirs []string
	_ = folders.Walk(r.top, r.opt.State, func(p string, d fs.DirEntry, err error) error { // the visits fail nowhere
		if err == nil && d.IsDir() && p != r.opt.State {
			dirs = append(dirs, p)
		}
		return nil
	})
	for _, dir := range slices.Backward(dirs) { // what lies in a folder comes before it
		_ = r.top.Remove(dir) // it is not empty
	}
}

// removeStrays looks through all of the tree, also through repositories that
// somebody made there, and through folders that somebody locked. It follows no
// symbolic link.
func (r *Repo) removeStrays(known *listing, instruct func(string) bool) (removed []string, err error) {
	look := func() (locked bool, err error) {
		err = folders.Walk(r.top, ".", func(p string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrPermission):
				locked = true
				return nil
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case p == ".git" || p == r.opt.State || d.IsDir() && path.Base(p) == ".git":
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			case d.IsDir(), known.has(p):
				return nil
			case d.Type()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice|fs.ModeIrregular) == 0 && !instruct(p):
				return nil
			}
			if err := removeAll(r.top, p); err != nil {
				return fmt.Errorf("remove %s: %w", p, err)
			}
			removed = append(removed, p)
			return nil
		})
		return locked, err
	}
	locked, err := look()
	if err == nil && locked {
		folders.Unlock(r.top, ".")
		_, err = look() // what is closed even now instructs nobody
	}
	return removed, err
}

// instruct writes what the base has of the instructions in which it differs
// from the tip. Only others can have changed these on the branch, so there is
// mostly nothing to do.
func (r *Repo) instruct(ctx context.Context, g Guard) error {
	if g.Base == "" || g.Base == r.tip {
		return nil
	}
	if r.differ == nil || r.differ.tip != r.tip {
		if err := r.need(ctx, g.Base); err != nil {
			return err
		}
		out, err := r.git(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=all", r.tip, g.Base)
		if err != nil {
			return err
		}
		ops, err := parseRaw(records(out))
		if err != nil {
			return err
		}
		r.differ = &difference{tip: r.tip, of: g.Instruct}
		for _, o := range ops {
			if g.Instruct(o.path) && !under(o.path, r.opt.State) {
				r.differ.ops = append(r.differ.ops, o)
			}
		}
	}
	if len(r.differ.ops) == 0 {
		return nil
	}
	_, err := r.writeOut(ctx, r.differ.ops)
	r.lent = map[string]string{}
	for _, o := range r.differ.ops {
		r.lent[o.path] = r.fingerprint(o.path)
	}
	return err
}

// difference is in what instructions to agents a base differs from a tip.
type difference struct {
	tip string
	of  func(path string) bool // is an instruction
	ops []op
}

// follow takes the difference along to a commit on its tip, if the ops that lead
// there touch no instructions.
func (d *difference) follow(ops []op, tip string) {
	if !slices.ContainsFunc(ops, func(o op) bool { return d.of(o.path) || d.of(o.to) }) {
		d.tip = tip
	}
}

// takeBack brings what Tidy has lent for an agent back to the tip, unless the
// agent has changed it: that shows as a change.
func (r *Repo) takeBack(ctx context.Context, changes []Change) ([]Change, error) {
	var back, rest []Change
	for _, c := range changes {
		if lent, ok := r.lent[c.Path]; ok && lent == r.fingerprint(c.Path) {
			back = append(back, c)
		} else {
			rest = append(rest, c)
		}
	}
	if err := r.restore(ctx, back); err != nil {
		return nil, fmt.Errorf("bring instructions to agents back: %w", err)
	}
	r.lent = nil
	return rest, nil
}

// fingerprint tells apart what may be at a path, nothing included.
func (r *Repo) fingerprint(p string) string {
	what, _ := r.look(p)
	switch what {
	case File, Executable:
		data, err := r.readState(p)
		return fmt.Sprint(what, " ", r.blobID(data), err)
	case Symlink:
		target, err := r.top.Readlink(p)
		return fmt.Sprint(what, " ", target, err)
	}
	return string(what)
}
