package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Change is one path of the work tree that is not as in the tip.
type Change struct {
	Path string // from the top of the repository; may hold any byte but zero
	Kind Kind
	Type Type  // what is there now; None if it was deleted
	Was  Type  // what the tip has; None if it was added
	Size int64 // of what is there now, in bytes

	// Twin is a path of the tip, or of a change before this one, that some file
	// systems take for the same as this new path; "" if there is none. It can be
	// a folder, if this one would come to lie in it.
	Twin string
	// Behind are the symbolic links of the tip that lead to this path.
	Behind []string
	// Large says that Git LFS keeps the file, and that it cannot be committed:
	// without git-lfs all that is no pointer, and with it what has taken the place
	// of a pointer whose content is not here, and pointers to something unknown.
	Large bool
}

// Kind is what happened to a path.
type Kind string

// The kinds of change. A change of type is one such as from file to symbolic
// link; a file that became executable is modified.
const (
	Added       Kind = "added"
	Modified    Kind = "modified"
	Deleted     Kind = "deleted"
	TypeChanged Kind = "type changed"
)

// Type is what a path is.
type Type string

// The types of path. A Repository is a submodule, or a folder that somebody
// made a repository of its own. Other is a pipe, a socket or a device.
const (
	None       Type = ""
	File       Type = "file"
	Executable Type = "executable"
	Symlink    Type = "symlink"
	Repository Type = "repository"
	Other      Type = "other"
)

func typeOf(info fs.FileInfo) Type {
	switch {
	case info.Mode().IsRegular() && info.Mode()&0o100 != 0:
		return Executable
	case info.Mode().IsRegular():
		return File
	case info.Mode()&fs.ModeSymlink != 0:
		return Symlink
	}
	return Other
}

func typeOfMode(mode string) Type {
	switch mode {
	case "100644":
		return File
	case "100755":
		return Executable
	case "120000":
		return Symlink
	case "160000":
		return Repository
	}
	return Other
}

func changeKind(was, is Type) Kind {
	plain := func(t Type) bool { return t == File || t == Executable }
	if was == is || plain(was) && plain(is) {
		return Modified
	}
	return TypeChanged
}

// Changes compares the work tree with the tip, in the order of the paths. New
// files that .gitignore hides are not listed, except in the state folder.
// Folders count only through their files. Instructions that Tidy has lent are
// taken back first.
func (r *Repo) Changes(ctx context.Context) ([]Change, error) {
	changes, err := r.changes(ctx)
	if err == nil && len(r.lent) > 0 {
		changes, err = r.takeBack(ctx, changes)
	}
	if err == nil {
		err = r.neighbours(ctx, changes)
	}
	if err == nil {
		err = r.markLarge(ctx, changes)
	}
	return changes, err
}

// changes are those of Changes, without their neighbours.
func (r *Repo) changes(ctx context.Context) ([]Change, error) {
	r.unlock()
	if r.dirty {
		if err := r.syncIndex(ctx); err != nil {
			return nil, fmt.Errorf("compare the work tree: %w", err)
		}
	}
	found, err := r.codeChanges(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare the work tree: %w", err)
	}
	changes, err := r.stateChanges()
	if err != nil {
		return nil, err
	}
	for _, c := range found {
		if !under(c.Path, r.opt.State) { // the index need not know about that
			changes = append(changes, c)
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return changes, nil
}

// codeChanges gives the changes outside of the state folder. Where something is
// locked, the changes in it are not seen, so it is opened and looked at again.
func (r *Repo) codeChanges(ctx context.Context) ([]Change, error) {
	changes, locked, err := r.compare(ctx)
	if locked {
		folders.Unlock(r.top, ".")
		changes, _, err = r.compare(ctx)
	}
	return changes, err
}

// compare asks what became of known files, and what is new. It says whether
// something could not be looked at because of its mode.
func (r *Repo) compare(ctx context.Context) (changes []Change, locked bool, err error) {
	var said string
	out, err := r.gitCall(ctx, call{
		// "dirty" keeps git from running itself in repositories inside the tree.
		args: []string{"status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"},
		said: &said,
	})
	locked = strings.Contains(said+stderrOf(err), "Permission denied") // git speaks English here, see always
	if err != nil {
		return nil, locked, err
	}
	for _, record := range records(out) {
		if name, ok := strings.CutPrefix(record, "? "); ok {
			c := Change{Path: strings.TrimSuffix(name, "/"), Kind: Added}
			c.Type, c.Size = r.look(c.Path)
			changes = append(changes, c)
			continue
		}
		f := strings.SplitN(record, " ", 9) // 1, how, submodule, modes and hashes, path
		if len(f) != 9 || f[0] != "1" || len(f[1]) != 2 {
			return nil, locked, fmt.Errorf("git status answered %q", record)
		}
		if f[1][1] == '.' {
			continue // only the index is not as the newest commit
		}
		c := Change{Path: f[8], Kind: Deleted, Was: typeOfMode(f[4])}
		if c.Type, c.Size = r.look(c.Path); c.Type != None {
			c.Kind = changeKind(c.Was, c.Type)
		}
		if !r.untouched(c, f[7]) {
			changes = append(changes, c)
		}
	}
	return changes, locked || slices.ContainsFunc(changes, r.isLocked), nil
}

// untouched reports whether a file has the very bytes of a blob of the tip. Git
// takes it for changed all the same where it would commit it with other line
// ends, because .gitattributes came after it.
func (r *Repo) untouched(c Change, was string) bool {
	if c.Type != c.Was || c.Type != File && c.Type != Executable {
		return false
	}
	data, err := r.readState(c.Path)
	return err == nil && r.blobID(data) == was
}

// isLocked reports whether what is at a changed path now cannot be read.
func (r *Repo) isLocked(c Change) bool {
	info, err := r.top.Lstat(c.Path)
	return errors.Is(err, fs.ErrPermission) || err == nil && folders.Locked(info)
}

// look says what is at a path now. A folder counts only if it is a repository
// of its own; a path beyond a symbolic link is not there.
func (r *Repo) look(p string) (Type, int64) {
	info, err := r.top.Lstat(p)
	if err != nil || beyond(r.top, p) {
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
