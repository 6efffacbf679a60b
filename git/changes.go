package git

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Change is one path of the work tree that is not as in the tip.
type Change struct {
	Path string // from the top of the repository; may hold any byte but zero
	Kind Kind
	Type Type  // what is there now; None if it was deleted
	Was  Type  // what the tip has; None if it was added
	Size int64 // of what is there now, in bytes
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
// Folders count only through their files.
func (r *Repo) Changes(ctx context.Context) ([]Change, error) {
	if r.dirty {
		if err := r.syncIndex(ctx); err != nil {
			return nil, fmt.Errorf("compare the work tree: %w", err)
		}
	}
	out, err := r.git(ctx, "ls-files", "-t", "-s", "-z", "-m", "-d", "-o", "--exclude-standard")
	if err != nil {
		return nil, fmt.Errorf("compare the work tree: %w", err)
	}
	found := map[string]Change{}
	var links []string
	for _, record := range records(out) {
		c := r.parseChange(record)
		if under(c.Path, r.opt.State) {
			continue // the index need not know about it
		}
		if c.Kind == Added && c.Type == Symlink {
			links = append(links, c.Path)
		}
		found[c.Path] = c
	}
	if err := r.hidden(ctx, links, found); err != nil {
		return nil, fmt.Errorf("compare the work tree: %w", err)
	}
	changes, err := r.stateChanges()
	if err != nil {
		return nil, err
	}
	for _, c := range found {
		changes = append(changes, c)
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return changes, nil
}

// parseChange reads "? path" for a new path, and "TAG mode id stage<TAB>path"
// for one that the index has.
func (r *Repo) parseChange(record string) Change {
	if name, ok := strings.CutPrefix(record, "? "); ok {
		c := Change{Path: strings.TrimSuffix(name, "/"), Kind: Added}
		c.Type, c.Size = r.look(c.Path)
		return c
	}
	info, name, _ := strings.Cut(record, "\t")
	c := Change{Path: name}
	if f := strings.Fields(info); len(f) == 4 {
		c.Was = typeOfMode(f[1])
	}
	c.Type, c.Size = r.look(name)
	c.Kind = changeKind(c.Was, c.Type)
	if c.Type == None {
		c.Kind = Deleted
	}
	return c
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

// hidden adds the files of folders that a symbolic link took the place of. Git
// looks through the link, and may find files there that seem unchanged.
func (r *Repo) hidden(ctx context.Context, links []string, found map[string]Change) error {
	for _, link := range links {
		if info, err := os.Stat(r.tree + "/" + link); err != nil || !info.IsDir() {
			continue
		}
		out, err := r.git(ctx, "--literal-pathspecs", "ls-files", "-s", "-z", "--", link+"/")
		if err != nil {
			return err
		}
		for _, record := range records(out) {
			info, name, _ := strings.Cut(record, "\t")
			if !under(name, r.opt.State) {
				found[name] = Change{Path: name, Kind: Deleted, Was: typeOfMode(info[:6])}
			}
		}
	}
	return nil
}
