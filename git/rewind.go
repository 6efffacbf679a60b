package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// RestoreTree makes the work tree equal to a commit, but for paths that are or
// lie under exclude, and returns the paths that then differ from the tip, for
// the caller to commit. What is uncommitted outside exclude is gone first.
// Submodules stay as they are, with a warning. Errors leave the work tree at
// the tip or between the two; RestoreAll helps.
func (r *Repo) RestoreTree(ctx context.Context, commit string, exclude ...string) ([]string, error) {
	paths, err := r.restoreTree(ctx, commit, exclude)
	if err != nil {
		return nil, fmt.Errorf("bring the work tree to %s: %w", short(commit), err)
	}
	return paths, nil
}

func (r *Repo) restoreTree(ctx context.Context, commit string, exclude []string) ([]string, error) {
	if err := r.need(ctx, commit); err != nil {
		return nil, err
	}
	left := func(p string) bool { return underAny(p, exclude) }
	changes, err := r.changes(ctx)
	if err != nil {
		return nil, err
	}
	changes = slices.DeleteFunc(changes, func(c Change) bool { return left(c.Path) })
	if err := r.restore(ctx, changes); err != nil {
		return nil, err
	}
	out, err := r.git(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none", r.tip, commit)
	if err != nil {
		return nil, err
	}
	ops, err := parseRaw(records(out))
	if err != nil {
		return nil, err
	}
	ops = slices.DeleteFunc(ops, func(o op) bool { return left(o.path) || r.isSubmodule(o) })
	if r.inLFS() {
		r.fetchLarge(ctx, commit)
	}
	return r.writeOut(ctx, ops)
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

// writeOut does the ops in the work tree, through an index that has nothing
// else in it, and returns their paths. The rules for line ends come first.
func (r *Repo) writeOut(ctx context.Context, ops []op) ([]string, error) {
	var rules, rest bytes.Buffer
	var paths []string
	for _, o := range ops {
		paths = append(paths, o.path)
		if o.kind == 'D' {
			if err := removeNew(r.top, o.path); err != nil {
				return nil, err
			}
			continue
		}
		if err := r.clearWay(o.path); err != nil {
			return nil, err
		}
		to := &rest
		if filepath.Base(o.path) == ".gitattributes" {
			to = &rules
		}
		fmt.Fprintf(to, "%s %s\t%s\x00", o.mode, o.id, o.path)
	}
	for _, entries := range []*bytes.Buffer{&rules, &rest} {
		if entries.Len() == 0 {
			continue
		}
		if err := r.checkOutEntries(ctx, entries); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

func (r *Repo) checkOutEntries(ctx context.Context, entries *bytes.Buffer) error {
	dir, err := os.MkdirTemp(r.dir, "snapshot-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if _, err := r.gitCall(ctx, call{env: env, stdin: entries, args: []string{"update-index", "--add", "-z", "--index-info"}}); err != nil {
		return err
	}
	_, err = r.gitCall(ctx, call{env: env, args: []string{"checkout-index", "-f", "-q", "-a"}})
	return err
}
