package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// index is git's index, and what is known of the tip without asking git again.
// Commits of the state folder leave git's index alone, since writing it takes
// time in a large tree.
type index struct {
	*runBranch
	state map[string]entry    // what tip has in the state folder
	stale map[string]struct{} // paths of the state folder that the index does not show as in tip
	dirty bool                // the index may hold what no commit does

	indexed *Stage // if it is dirty: what it holds besides the tip, where that is known
}

// loadState reads what commit has in the state folder.
func (x *index) loadState(ctx context.Context, commit string) error {
	shelf, err := x.shelfOf(ctx, commit)
	if shelf == commit {
		shelf = ""
	}
	files := map[string]entry{}
	if err == nil {
		files, err = x.reads().below(ctx, cmp.Or(shelf, commit), x.opt.State)
	}
	if err == nil {
		x.state, x.shelf = files, shelf
		x.markShelved()
	}
	return err
}

// markShelved notes that git's index, which was read from the tip, lacks what was
// taken off it.
func (x *index) markShelved() {
	if x.shelf != "" {
		for p := range x.state {
			x.stale[p] = struct{}{}
		}
	}
}

// Record is the newest commit that has the state folder: the tip, unless the
// folder was taken off it.
func (x *index) Record() string {
	if x.shelf != "" {
		return x.shelf
	}
	return x.tip
}

// putBack are the ops that bring the state folder back to a tip that it was
// taken off.
func (x *index) putBack() (ops []op) {
	if x.shelf == "" {
		return nil
	}
	for _, p := range slices.Sorted(maps.Keys(x.state)) {
		ops = append(ops, op{kind: 'M', path: p, mode: x.state[p].Mode, id: x.state[p].ID})
	}
	return ops
}

// takeOff are the ops that take the state folder off the tip.
func (x *index) takeOff() (ops []op) {
	for _, p := range slices.Sorted(maps.Keys(x.state)) {
		ops = append(ops, op{kind: 'D', path: p})
	}
	return ops
}

// syncIndex brings the state folder in the index up to tip. Commits of state
// leave the index alone, since writing it takes time in a large tree.
func (x *index) syncIndex(ctx context.Context) error {
	if x.dirty {
		if err := x.sweep(); err != nil {
			return err
		}
		if _, err := x.git(ctx, "read-tree", "--reset", x.tip); err != nil {
			return err
		}
		x.dirty = false
		clear(x.stale)
		x.markShelved()
	}
	var files []entry
	for p := range x.stale {
		e := x.state[p] // none: it is gone
		files = append(files, entry{p, e.Mode, e.ID})
	}
	if err := x.put(ctx, nil, files); err != nil {
		return err
	}
	clear(x.stale)
	return nil
}

// put puts files into the index, which env may name, and takes out those without an ID.
func (x *index) put(ctx context.Context, env []string, files []entry) error {
	if len(files) == 0 {
		return nil
	}
	var gone, set strings.Builder
	for _, f := range files {
		if f.ID == "" {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", x.zero(), f.Path)
		} else {
			fmt.Fprintf(&set, "%s %s\t%s\x00", f.Mode, f.ID, f.Path)
		}
	}
	_, err := x.gitCall(ctx, call{
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
func (x *index) stageCode(ctx context.Context, c code) ([]op, error) {
	if len(c.take)+len(c.drop) == 0 {
		return nil, nil
	}
	ops, err := x.stageAll(ctx, c)
	x.dirty, x.indexed = true, nil // until the commit is made
	if err == nil {
		return ops, nil
	}
	if e := x.syncIndex(context.WithoutCancel(ctx)); e != nil {
		return nil, errors.Join(err, e)
	}
	return nil, err
}

func (x *index) stageAll(ctx context.Context, c code) ([]op, error) {
	if x.dirty {
		if err := x.syncIndex(ctx); err != nil {
			return nil, err
		}
	}
	if err := x.staged.Empty(); err != nil {
		return nil, err
	}
	if err := x.updateIndex(ctx, x.staged.Environ(), nil, c); err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"diff-index", "--cached"}, rawFlags(), []string{x.tip, "--", ".", ":(top,exclude,literal)" + x.opt.State})
	out, err := x.git(ctx, args...)
	if err != nil {
		return nil, err
	}
	ops, err := parseRaw(out)
	return deletionsFirst(ops), err
}

// files lists what the tip has outside of the state folder, in the order of the paths.
func (x *index) files(ctx context.Context) ([]entry, error) {
	all, err := x.reads().all(ctx, x.tip)
	return slices.DeleteFunc(all, func(e entry) bool { return Under(e.Path, x.opt.State) }), err
}

// hold has git's index hold what is staged outside of the state folder.
func (x *index) hold(ctx context.Context, s *Stage) error {
	if x.dirty && x.indexed == s {
		return nil
	}
	if err := x.syncIndex(ctx); err != nil {
		return err
	}
	var files []entry
	for _, o := range s.ops {
		if !Under(o.path, x.opt.State) {
			files = append(files, entry{o.path, o.mode, o.id}) // no id: it is gone
		}
	}
	x.dirty, x.indexed = true, nil // until all of it is there
	if err := x.put(ctx, x.staged.Environ(), files); err != nil {
		return err
	}
	x.indexed = s
	return nil
}

// eachBlob reads what ops set and gives it to f, in their order. One that is too large to be
// looked through is an error. Not all of it is in memory at once.
func (x *index) eachBlob(ctx context.Context, ops []op, f func(o op, data []byte) error) error {
	var ids []string
	for _, o := range ops {
		ids = append(ids, o.id)
	}
	sizes, err := x.sizes(ctx, ids)
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
		found, err := x.lookUp(ctx, ids[at:end]...)
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
func (x *index) sizes(ctx context.Context, ids []string) ([]int, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := x.gitStdin(ctx, []byte(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch-check=%(objectsize)")
	sizes := make([]int, len(ids))
	for i, line := range strings.Split(string(out), "\n")[:len(sizes)] {
		sizes[i], _ = strconv.Atoi(line) // "missing" is none
	}
	return sizes, err
}

// ReadStaged returns a file of the state folder as the commit of a stage will have
// it: what is staged, else what the tip has. The error wraps fs.ErrNotExist where
// there will be no file.
func (x *index) ReadStaged(ctx context.Context, s *Stage, path string) ([]byte, error) {
	e, there := x.state[path]
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
	err := x.eachBlob(ctx, []op{{path: path, id: e.ID}}, func(_ op, read []byte) error { data = read; return nil })
	return data, err
}

// updateIndex puts paths into the index, which env may name; how are arguments
// for git.
func (x *index) updateIndex(ctx context.Context, env, how []string, c code) error {
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
		if _, err := x.gitCall(ctx, call{How: how, Args: u.args, Env: env, Stdin: list}); err != nil {
			return err
		}
	}
	return nil
}

// apply brings what is known about the state folder up to a commit.
func (x *index) apply(ops []op) {
	for _, o := range ops {
		switch {
		case !Under(o.path, x.opt.State):
		case o.kind == 'M':
			x.state[o.path] = entry{o.path, o.mode, o.id}
			x.stale[o.path] = struct{}{}
		case o.kind == 'D':
			delete(x.state, o.path)
			x.stale[o.path] = struct{}{}
		case o.kind == 'R':
			x.applyMove(o.path, o.to)
		}
	}
}

func (x *index) applyMove(from, to string) {
	for p, e := range maps.Clone(x.state) {
		if Under(p, from) {
			moved := to + strings.TrimPrefix(p, from)
			delete(x.state, p)
			x.state[moved] = entry{moved, e.Mode, e.ID}
			x.stale[p], x.stale[moved] = struct{}{}, struct{}{}
		}
	}
}

func (x *index) checkState(p string) error {
	if err := checkPath(p); err != nil {
		return err
	}
	if !Under(p, x.opt.State) || p == x.opt.State {
		return fmt.Errorf("%s does not lie in the state folder %s", p, x.opt.State)
	}
	return nil
}

// stateWith reports whether the state folder has a file or folder, once s is
// committed.
func (x *index) stateWith(s *Stage) func(p string) bool {
	names := map[string]bool{}
	for p := range x.state {
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
