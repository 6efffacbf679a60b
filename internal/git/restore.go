package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Restore brings paths, and everything below them, back to the tip; what is new is gone. Without paths it is everything, but
// for ignored files outside the state folder.
func (r *Repo) Restore(ctx context.Context, paths ...string) (err error) {
	defer wrap(&err, "restore")
	changes, err := r.changes(ctx)
	if err != nil {
		return err
	}
	wanted := map[string]bool{} // there can be very many of both
	for _, p := range paths {
		wanted[strings.TrimSuffix(p, "/")] = true
	}
	return r.restore(ctx, slices.DeleteFunc(changes, func(c Change) bool {
		return len(paths) > 0 && !wanted[c.Path] && !slices.ContainsFunc(folders.Parents(c.Path), func(dir string) bool { return wanted[dir] })
	}))
}

// restore takes changes back to what the index has.
func (r *Repo) restore(ctx context.Context, changes []Change) error {
	var ops []op
	for _, c := range changes {
		o := op{kind: 'M', path: c.Path}
		switch c.Was {
		case None:
			o.kind = 'D'
		case Repository:
			o.mode = submodule
		}
		ops = append(ops, o)
	}
	return r.writeOut(ctx, nil, deletionsFirst(ops))
}

// reset makes index and work tree equal to the tip. Ignored files stay, as they may be costly to make again.
func (r *Repo) reset(ctx context.Context) error {
	r.unlock() // git removes nothing from a closed folder
	all, err := folders.List(r.top, ".")
	if err != nil {
		return err
	}
	if err := r.findShelf(ctx); err != nil {
		return err
	}
	whole, err := r.whole(ctx)
	if err != nil {
		return err
	}
	take := []string{"read-tree", "--reset", "-u", whole}
	if len(all) == 0 && r.converter != "" { // whoever resets has Git LFS fill in its files, and some at a time
		take = append(unconverted(), take...)
	}
	if _, err := r.git(ctx, take...); err != nil { // such as at a repository where the tip has a file
		if ctx.Err() != nil {
			return err
		}
		if e := r.empty(); e != nil {
			return errors.Join(err, e)
		}
		if _, err := r.git(ctx, take...); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return nil // what comes into an empty tree is as git has it
	}
	changes, err := r.changes(ctx)
	rules := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.Was != None || path.Base(c.Path) != ".gitattributes" })
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

// checkOutPaths writes what the index, which env may name, has to paths where nothing is yet.
func (r *Repo) checkOutPaths(ctx context.Context, env, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := r.gitCall(ctx, call{Env: env, Args: []string{"checkout-index", "-f", "-u", "-q", "-z", "--stdin"}, Stdin: strings.Join(paths, "\x00") + "\x00"})
	return err
}

// isSubmodule says whether o is about a submodule, and warns.
func (r *Repo) isSubmodule(o op) bool {
	info, err := r.top.Lstat(o.path)
	if o.mode != submodule && (err != nil || !info.IsDir() || o.kind != 'D') {
		return false
	}
	r.warn("submodule %s is left as it is", o.path)
	return true
}

// writeOut does ops in the tree, from the index that env may name. .gitattributes is first: it has the line end rules.
func (r *Repo) writeOut(ctx context.Context, env []string, ops []op) error {
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
		switch {
		case o.mode == submodule:
			if err := r.top.Mkdir(o.path, 0o755); err != nil {
				return err
			}
		case path.Base(o.path) == ".gitattributes":
			rules = append(rules, o.path)
		default:
			rest = append(rest, o.path)
		}
	}
	return errors.Join(r.checkOutPaths(ctx, env, rules), r.checkOutPaths(ctx, env, rest))
}

// Tree returns the absolute path of the work tree.
func (r *Repo) Tree() string { return r.treePath }

// look says what is at a path now: of folders only repositories count, and beyond a symbolic link is nothing.
func (r *Repo) look(p string) (Type, int64) {
	info, err := r.top.Lstat(p)
	if err != nil || folders.Beyond(r.top, p) {
		return None, 0
	}
	if !info.IsDir() {
		return typeOf(info), info.Size()
	}
	if _, err := r.top.Lstat(path.Join(p, ".git")); err == nil {
		return Repository, 0
	}
	return None, 0
}

// readState reads what an agent may have written: only a regular file, not too large, without second name or link.
func (r *Repo) readState(p string) ([]byte, error) {
	if folders.Beyond(r.top, p) {
		return nil, fmt.Errorf("%s: a folder above it is a link or missing", p)
	}
	f, info, err := folders.Open(r.top, p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if secondName(info) {
		return nil, fmt.Errorf("%s is a second name (hard link) of another file: write it as a file of its own", p)
	}
	if info.Size() > maxState {
		return nil, fmt.Errorf("%s has %d bytes, at most %d are allowed in the state folder", p, info.Size(), maxState)
	}
	return io.ReadAll(io.LimitReader(f, maxState))
}

// secondName reports whether a file has another name, which may be outside of the tree.
func secondName(info fs.FileInfo) bool {
	sys, ok := info.Sys().(*syscall.Stat_t)
	return ok && sys.Nlink > 1 && info.Mode().IsRegular()
}

// unlock opens what a program at work in the work tree may have closed.
func (r *Repo) unlock() { folders.Unlock(r.root, "tree") }

// empty empties index and work tree: without a commit here, the index may name objects that nobody has.
func (r *Repo) empty() error {
	if err := os.Remove(r.home("index")); errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was checked out here yet
	} else if err != nil {
		return err
	}
	all, err := folders.List(r.top, ".")
	for _, e := range all {
		err = errors.Join(err, folders.RemoveWithin(r.top, e.Name()))
	}
	return err
}

// clearWay removes what is at p, and makes sure that real folders lead there.
func (r *Repo) clearWay(p string) error {
	if err := folders.MakeParents(r.top, p); err != nil {
		return err
	}
	return folders.RemoveWithin(r.top, p)
}

// tidyState removes what is no file of the state folder, and empty folders: one may stand where a file is to be.
func (r *Repo) tidyState() {
	var dirs []string
	_ = folders.Walk(r.top, r.opt.State, func(p string, d fs.DirEntry, err error) error { // the visits fail nowhere
		switch {
		case err != nil:
		case d.Name() == ".git", d.Type()&noFile != 0:
			_ = folders.Remove(r.top, p) // an agent can put it there again
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir() && p != r.opt.State:
			dirs = append(dirs, p)
		}
		return nil
	})
	for _, dir := range slices.Backward(dirs) { // what lies in a folder comes before it
		_ = r.top.Remove(dir) // one that has anything in it stays
	}
}
