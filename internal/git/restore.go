package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Restore brings paths, and everything below them, back to the tip: what was
// changed or deleted is as it was, what is new is gone. Paths that have not
// changed are left alone.
func (r *Repo) Restore(ctx context.Context, paths []string) error {
	changes, err := r.changes(ctx)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	wanted := map[string]bool{} // there can be very many of both
	for _, p := range paths {
		wanted[strings.TrimSuffix(p, "/")] = true
	}
	mine := slices.DeleteFunc(changes, func(c Change) bool {
		return !wanted[c.Path] && !slices.ContainsFunc(folders.Parents(c.Path), func(dir string) bool { return wanted[dir] })
	})
	if err := r.restore(ctx, mine); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// RestoreAll brings everything back to the tip, but for files that .gitignore
// hides outside the state folder.
func (r *Repo) RestoreAll(ctx context.Context) error {
	changes, err := r.changes(ctx)
	if err == nil {
		err = r.restore(ctx, changes)
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

func (r *Repo) restore(ctx context.Context, changes []Change) error {
	if len(changes) == 0 {
		return nil
	}
	for _, c := range changes {
		if c.Kind == Added {
			if err := folders.RemoveNew(r.top, c.Path); err != nil {
				return err
			}
		}
	}
	return r.checkOut(ctx, changes)
}

// reset makes index and work tree equal to the tip. Files that .gitignore
// hides stay, as they may be costly to make again.
func (r *Repo) reset(ctx context.Context) error {
	folders.Unlock(r.top, ".") // git removes nothing from a closed folder
	all, err := folders.List(r.top, ".")
	if err != nil {
		return err
	}
	take := []string{"read-tree", "--reset", "-u", r.tip}
	if len(all) == 0 && r.converter != "" { // whoever resets has Git LFS fill in its files, and some at a time
		take = append(unconverted(), take...)
	}
	if _, err := r.git(ctx, take...); err != nil {
		if e := r.freeWay(ctx); e != nil {
			return errors.Join(err, e)
		}
		if _, err := r.git(ctx, take...); err != nil {
			return err
		}
	}
	r.dirty = false
	if err := r.loadState(ctx, r.tip); err != nil || len(all) == 0 && r.shelf == "" {
		return err // what comes into an empty tree is as git has it
	}
	changes, err := r.changes(ctx)
	rules := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.Kind != Added || path.Base(c.Path) != ".gitattributes" })
	if err != nil || len(rules) == 0 {
		return errors.Join(err, r.restore(ctx, changes))
	}
	// Git has just written files by rules that the tip does not have, such as those for line ends. The
	// index, which calls these files unchanged, goes first: whoever starts after a kill writes them again.
	if err = os.Remove(r.home("index")); err == nil {
		err = r.restore(ctx, rules)
	}
	if err == nil {
		err = r.reset(ctx)
	}
	return err
}

// freeWay removes repositories that stand where the tip has a file, since git
// would leave them there.
func (r *Repo) freeWay(ctx context.Context) error {
	if _, err := os.Stat(r.home("index")); err != nil {
		return nil
	}
	if r.state == nil {
		if err := r.loadState(ctx, r.tip); err != nil {
			return err
		}
	}
	changes, err := r.changes(ctx)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.Type == Repository && c.Was != Repository {
			if err := folders.RemoveNew(r.top, c.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkOut writes what the tip has at the changed paths.
func (r *Repo) checkOut(ctx context.Context, changes []Change) error {
	var first, rest []string
	for _, c := range changes {
		if c.Kind == Added {
			continue
		}
		if c.Was == Repository {
			if err := r.emptySubmodule(c); err != nil {
				return err
			}
			continue
		}
		if err := r.clearWay(c.Path); err != nil {
			return err
		}
		// The rules for line ends must be right before files are written by them.
		switch {
		case Under(c.Path, r.opt.State) && (c.Was == File || c.Was == Executable):
			if err := r.checkOutState(ctx, c.Path); err != nil {
				return err
			}
		case path.Base(c.Path) == ".gitattributes":
			first = append(first, c.Path)
		default:
			rest = append(rest, c.Path)
		}
	}
	if len(first)+len(rest) == 0 {
		return nil
	}
	if err := r.syncIndex(ctx); err != nil {
		return err
	}
	if err := r.checkOutPaths(ctx, first); err != nil {
		return err
	}
	return r.checkOutPaths(ctx, rest)
}

// checkOutState writes a file of the state folder, byte for byte.
func (r *Repo) checkOutState(ctx context.Context, p string) error {
	found, err := r.lookUp(ctx, r.state[p].ID)
	if err == nil && found[0].Kind != "blob" {
		err = fmt.Errorf("%s: its object %s is not here", p, r.state[p].ID)
	}
	if err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if r.state[p].Mode == "100755" {
		mode = 0o755
	}
	return folders.WriteFile(r.top, p, found[0].Data, mode)
}

// checkOutPaths writes what the index has to paths where nothing is yet.
func (r *Repo) checkOutPaths(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := r.gitStdin(ctx, []byte(strings.Join(paths, "\x00")+"\x00"), "checkout-index", "-f", "-u", "-q", "-z", "--stdin")
	return err
}

// emptySubmodule puts back the empty folder that stands for a submodule.
func (r *Repo) emptySubmodule(c Change) error {
	if err := r.clearWay(c.Path); err != nil {
		return err
	}
	return r.top.Mkdir(c.Path, 0o755)
}

// isSubmodule says whether o is about a submodule, and warns.
func (r *Repo) isSubmodule(o op) bool {
	info, err := r.top.Lstat(o.path)
	if o.mode != "160000" && (err != nil || !info.IsDir() || o.kind != 'D') {
		return false
	}
	r.warn("submodule %s is left as it is", o.path)
	return true
}

// writeOut does the ops in the work tree, with what the index has.
// .gitattributes comes first, because it has the rules for line ends.
func (r *Repo) writeOut(ctx context.Context, ops []op) error {
	var rules, rest []string
	for _, o := range ops {
		if o.kind == 'D' {
			if err := folders.RemoveNew(r.top, o.path); err != nil {
				return err
			}
			continue
		}
		if err := r.clearWay(o.path); err != nil {
			return err
		}
		if path.Base(o.path) == ".gitattributes" {
			rules = append(rules, o.path)
		} else {
			rest = append(rest, o.path)
		}
	}
	if err := r.checkOutPaths(ctx, rules); err != nil {
		return err
	}
	return r.checkOutPaths(ctx, rest)
}
