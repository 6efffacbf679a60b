package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Tree returns the absolute path of the work tree.
func (r *Repo) Tree() string { return r.treePath }

// look says what is at a path now. A folder counts only if it is a repository
// of its own; a path beyond a symbolic link is not there.
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

// readState reads a file that an agent may have written. It accepts only a
// regular file of limited size, without a second name and not through a link.
func (r *Repo) readState(p string) ([]byte, error) {
	if folders.Beyond(r.top, p) {
		return nil, fmt.Errorf("%s: a folder above it is a link or missing", p)
	}
	f, info, err := folders.Open(r.top, p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && sys.Nlink > 1 {
		return nil, fmt.Errorf("%s is a second name (hard link) of another file: write it as a file of its own", p)
	}
	if info.Size() > maxState {
		return nil, fmt.Errorf("%s has %d bytes, at most %d are allowed in the state folder", p, info.Size(), maxState)
	}
	return io.ReadAll(io.LimitReader(f, maxState))
}

// walkState visits everything in the state folder that is not a folder, and
// repositories somebody made there. It follows no symbolic link.
func (r *Repo) walkState(visit func(p string, info fs.FileInfo) error) error {
	if folders.Beyond(r.top, r.opt.State+"/x") {
		return nil
	}
	return folders.Walk(r.top, r.opt.State, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() != ".git" {
			return nil
		}
		info, err := r.top.Lstat(p)
		if err != nil {
			return err
		}
		if err := visit(p, info); err != nil {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// unlock opens the top of the work tree and the state folder, which a program
// at work there may have closed. The rest of the tree is opened where it turns
// out to be closed, since it can be large.
func (r *Repo) unlock() { folders.Unlock(r.root, "tree/"+r.opt.State) }

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
		err = errors.Join(err, folders.RemoveWithin(r.top, name))
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

// removeEmpty removes the folders of the state folder that have no file, which
// git knows nothing of: one of them may stand where a file is to be.
func (r *Repo) removeEmpty() {
	var dirs []string
	full := map[string]bool{}
	_ = folders.Walk(r.top, r.opt.State, func(p string, d fs.DirEntry, err error) error { // the visits fail nowhere
		if err == nil && d.IsDir() && p != r.opt.State {
			dirs = append(dirs, p)
		} else if err == nil {
			full[path.Dir(p)] = true
		}
		return nil
	})
	for _, dir := range slices.Backward(dirs) { // what lies in a folder comes before it
		if full[dir] || r.top.Remove(dir) != nil {
			full[path.Dir(dir)] = true
		}
	}
}
