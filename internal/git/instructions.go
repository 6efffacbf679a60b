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

// instructions are the files of the work tree that tell agents what to do.
type instructions struct {
	*tree
	overlaid map[string]string // fingerprints of what Prepare has put in the place of what the tip has
}

// removeStrays looks through all of the tree, also through repositories that
// somebody made there, and through folders that somebody locked. It follows no
// symbolic link.
func (in *instructions) removeStrays(known []entry, instruct func(string) bool) (removed []string, err error) {
	has := map[string]bool{}
	for _, e := range known {
		has[e.Path] = true
	}
	look := func() (locked bool, err error) {
		err = folders.Walk(in.top, ".", func(p string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrPermission):
				locked = true
				return nil
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case p == ".git" || p == in.opt.State || d.IsDir() && path.Base(p) == ".git":
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			case d.IsDir(), has[p]:
				return nil
			case d.Type()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice|fs.ModeIrregular) == 0 && !instruct(p):
				return nil
			}
			if err := folders.RemoveWithin(in.top, p); err != nil {
				return fmt.Errorf("remove %s: %w", p, err)
			}
			removed = append(removed, p)
			return nil
		})
		return locked, err
	}
	locked, err := look()
	if err == nil && locked {
		folders.Unlock(in.top, ".")
		_, err = look() // what still cannot be read instructs nobody
	}
	return removed, err
}

// instruct writes what the base has of the instructions in which it differs
// from the tip. Only others can have changed these on the branch, so there is
// mostly nothing to do.
func (in *instructions) instruct(ctx context.Context, g Guard) error {
	if g.Base == "" || g.Base == in.tip {
		return nil
	}
	if err := in.need(ctx, g.Base); err != nil {
		return err
	}
	ops, err := in.opsBetween(ctx, in.tip, g.Base)
	ops = slices.DeleteFunc(ops, func(o op) bool { return !g.Instruct(o.path) || Under(o.path, in.opt.State) })
	if err != nil || len(ops) == 0 {
		return err
	}
	err = in.writeOut(ops, func(files []entry) error { return in.checkOutBeside(ctx, files) })
	in.overlaid = map[string]string{}
	for _, o := range ops {
		in.overlaid[o.path] = in.fingerprint(o.path)
	}
	return err
}

// revert brings the files that Prepare has put there for an agent back to the
// tip. A file that the agent has changed stays, and shows as a change.
func (in *instructions) revert(ctx context.Context, changes []Change) ([]Change, error) {
	var back, rest []Change
	for _, c := range changes {
		if was, ok := in.overlaid[c.Path]; ok && was == in.fingerprint(c.Path) {
			back = append(back, c)
		} else {
			rest = append(rest, c)
		}
	}
	if err := in.restore(ctx, back); err != nil {
		return nil, fmt.Errorf("bring instructions to agents back: %w", err)
	}
	in.overlaid = nil
	return rest, nil
}

// fingerprint is different for each content of a path, including none.
func (in *instructions) fingerprint(p string) string {
	what, _ := in.look(p)
	switch what {
	case File, Executable:
		data, err := in.readState(p)
		return fmt.Sprint(what, " ", in.blobID(data), err)
	case Symlink:
		target, err := in.top.Readlink(p)
		return fmt.Sprint(what, " ", target, err)
	}
	return string(what)
}
