package git

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

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

// Record is the newest commit that has the state folder: the tip, unless the folder was taken off it.
func (r *Repo) Record() string {
	if r.shelf != "" {
		return r.shelf
	}
	return r.tip
}

// putBack are the ops that bring the state folder back to a tip that it was taken off.
func (r *Repo) putBack() (ops []op) {
	if r.shelf == "" {
		return nil
	}
	for _, p := range slices.Sorted(maps.Keys(r.state)) {
		ops = append(ops, op{kind: 'M', path: p, mode: r.state[p].Mode, id: r.state[p].ID})
	}
	return ops
}

func (r *Repo) takeOff() []op { return []op{{kind: 'D', path: r.opt.State}} }

// readTip has the index hold the tip, also in a process that was told to end: what compares the tree relies on it.
func (r *Repo) readTip(ctx context.Context) error {
	err := r.sweep()
	if err == nil {
		_, err = r.git(context.WithoutCancel(ctx), "read-tree", "--reset", r.tip)
	}
	return err
}

// takeIndex is readTip after a commit of a stage, whose index knows the files that it has.
func (r *Repo) takeIndex(ctx context.Context, s *Stage) error {
	if s != nil && s.indexed {
		if err := os.Rename(r.staged.Index(), r.home("index")); err != nil {
			return err
		}
	}
	return r.readTip(ctx)
}

// copyIndex makes an index of its own, with what git's has, and gives the variable that names it.
func (r *Repo) copyIndex(name string) ([]string, error) {
	err := os.RemoveAll(name)
	if err == nil {
		err = folders.CopyFile(name, r.home("index"))
	}
	return []string{"GIT_INDEX_FILE=" + name}, err
}

// newStage makes an index for a stage, and gives the variables by which a command works on it.
func (r *Repo) newStage() ([]string, error) {
	if err := r.staged.Empty(); err != nil {
		return nil, err
	}
	index, err := r.copyIndex(r.staged.Index())
	return append(r.staged.Environ(), index...), err
}

// put does ops, of which deletions come first, in the index that env names.
func (r *Repo) put(ctx context.Context, env []string, ops []op) error {
	var list strings.Builder
	for _, o := range ops {
		if o.kind == 'D' {
			fmt.Fprintf(&list, "0 %s\t%s\x00", zero, o.path)
		} else {
			fmt.Fprintf(&list, "%s %s\t%s\x00", o.mode, o.id, o.path)
		}
	}
	_, err := r.gitCall(ctx, call{Env: env, Args: []string{"update-index", "--replace", "-z", "--index-info"}, Stdin: strings.NewReader(list.String())})
	return err
}

// code is a list of paths outside the state folder, by what the index has to do with them.
type code struct {
	take []string // files and links that are there, or are simply gone
	drop []string // gone in a way that git would mistake: a folder or a link is in the way
}

// stageCode puts paths into the index and returns how it then differs from the tip. Git hashes the files: of all
// conversions only the built-in ones, such as line ends, and that of Git LFS are done.
func (r *Repo) stageCode(ctx context.Context, c code) ([]op, error) {
	if len(c.take)+len(c.drop) == 0 {
		return nil, nil
	}
	env, err := r.newStage()
	if err == nil {
		err = r.updateIndex(ctx, env, nil, c)
	}
	if err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"diff-index", "--cached"}, rawFlags(), []string{r.tip, "--", ".", ":(top,exclude,literal)" + r.opt.State})
	out, err := r.gitCall(ctx, call{Env: env, Args: args})
	if err != nil {
		return nil, err
	}
	ops, err := parseRaw(out)
	return deletionsFirst(ops), err
}

// files lists what the tip has outside of the state folder, in the order of the paths.
func (r *Repo) files(ctx context.Context) ([]entry, error) {
	if r.listed.of == r.tip {
		return r.listed.files, nil
	}
	all, err := r.reads().all(ctx, r.tip)
	if err != nil {
		return nil, err
	}
	r.listed.of, r.listed.files = r.tip, slices.DeleteFunc(all, func(e entry) bool { return Under(e.Path, r.opt.State) })
	return r.listed.files, nil
}

// eachBlob gives f what ops set, in order and one at a time. One too large to be looked through is an error.
func (r *Repo) eachBlob(ctx context.Context, ops []op, f func(o op, data []byte) error) error {
	var ids []string
	for _, o := range ops {
		ids = append(ids, o.id)
	}
	sizes, err := r.reads().sizes(ctx, ids)
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
		found, err := r.reads().objects(ctx, ids[at:end]...)
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

// ReadStaged reads a file of the state folder as the commit of a stage will have it. The error wraps
// fs.ErrNotExist where there will be none.
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
	found, err := r.reads().objects(ctx, e.ID)
	if err != nil {
		return nil, err
	}
	return found[0].Data, nil
}

// updateIndex puts paths into the index, which env may name; how are arguments for git.
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
			for p, e := range maps.Clone(r.state) {
				if Under(p, o.path) {
					moved := o.to + strings.TrimPrefix(p, o.path)
					delete(r.state, p)
					r.state[moved] = entry{moved, e.Mode, e.ID}
				}
			}
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

// stateWith reports whether the state folder has a file or folder, once s is committed.
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
