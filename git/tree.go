package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// bringUp brings the work tree from wherever a process before left it to the
// tip. What it finds uncommitted is kept as a patch first.
func (r *Repo) bringUp(ctx context.Context) error {
	clean := false
	var err error
	if err := r.learnLFS(ctx); err != nil {
		return err
	}
	if r.own != "" {
		clean, err = r.settle(ctx)
	} else {
		err = r.empty()
	}
	if err != nil {
		return err
	}
	if !clean || r.own != r.tip {
		if err := r.reset(ctx); err != nil {
			return r.blameLFS(ctx, err)
		}
	}
	if err := r.findLacks(ctx); err != nil {
		return err
	}
	return r.setOwn(ctx)
}

// empty empties index and work tree. Where the run has no commit here, or none
// any more, the index may name objects that nobody has, and nothing can be
// compared with them.
func (r *Repo) empty() error {
	if err := os.Remove(r.home("index")); errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was checked out here yet
	} else if err != nil {
		return err
	}
	dir, err := r.top.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		err = errors.Join(err, removeAll(r.top, name))
	}
	return err
}

// setOwn moves the own ref to the tip. A new branch gets none before its first
// commit, so that a run that does nothing leaves nothing.
func (r *Repo) setOwn(ctx context.Context) error {
	if r.isNew || r.own == r.tip {
		return nil
	}
	if _, err := r.git(ctx, "update-ref", r.ref, r.tip); err != nil {
		return err
	}
	r.own = r.tip
	return nil
}

// settle brings the index to the own commit and says whether the work tree
// equals it; what does not is kept as a patch.
func (r *Repo) settle(ctx context.Context) (bool, error) {
	if _, err := os.Stat(r.home("index")); errors.Is(err, fs.ErrNotExist) {
		return false, nil // nothing was checked out here yet
	}
	if _, err := r.git(ctx, "read-tree", "--reset", r.own); err != nil {
		// A damaged index holds nothing that the commit does not.
		if e := os.Remove(r.home("index")); e != nil {
			return false, err
		}
		if _, err := r.git(ctx, "read-tree", r.own); err != nil {
			return false, err
		}
	}
	tip := r.tip
	r.tip = r.own
	defer func() { r.tip = tip }()
	if err := r.loadState(ctx, r.own); err != nil {
		return false, err
	}
	changes, err := r.changes(ctx)
	if err != nil || len(changes) == 0 {
		return err == nil, err
	}
	if len(changes) == 1 && changes[0].Path == r.opt.Scrap {
		return false, nil
	}
	return false, r.keepLeftover(ctx)
}

// maxLeftover is the size of the largest patch of leftovers, in bytes.
const maxLeftover = 32 << 20

// keepLeftover saves what a killed process had not committed. What cannot be
// saved does not keep the run from going on.
func (r *Repo) keepLeftover(ctx context.Context) error {
	patch, err := r.Patch(ctx, maxLeftover)
	if err != nil {
		r.warn("changes that an earlier run had not committed could not be kept: %v", err)
		return ctx.Err()
	}
	f, err := os.CreateTemp(r.opt.Root, "leftover-*.patch")
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(patch); err != nil {
		return err
	}
	r.leftover = f.Name()
	return nil
}

// reset makes index and work tree equal to the tip. Files that .gitignore
// hides stay, as they may be costly to make again.
func (r *Repo) reset(ctx context.Context) error {
	folders.Unlock(r.top, ".") // git removes nothing from a closed folder
	if err := r.freeWay(ctx); err != nil {
		return err
	}
	if _, err := r.git(ctx, "read-tree", "--reset", "-u", r.tip); err != nil {
		return err
	}
	r.dirty = false
	clear(r.stale)
	if err := r.loadState(ctx, r.tip); err != nil {
		return err
	}
	changes, err := r.changes(ctx)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.Kind == Added {
			if err := removeNew(r.top, c.Path); err != nil {
				return err
			}
		}
	}
	return r.checkOut(ctx, changes)
}

// freeWay takes away repositories that stand where the tip has a file: git
// steps around them.
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
			if err := removeNew(r.top, c.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

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
		return !wanted[c.Path] && !slices.ContainsFunc(parents(c.Path), func(dir string) bool { return wanted[dir] })
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
			if err := removeNew(r.top, c.Path); err != nil {
				return err
			}
		}
	}
	return r.checkOut(ctx, changes)
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
		if path.Base(c.Path) == ".gitattributes" {
			first = append(first, c.Path)
		} else {
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

// checkOutPaths writes what the index has at paths where nothing is.
func (r *Repo) checkOutPaths(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := r.gitStdin(ctx, []byte(strings.Join(paths, "\x00")+"\x00"), "checkout-index", "-f", "-u", "-q", "-z", "--stdin")
	return err
}

// clearWay removes what is at p, and makes sure that real folders lead there.
func (r *Repo) clearWay(p string) error {
	if err := makeParents(r.top, p); err != nil {
		return err
	}
	return removeAll(r.top, p)
}

// emptySubmodule puts back the empty folder that a submodule is here.
func (r *Repo) emptySubmodule(c Change) error {
	if err := r.clearWay(c.Path); err != nil {
		return err
	}
	return r.top.Mkdir(c.Path, 0o755)
}
