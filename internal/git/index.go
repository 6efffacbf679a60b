package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// findShelf finds out where the state folder of the tip is.
func (r *Repo) findShelf(ctx context.Context) (err error) {
	if r.shelf, err = r.shelfOf(ctx, r.tip); r.shelf == r.tip {
		r.shelf = ""
	}
	return err
}

// stateFiles gives what the tip has in the state folder, or had when that was taken off it.
func (r *Repo) stateFiles(ctx context.Context) (map[string]entry, error) {
	return r.reads().below(ctx, r.Record(), r.opt.State)
}

// Record is the newest commit that has the state folder: the tip, unless the folder was taken off it.
func (r *Repo) Record() string { return cmp.Or(r.shelf, r.tip) }

func (r *Repo) takeOff() []op { return []op{{kind: 'D', path: r.opt.State}} }

// whole gives a commit with the files of the tip, and the state folder also where that was taken off: the index has them.
func (r *Repo) whole(ctx context.Context) (string, error) {
	if r.shelf == "" {
		return r.tip, nil
	}
	return r.withState(ctx, draftRef, r.tip, r.shelf, time.Unix(0, 0))
}

// readTip has the index hold the tip, also in a process that was told to end: what compares the tree relies on it.
func (r *Repo) readTip(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	err := r.sweep()
	whole, wrong := r.whole(ctx)
	if err = errors.Join(err, wrong); err == nil {
		_, err = r.git(ctx, "read-tree", "--reset", whole)
	}
	return err
}

// copyIndex makes an index in the quarantine, with what git's has, and gives the variables by which a command works on it.
func (r *Repo) copyIndex(name string) ([]string, error) {
	err := os.RemoveAll(r.staged(name))
	if err == nil {
		err = folders.CopyFile(r.staged(name), r.home("index"))
	}
	return []string{"GIT_INDEX_FILE=" + r.staged(name), "GIT_OBJECT_DIRECTORY=" + r.staged(), "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quotePath(r.objects())}, err
}

// newStage is copyIndex for a stage.
func (r *Repo) newStage() ([]string, error) {
	if err := r.unstage(); err != nil {
		return nil, err
	}
	return r.copyIndex("index")
}

// put does ops, of which deletions come first, in the index that env names.
func (r *Repo) put(ctx context.Context, env []string, ops []op) error {
	if len(ops) == 0 {
		return nil
	}
	var list strings.Builder
	for _, o := range ops {
		if o.kind == 'D' {
			fmt.Fprintf(&list, "0 %s\t%s\x00", zero, o.path)
		} else {
			fmt.Fprintf(&list, "%s %s\t%s\x00", o.mode, o.id, o.path)
		}
	}
	_, err := r.gitCall(ctx, call{Env: env, Args: []string{"update-index", "--replace", "-z", "--index-info"}, Stdin: list.String()})
	return err
}

// code is a list of paths, by what the index has to do with them.
type code struct {
	take []string // files and links that are there
	drop []string // gone, perhaps with a folder or a link in the way
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
	whole, err := r.whole(ctx)
	if err != nil {
		return nil, err
	}
	out, err := r.gitCall(ctx, call{Env: env, Args: slices.Concat([]string{"diff-index", "--cached"}, rawFlags(), []string{whole})})
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
	ids := blobsOf(ops)
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
	state, err := r.stateFiles(ctx)
	if err != nil {
		return nil, err
	}
	e, there := state[path]
	for _, o := range s.changes() {
		if o.path == path {
			e, there = entry{path, o.mode, o.id}, o.kind == 'M'
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
	var gone []op
	for _, p := range c.drop {
		gone = append(gone, op{kind: 'D', path: p})
	}
	if err := r.put(ctx, env, gone); err != nil || len(c.take) == 0 {
		return err
	}
	args := []string{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"} // one may be gone meanwhile
	_, err := r.gitCall(ctx, call{How: how, Args: args, Env: env, Stdin: strings.Join(c.take, "\x00") + "\x00"})
	return err
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
