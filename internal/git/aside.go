package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// asideDir holds, below the root of the run, what SetAside took out of the work
// tree: files 0, 1, 2 and so on, and asideList their paths, each ended by NUL.
const (
	asideDir  = "aside"
	asideList = asideDir + "/paths"
)

// SetAside takes out of the work tree what the tip does not have, including
// ignored files, so that a program finds what a fresh clone of the commit has.
// What keep names stays. The state folder is left alone. The function it
// returns puts everything back, in place of what was written there meanwhile;
// after an interruption Prepare does so.
func (r *Repo) SetAside(ctx context.Context, keep func(path string) bool) (putBack func() error, err error) {
	all, err := r.others(ctx)
	var paths []string
	for _, name := range all {
		var rest []string
		if err == nil {
			rest, err = r.without(name, func(p string) bool { return p == r.opt.State || keep != nil && keep(p) })
		}
		paths = append(paths, rest...)
	}
	if err == nil && len(paths) > 0 {
		if err = r.moveAside(paths); err != nil {
			err = errors.Join(err, r.returnAside())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("set aside what is not in the commit: %w", err)
	}
	return r.returnAside, nil
}

// others lists what the tip does not have, ignored or not: files, links and whole folders.
func (r *Repo) others(ctx context.Context) ([]string, error) {
	if err := r.syncIndex(ctx); err != nil {
		return nil, err
	}
	var said string
	list := func() ([]byte, error) {
		return r.gitCall(ctx, call{Args: []string{"ls-files", "-o", "-z", "--directory", "--no-empty-directory"}, Said: &said})
	}
	out, err := list()
	if strings.Contains(said, "Permission denied") { // git passes over what somebody locked
		folders.Unlock(r.top, ".")
		out, err = list()
	}
	return records(out), err
}

// without gives a file or folder or, if a part of the folder is to be kept, the
// rest of it.
func (r *Repo) without(name string, keep func(string) bool) (rest []string, err error) {
	name = strings.TrimSuffix(name, "/")
	if keep(name) {
		return nil, nil
	}
	info, err := r.top.Lstat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	folders.UnlockAbove(r.top, name+"/x")
	entries, err := folders.List(r.top, name)
	if err != nil {
		return nil, err
	}
	whole := true
	for _, e := range entries {
		inner, err := r.without(path.Join(name, e.Name()), keep)
		if err != nil {
			return nil, err
		}
		whole = whole && len(inner) == 1 && inner[0] == path.Join(name, e.Name())
		rest = append(rest, inner...)
	}
	if whole {
		return []string{name}, nil
	}
	return rest, nil
}

func (r *Repo) moveAside(paths []string) error {
	if err := r.root.MkdirAll(asideDir, 0o700); err != nil {
		return err
	}
	if err := r.root.WriteFile(asideList, []byte(strings.Join(paths, "\x00")+"\x00"), 0o600); err != nil {
		return err
	}
	for i, name := range paths {
		folders.UnlockAbove(r.top, name+"/x") // a locked folder cannot be moved
		if err := r.root.Rename(path.Join("tree", name), path.Join(asideDir, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	return nil
}

// returnAside puts back what was taken, if anything was. What cannot be put back
// because a folder above it is gone, as after a rollback, is dropped: no commit
// has it.
func (r *Repo) returnAside() error {
	list, err := r.root.ReadFile(asideList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("put back what was set aside: %w", err)
	}
	for i, name := range records(list) {
		aside := path.Join(asideDir, strconv.Itoa(i))
		if _, err := r.root.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			continue // it was not taken, or is back
		}
		if above, err := r.top.Lstat(path.Dir(name)); err != nil || !above.IsDir() || folders.Beyond(r.top, name) {
			continue
		}
		folders.UnlockAbove(r.top, name)
		if err := folders.RemoveWithin(r.top, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("put back %s: %w", name, err)
		}
		if err := r.root.Rename(aside, path.Join("tree", name)); err != nil {
			return fmt.Errorf("put back %s: %w", name, err)
		}
	}
	if err := folders.Remove(r.root, asideDir); err != nil {
		return fmt.Errorf("put back what was set aside: %w", err)
	}
	return nil
}

// Hidden is a path of the work tree that the repository ignores: a file, or a
// folder with a slash at its end that is ignored as a whole.
type Hidden struct {
	Path    string
	File    string // that has the rule, such as .gitignore, and the line
	Line    int
	Pattern string
}

// Hidden lists what is ignored in the work tree and was written since a time,
// in the order of the paths. The state folder is left out: there nothing is
// ignored.
func (r *Repo) Hidden(ctx context.Context, since time.Time) ([]Hidden, error) {
	out, err := r.git(ctx, "ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory")
	if err != nil {
		return nil, fmt.Errorf("look for ignored files: %w", err)
	}
	var ask strings.Builder
	for _, name := range records(out) {
		if p := strings.TrimSuffix(name, "/"); !Under(p, r.opt.State) && !Under(r.opt.State, p) && r.writtenSince(p, since) {
			ask.WriteString(name + "\x00")
		}
	}
	if ask.Len() == 0 {
		return nil, nil
	}
	if out, err = r.gitStdin(ctx, []byte(ask.String()), "check-ignore", "--verbose", "-z", "--stdin"); err != nil {
		return nil, fmt.Errorf("look for the rules that ignore files: %w", err)
	}
	var all []Hidden
	for f := records(out); len(f) >= 4; f = f[4:] { // file, line, pattern, path
		line, _ := strconv.Atoi(f[1]) // git counts
		all = append(all, Hidden{Path: f[3], File: f[0], Line: line, Pattern: f[2]})
	}
	return all, nil
}

var errFound = errors.New("found")

// writtenSince reports whether a file, or one in a folder, was written since a
// time. It follows no symbolic link. File times may be some milliseconds behind
// the clock.
func (r *Repo) writtenSince(p string, since time.Time) bool {
	since = since.Add(-10 * time.Millisecond)
	return errors.Is(folders.Walk(r.top, p, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone, or not to be looked into
		}
		if info, err := d.Info(); err == nil && !d.IsDir() && !info.ModTime().Before(since) {
			return errFound
		}
		return nil
	}), errFound)
}
