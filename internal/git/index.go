package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// loadState reads what commit has in the state folder.
func (r *Repo) loadState(ctx context.Context, commit string) error {
	shelf := ""
	files, err := r.reads().below(ctx, commit, r.opt.State)
	if err == nil && len(files) == 0 {
		if shelf, err = r.shelfOf(ctx, commit); err == nil && shelf != "" {
			files, err = r.reads().below(ctx, shelf, r.opt.State)
		}
	}
	if err == nil {
		r.state, r.shelf = files, shelf
	}
	return err
}

// Record is the newest commit that has the state folder: the tip, unless the
// folder was taken off it.
func (r *Repo) Record() string {
	if r.shelf != "" {
		return r.shelf
	}
	return r.tip
}

// putBack are the ops that bring the state folder back to a tip that it was
// taken off.
func (r *Repo) putBack() (ops []op) {
	if r.shelf == "" {
		return nil
	}
	for _, p := range slices.Sorted(maps.Keys(r.state)) {
		ops = append(ops, op{kind: 'M', path: p, mode: r.state[p].Mode, id: r.state[p].ID})
	}
	return ops
}

// takeOff is the op that takes the state folder off the tip.
func (r *Repo) takeOff() []op { return []op{{kind: 'D', path: r.opt.State}} }

// syncIndex has the index hold what the tip does, if it may hold something else.
func (r *Repo) syncIndex(ctx context.Context) error {
	if !r.dirty {
		return nil
	}
	if err := r.sweep(); err != nil {
		return err
	}
	if _, err := r.git(ctx, "read-tree", "--reset", r.tip); err != nil {
		return err
	}
	r.dirty = false
	return nil
}

// put puts files into the index, which env may name, and takes out those without an ID.
func (r *Repo) put(ctx context.Context, env []string, files []entry) error {
	if len(files) == 0 {
		return nil
	}
	var gone, set strings.Builder
	for _, f := range files {
		if f.ID == "" {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", r.zero(), f.Path)
		} else {
			fmt.Fprintf(&set, "%s %s\t%s\x00", f.Mode, f.ID, f.Path)
		}
	}
	_, err := r.gitCall(ctx, call{
		Env: env, Args: []string{"update-index", "--replace", "-z", "--index-info"}, Stdin: strings.NewReader(gone.String() + set.String()),
	})
	return err
}

// code is a list of paths outside the state folder, sorted by what the index
// has to do with them.
type code struct {
	take []string // files and links that are there, or are simply gone
	drop []string // gone in a way that git would mistake: a folder or a link is in the way
}

// stageCode puts the paths into the index and returns how it then differs from
// the tip. Git hashes the files, so that built-in conversions such as line ends are
// done, and that of Git LFS; no configuration names another driver.
func (r *Repo) stageCode(ctx context.Context, c code) ([]op, error) {
	if len(c.take)+len(c.drop) == 0 {
		return nil, nil
	}
	ops, err := r.stageAll(ctx, c)
	r.dirty, r.indexed = true, nil // until the commit is made
	if err == nil {
		return ops, nil
	}
	if e := r.syncIndex(context.WithoutCancel(ctx)); e != nil {
		return nil, errors.Join(err, e)
	}
	return nil, err
}

func (r *Repo) stageAll(ctx context.Context, c code) ([]op, error) {
	if err := r.syncIndex(ctx); err != nil {
		return nil, err
	}
	if err := r.staged.Empty(); err != nil {
		return nil, err
	}
	if err := r.updateIndex(ctx, r.staged.Environ(), nil, c); err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"diff-index", "--cached"}, rawFlags(), []string{r.tip, "--", ".", ":(top,exclude,literal)" + r.opt.State})
	out, err := r.git(ctx, args...)
	if err != nil {
		return nil, err
	}
	ops, err := parseRaw(out)
	return deletionsFirst(ops), err
}

// files lists what the tip has outside of the state folder, in the order of the paths.
func (r *Repo) files(ctx context.Context) ([]entry, error) {
	all, err := r.reads().all(ctx, r.tip)
	return slices.DeleteFunc(all, func(e entry) bool { return Under(e.Path, r.opt.State) }), err
}

// hold has git's index hold what is staged outside of the state folder.
func (r *Repo) hold(ctx context.Context, s *Stage) error {
	if r.dirty && r.indexed == s {
		return nil
	}
	if err := r.syncIndex(ctx); err != nil {
		return err
	}
	files := entriesOf(slices.DeleteFunc(s.changes(), func(o op) bool { return Under(o.path, r.opt.State) }))
	r.dirty, r.indexed = true, nil // until all of it is there
	if err := r.put(ctx, r.staged.Environ(), files); err != nil {
		return err
	}
	r.indexed = s
	return nil
}

// entriesOf are what the index has to have for ops: without an ID it is gone.
func entriesOf(ops []op) (files []entry) {
	for _, o := range ops {
		files = append(files, entry{o.path, o.mode, o.id})
	}
	return files
}

// eachBlob reads what ops set and gives it to f, in their order. One that is too large to be
// looked through is an error. Not all of it is in memory at once.
func (r *Repo) eachBlob(ctx context.Context, ops []op, f func(o op, data []byte) error) error {
	var ids []string
	for _, o := range ops {
		ids = append(ids, o.id)
	}
	sizes, err := r.sizes(ctx, ids)
	if err != nil {
		return err
	}
	for at := 0; at < len(ops); {
		end, sum := at, 0
		for ; end < len(ops) && (end == at || sum+sizes[end] <= maxJudged); end++ {
			if sizes[end] > maxJudged {
				return fmt.Errorf("%s has %d bytes, at most %d can be looked through", ops[end].path, sizes[end], maxJudged)
			}
			sum += sizes[end]
		}
		found, err := r.lookUp(ctx, ids[at:end]...)
		for i, o := range found {
			if err == nil {
				err = f(ops[at+i], o.Data)
			}
		}
		if err != nil {
			return err
		}
		at = end
	}
	return nil
}

// sizes gives how many bytes objects have; 0 for what is none.
func (r *Repo) sizes(ctx context.Context, ids []string) ([]int, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := r.gitStdin(ctx, []byte(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch-check=%(objectsize)")
	sizes := make([]int, len(ids))
	for i, line := range strings.Split(string(out), "\n")[:len(sizes)] {
		sizes[i], _ = strconv.Atoi(line) // "missing" is none
	}
	return sizes, err
}

// ReadStaged returns a file of the state folder as the commit of a stage will have
// it: what is staged, else what the tip has. The error wraps fs.ErrNotExist where
// there will be no file.
func (r *Repo) ReadStaged(ctx context.Context, s *Stage, path string) ([]byte, error) {
	e, there := r.state[path]
	for _, o := range s.changes() {
		switch {
		case o.path != path:
		case o.inline:
			return o.data, nil
		default:
			there = false
		}
	}
	if t := typeOfMode(e.Mode); !there || t != File && t != Executable {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	var data []byte
	err := r.eachBlob(ctx, []op{{path: path, id: e.ID}}, func(_ op, read []byte) error { data = read; return nil })
	return data, err
}

// updateIndex puts paths into the index, which env may name; how are arguments
// for git.
func (r *Repo) updateIndex(ctx context.Context, env, how []string, c code) error {
	for _, u := range []struct {
		paths []string
		args  []string
	}{
		{c.drop, []string{"update-index", "--force-remove", "-z", "--stdin"}},
		{c.take, []string{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"}},
	} {
		if len(u.paths) == 0 {
			continue
		}
		list := strings.NewReader(strings.Join(u.paths, "\x00") + "\x00")
		if _, err := r.gitCall(ctx, call{How: how, Args: u.args, Env: env, Stdin: list}); err != nil {
			return err
		}
	}
	return nil
}

// apply brings what is known about the state folder up to a commit.
func (r *Repo) apply(ops []op) {
	for _, o := range ops {
		switch {
		case !Under(o.path, r.opt.State):
		case o.kind == 'M':
			r.state[o.path] = entry{o.path, o.mode, o.id}
		case o.kind == 'D':
			delete(r.state, o.path)
		case o.kind == 'R':
			r.applyMove(o.path, o.to)
		}
	}
}

func (r *Repo) applyMove(from, to string) {
	for p, e := range maps.Clone(r.state) {
		if Under(p, from) {
			moved := to + strings.TrimPrefix(p, from)
			delete(r.state, p)
			r.state[moved] = entry{moved, e.Mode, e.ID}
		}
	}
}

func (r *Repo) checkState(p string) error {
	if err := checkPath(p); err != nil {
		return err
	}
	if !Under(p, r.opt.State) || p == r.opt.State {
		return fmt.Errorf("%s does not lie in the state folder %s", p, r.opt.State)
	}
	return nil
}

// stateWith reports whether the state folder has a file or folder, once s is
// committed.
func (r *Repo) stateWith(s *Stage) func(p string) bool {
	names := map[string]bool{}
	for p := range r.state {
		names[p] = true
	}
	for _, o := range s.changes() {
		names[o.path] = o.kind == 'M'
	}
	return func(p string) bool {
		for name, there := range names {
			if there && Under(name, p) {
				return true
			}
		}
		return false
	}
}
