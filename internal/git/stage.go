package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// sortPaths refuses what is not committed: other repositories, pipes, devices.
func (r *Repo) sortPaths(paths []string) (c code, err error) {
	for _, p := range paths {
		if err := checkPath(p); err != nil {
			return code{}, err
		}
		info, err := r.top.Lstat(p)
		switch {
		case folders.Beyond(r.top, p), errors.Is(err, fs.ErrNotExist):
			c.drop = append(c.drop, p)
		case err != nil:
			return code{}, err
		case info.IsDir():
			if is, _ := r.look(p); is == Repository {
				return code{}, fmt.Errorf("%s is a repository of its own (a submodule, or made by git init): reprise does not commit it", p)
			}
			c.drop = append(c.drop, p)
		case typeOf(info) == Other:
			return code{}, fmt.Errorf("%s is a pipe, a socket or a device: it cannot be committed", p)
		case typeOf(info) == Symlink && Under(p, r.opt.State):
			return code{}, fmt.Errorf("%s is a symbolic link: the state folder has files alone", p)
		case secondName(info):
			return code{}, fmt.Errorf("%s is a second name (hard link) of another file: write it as a file of its own", p)
		default:
			c.take = append(c.take, p)
		}
	}
	return c, nil
}

// stateOps make of the state folder that a commit is made on, has, what c wants: of what the record has there and what is
// staged, first Moves, then Gone, then Files.
func (r *Repo) stateOps(c Commit, has, recorded map[string]entry) (ops []op, err error) {
	wants := map[string]op{}
	for p, e := range recorded {
		wants[p] = op{kind: 'M', path: p, mode: e.Mode, id: e.ID}
	}
	for _, o := range c.Stage.changes() {
		if wants[o.path] = o; o.kind == 'D' || !Under(o.path, r.opt.State) {
			delete(wants, o.path)
		}
	}
	for _, from := range slices.Sorted(maps.Keys(c.Moves)) {
		to, found := c.Moves[from], false
		if err := errors.Join(r.checkState(from), r.checkState(to)); err != nil {
			return nil, err
		}
		for _, p := range slices.Sorted(maps.Keys(wants)) {
			if o := wants[p]; Under(p, from) {
				delete(wants, p)
				o.path, found = to+strings.TrimPrefix(p, from), true
				wants[o.path] = o
			}
		}
		if !found {
			return nil, fmt.Errorf("%s cannot be moved: it is not in branch %s", from, r.opt.Branch)
		}
	}
	maps.DeleteFunc(wants, func(p string, _ op) bool { return underAny(p, c.Gone) })
	for p, data := range c.Files {
		if err := r.checkState(p); err != nil {
			return nil, err
		}
		wants[p] = inlined(p, data)
	}
	for _, p := range slices.Sorted(maps.Keys(has)) {
		if _, stays := wants[p]; !stays {
			ops = append(ops, op{kind: 'D', path: p})
		}
	}
	for _, p := range slices.Sorted(maps.Keys(wants)) {
		if o := wants[p]; o.inline || has[p] != (entry{p, o.mode, o.id}) {
			ops = append(ops, o)
		}
	}
	return ops, nil
}

// inlined is the op that writes a file.
func inlined(p string, data []byte) op {
	return op{kind: 'M', path: p, mode: "100644", inline: true, data: data, id: blobID(data)}
}

// writeState does in the tree what a commit did to the state folder, also in a process that was told to end. No program at
// work there can lead it elsewhere. What was staged is there, and may be newer by now.
func (r *Repo) writeState(ctx context.Context, c Commit, ops []op) error {
	moved := slices.DeleteFunc(slices.Clone(ops), func(o op) bool {
		return o.inline || o.kind == 'D' || !underAny(o.path, slices.Collect(maps.Values(c.Moves)))
	})
	found, err := r.reads().objects(context.WithoutCancel(ctx), blobsOf(moved)...)
	for _, p := range slices.Concat(c.Gone, slices.Collect(maps.Keys(c.Moves))) {
		err = errors.Join(err, folders.RemoveNew(r.top, p))
	}
	for i, o := range moved {
		if err == nil {
			err = folders.WriteFile(r.top, o.path, found[i].Data, 0o644)
		}
	}
	for _, o := range ops {
		if err == nil && o.inline {
			err = folders.WriteFile(r.top, o.path, o.data, 0o644)
		}
	}
	return err
}

// staged names a file of the quarantine, a folder with the objects of what is staged. Only a commit moves them to those of
// the run, so that what was refused, such as a secret, is never among them, not even as an object that no commit has.
func (r *Repo) staged(names ...string) string { return r.home(append([]string{"staged"}, names...)...) }

// unstage throws away what was staged before.
func (r *Repo) unstage() error {
	return errors.Join(os.RemoveAll(r.staged()), os.MkdirAll(r.staged(), 0o755))
}

// release moves the objects of a commit that is about to be made. What is not there, another one has.
func (r *Repo) release(ops []op) (err error) {
	for _, id := range blobsOf(ops) {
		err = errors.Join(err, folders.TakeOver(objectFile(r.objects(), id), objectFile(r.staged(), id)))
	}
	return err
}

// objectFile is where an object lies that has a file of its own.
func objectFile(folder, id string) string { return filepath.Join(folder, id[:2], id[2:]) }

// hidden is an ignored path of the work tree: a file, or a folder, with a slash at its end, ignored as a whole.
type hidden struct {
	Path string
	Rule string // where it stands, and what it is
}

// Hidden lists what is ignored outside the state folder and was written since a time, in the order of the paths.
func (r *Repo) Hidden(ctx context.Context, since time.Time) (_ []hidden, err error) {
	defer wrap(&err, "look for ignored files")
	out, err := r.git(ctx, "ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory")
	if err != nil {
		return nil, err
	}
	var ask strings.Builder
	within := "/" // what was taken last: of a folder with rules of its own, git also lists what is in it
	for _, name := range records(out) {
		if p := strings.TrimSuffix(name, "/"); !strings.HasPrefix(p, within) && !Under(p, r.opt.State) && !Under(r.opt.State, p) && r.writtenSince(p, since) {
			ask.WriteString(name + "\x00")
			within = p + "/"
		}
	}
	if ask.Len() == 0 {
		return nil, nil
	}
	if out, err = r.gitCall(ctx, call{Stdin: ask.String(), Args: []string{"check-ignore", "--verbose", "-z", "--stdin"}}); err != nil {
		return nil, err
	}
	var all []hidden
	for f := records(out); len(f) >= 4; f = f[4:] { // file, line, pattern, path
		all = append(all, hidden{Path: f[3], Rule: fmt.Sprintf("%s:%s: %s", f[0], f[1], f[2])})
	}
	return all, nil
}

// writtenSince reports whether a file, or one in a folder, was written since. File times may be behind the clock.
func (r *Repo) writtenSince(p string, since time.Time) (found bool) {
	since = since.Add(-10 * time.Millisecond)
	_ = folders.Walk(r.top, p, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone, or not to be looked into
		}
		if info, err := d.Info(); err == nil && !d.IsDir() && !info.ModTime().Before(since) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}
