package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Restore brings paths, and everything below them, back to the tip: what was
// changed or deleted is as it was, what is new is gone. Paths that have not
// changed are left alone.
func (t *tree) Restore(ctx context.Context, paths []string) error {
	changes, err := t.changes(ctx)
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
	if err := t.restore(ctx, mine); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// RestoreAll brings everything back to the tip, but for files that .gitignore
// hides outside the state folder.
func (t *tree) RestoreAll(ctx context.Context) error {
	changes, err := t.changes(ctx)
	if err == nil {
		err = t.restore(ctx, changes)
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

func (t *tree) restore(ctx context.Context, changes []Change) error {
	if len(changes) == 0 {
		return nil
	}
	for _, c := range changes {
		if c.Kind == Added {
			if err := folders.RemoveNew(t.top, c.Path); err != nil {
				return err
			}
		}
	}
	return t.checkOut(ctx, changes)
}

// reset makes index and work tree equal to the tip. Files that .gitignore
// hides stay, as they may be costly to make again.
func (t *tree) reset(ctx context.Context) error {
	folders.Unlock(t.top, ".") // git removes nothing from a closed folder
	all, err := folders.List(t.top, ".")
	if err != nil {
		return err
	}
	take := []string{"read-tree", "--reset", "-u", t.tip}
	if len(all) == 0 && t.converter != "" { // whoever resets has Git LFS fill in its files, and some at a time
		take = append(unconverted(), take...)
	}
	if _, err := t.git(ctx, take...); err != nil {
		if e := t.freeWay(ctx); e != nil {
			return errors.Join(err, e)
		}
		if _, err := t.git(ctx, take...); err != nil {
			return err
		}
	}
	t.dirty = false
	clear(t.stale)
	if err := t.loadState(ctx, t.tip); err != nil || len(all) == 0 && t.shelf == "" {
		return err // what comes into an empty tree is as git has it
	}
	changes, err := t.changes(ctx)
	rules := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.Kind != Added || path.Base(c.Path) != ".gitattributes" })
	if err != nil || len(rules) == 0 {
		return errors.Join(err, t.restore(ctx, changes))
	}
	// Git has just written files by rules that the tip does not have, such as those for line ends. The
	// index, which calls these files unchanged, goes first: whoever starts after a kill writes them again.
	if err = os.Remove(t.home("index")); err == nil {
		err = t.restore(ctx, rules)
	}
	if err == nil {
		err = t.reset(ctx)
	}
	return err
}

// freeWay removes repositories that stand where the tip has a file, since git
// would leave them there.
func (t *tree) freeWay(ctx context.Context) error {
	if _, err := os.Stat(t.home("index")); err != nil {
		return nil
	}
	if t.state == nil {
		if err := t.loadState(ctx, t.tip); err != nil {
			return err
		}
	}
	changes, err := t.changes(ctx)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.Type == Repository && c.Was != Repository {
			if err := folders.RemoveNew(t.top, c.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkOut writes what the tip has at the changed paths.
func (t *tree) checkOut(ctx context.Context, changes []Change) error {
	var first, rest []string
	for _, c := range changes {
		if c.Kind == Added {
			continue
		}
		if c.Was == Repository {
			if err := t.emptySubmodule(c); err != nil {
				return err
			}
			continue
		}
		if err := t.clearWay(c.Path); err != nil {
			return err
		}
		// The rules for line ends must be right before files are written by them.
		switch {
		case Under(c.Path, t.opt.State) && (c.Was == File || c.Was == Executable):
			if err := t.checkOutState(ctx, c.Path); err != nil {
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
	if err := t.syncIndex(ctx); err != nil {
		return err
	}
	if err := t.checkOutPaths(ctx, first); err != nil {
		return err
	}
	return t.checkOutPaths(ctx, rest)
}

// checkOutState writes a file of the state folder, byte for byte.
func (t *tree) checkOutState(ctx context.Context, p string) error {
	found, err := t.lookUp(ctx, t.state[p].ID)
	if err == nil && found[0].Kind != "blob" {
		err = fmt.Errorf("%s: its object %s is not here", p, t.state[p].ID)
	}
	if err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if t.state[p].Mode == "100755" {
		mode = 0o755
	}
	return folders.WriteFile(t.top, p, found[0].Data, mode)
}

// checkOutPaths writes what the index has to paths where nothing is yet.
func (t *tree) checkOutPaths(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := t.gitStdin(ctx, []byte(strings.Join(paths, "\x00")+"\x00"), "checkout-index", "-f", "-u", "-q", "-z", "--stdin")
	return err
}

// emptySubmodule puts back the empty folder that stands for a submodule.
func (t *tree) emptySubmodule(c Change) error {
	if err := t.clearWay(c.Path); err != nil {
		return err
	}
	return t.top.Mkdir(c.Path, 0o755)
}

// isSubmodule says whether o is about a submodule, and warns.
func (t *tree) isSubmodule(o op) bool {
	info, err := t.top.Lstat(o.path)
	if o.mode != "160000" && (err != nil || !info.IsDir() || o.kind != 'D') {
		return false
	}
	t.warn("submodule %s is left as it is", o.path)
	return true
}

// writeOut does the ops in the work tree. CheckOut writes the files of some of them, where
// nothing is yet. .gitattributes comes first, because it has the rules for line ends.
func (t *tree) writeOut(ops []op, checkOut func(files []entry) error) error {
	var rules, rest []entry
	for _, o := range ops {
		if o.kind == 'D' {
			if err := folders.RemoveNew(t.top, o.path); err != nil {
				return err
			}
			continue
		}
		if err := t.clearWay(o.path); err != nil {
			return err
		}
		file := entry{o.path, o.mode, o.id}
		if path.Base(o.path) == ".gitattributes" {
			rules = append(rules, file)
		} else {
			rest = append(rest, file)
		}
	}
	for _, files := range [][]entry{rules, rest} {
		if len(files) == 0 {
			continue
		}
		if err := checkOut(files); err != nil {
			return err
		}
	}
	return nil
}

// checkOutBeside writes files through an index that has nothing else in it.
func (t *tree) checkOutBeside(ctx context.Context, files []entry) error {
	dir, err := os.MkdirTemp(t.dir, "snapshot-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if err := t.put(ctx, env, files); err != nil {
		return err
	}
	_, err = t.gitCall(ctx, call{Env: env, Args: []string{"checkout-index", "-f", "-q", "-a"}})
	return err
}
