package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Prepare makes the work tree ready for an agent, and returns what it removed. It makes the scratch .git anew, see
// buildScratch; removes instructions to agents that the tip lacks, even ignored ones, which an agent could have written;
// removes pipes, sockets and devices, on which programs may wait for ever; and puts the base's instructions in place of
// the tip's until the next Changes. The state folder and other ignored files, such as what a build installed, stay.
func (r *Repo) Prepare(ctx context.Context, g Guard) (removed []string, err error) {
	defer wrap(&err, "make the work tree ready")
	if err := r.standing.Still(); err != nil {
		return nil, err
	}
	r.unlock()
	r.tidyState()
	if err := errors.Join(r.fillLarge(ctx), r.buildScratch("tree", r.home("index"), r.tip)); err != nil {
		return nil, err
	}
	if removed, err = r.removeStrays(ctx, g.Instruct); err != nil {
		return removed, err
	}
	return removed, r.instruct(ctx, g)
}

// RestoreTree makes the work tree equal to a commit, but for the state folder and what is or lies under exclude, and
// stages the difference from the tip: that commit's very objects. Uncommitted work outside exclude is lost; submodules
// stay, with a warning. Errors leave the tree at the tip or between the two; Restore helps.
func (r *Repo) RestoreTree(ctx context.Context, commit string, exclude ...string) (_ *Stage, err error) {
	defer wrap(&err, "bring the work tree to %s", short(commit))
	if err := r.need(ctx, commit); err != nil {
		return nil, err
	}
	exclude = append(slices.Clip(exclude), r.opt.State)
	left := func(p string) bool { return underAny(p, exclude) }
	changes, err := r.changes(ctx)
	if err != nil {
		return nil, err
	}
	changes = slices.DeleteFunc(changes, func(c Change) bool { return left(c.Path) })
	if err := r.restore(ctx, changes); err != nil {
		return nil, err
	}
	ops, err := r.opsBetween(ctx, r.tip, commit)
	if err != nil {
		return nil, err
	}
	ops = slices.DeleteFunc(ops, func(o op) bool { return left(o.path) || r.isSubmodule(o) })
	if r.inLFS() {
		r.fetchLarge(ctx, commit)
	}
	s := &Stage{tip: r.tip, ops: ops}
	for _, o := range ops {
		if err := checkPath(o.path); err != nil {
			return nil, err
		}
		s.Paths = append(s.Paths, o.path)
	}
	if len(ops) == 0 {
		return s, nil
	}
	env, err := r.newStage()
	if err == nil {
		err = r.put(ctx, env, ops)
	}
	if err == nil {
		err = r.writeOut(ctx, env, ops)
	}
	return s, err
}

// CheckOutBeside makes a tree in copies/NAME of the place for copies, where nothing is yet, as a fresh clone has the
// commit, with a .git. Of the tip, or "", the state folder and the instructions are as in the work tree.
func (r *Repo) CheckOutBeside(ctx context.Context, commit, name string) (err error) {
	defer wrap(&err, "check out %s beside the work tree", short(cmp.Or(commit, r.tip)))
	if err := r.checkOutIn(ctx, cmp.Or(commit, r.tip), path.Join("copies", name)); err != nil || commit != "" {
		return err
	}
	r.tidyState()
	for _, p := range append(slices.Collect(maps.Keys(r.overlaid)), r.opt.State) {
		to := path.Join("copies", name, p)
		err := errors.Join(folders.MakeParents(r.beside, to), folders.RemoveWithin(r.beside, to))
		if err == nil && !folders.Beyond(r.top, p) {
			err = folders.Copy(ctx, r.root, path.Join("tree", p), r.beside, to)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return r.sameTimes(path.Join("copies", name))
}

// checkOutIn makes a tree of a commit in a folder below the place for copies.
func (r *Repo) checkOutIn(ctx context.Context, commit, dir string) error {
	index := r.home("index-beside")
	err := errors.Join(r.need(ctx, commit), os.RemoveAll(index), os.RemoveAll(index+".lock"), r.beside.MkdirAll(path.Dir(dir), 0o700), r.beside.Mkdir(dir, 0o755))
	if err == nil {
		_, err = r.gitCall(ctx, call{
			Env: []string{"GIT_INDEX_FILE=" + index, "GIT_WORK_TREE=" + filepath.Join(r.beside.Name(), dir)}, Args: []string{"read-tree", "--reset", "-u", commit},
		})
	}
	if err != nil {
		return err
	}
	return r.buildScratch(dir, index, commit)
}

// Export makes the tree of a commit, without a .git, in a folder that is not there yet, also while the run is at work.
func (r *Repo) Export(ctx context.Context, commit, dir string) error {
	half := dir + ".half"
	defer os.RemoveAll(half)
	if err := errors.Join(os.RemoveAll(half), os.MkdirAll(half, 0o755)); err != nil {
		return err
	}
	_, err := r.gitCall(ctx, call{
		Env: []string{"GIT_INDEX_FILE=" + half + ".index", "GIT_WORK_TREE=" + half}, Args: []string{"read-tree", "--reset", "-u", commit},
	})
	if err = errors.Join(err, os.RemoveAll(half+".index")); err != nil {
		return fmt.Errorf("check out %s: %w", short(commit), err)
	}
	return os.Rename(half, dir)
}

// sameTimes gives files the times of those in the work tree: what was built of them stays new. Not with Git LFS:
// git would compare the files, see buildScratch.
func (r *Repo) sameTimes(dir string) error {
	if r.inLFS() {
		return nil
	}
	return folders.Walk(r.beside, dir, func(p string, d fs.DirEntry, err error) error {
		switch name := strings.TrimPrefix(p, dir+"/"); {
		case err != nil || name == ".git":
			return cmp.Or(err, fs.SkipDir)
		case d.Type().IsRegular():
			if info, none := r.top.Lstat(name); none == nil && info.Mode().IsRegular() {
				return r.beside.Chtimes(p, info.ModTime(), info.ModTime())
			}
		}
		return nil
	})
}

// Clear removes from the work tree what the tip does not have, ignored or not, but for the state folder.
func (r *Repo) Clear(ctx context.Context) error {
	r.unlock() // git passes over what somebody locked
	_, err := r.git(ctx, "clean", "-ffdxq", "-e", "/"+r.opt.State)
	return err
}

// Merge makes the work tree what the tip and a commit make together, but for the state folder, and stages that.
// From is a commit that both have. An error leaves the work tree as RestoreTree does.
func (r *Repo) Merge(ctx context.Context, commit, from string) (*Stage, MergeResult, error) {
	result, err := mergeOf(ctx, r.reads(), r.tip, commit, from)
	if err == nil {
		err = result.detail(ctx, r.reads(), r.tip, commit)
	}
	if err != nil {
		return nil, result, fmt.Errorf("merge %s: %w", short(commit), err)
	}
	s, err := r.RestoreTree(ctx, result.Commit, r.opt.State)
	return s, result, err
}

// Guard says which paths of the work tree decide what agents do there.
type Guard struct {
	Base     string                 // commit, a full hash
	Instruct func(path string) bool // is to be as in Base, or nowhere
}

// noFile is what programs may wait for.
const noFile = fs.ModeNamedPipe | fs.ModeSocket | fs.ModeDevice | fs.ModeIrregular

// removeStrays looks through all of the tree, also other repositories and locked folders. It follows no link.
func (r *Repo) removeStrays(ctx context.Context, instruct func(string) bool) (found []string, err error) {
	err = folders.Walk(r.top, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
			return nil // what cannot be read instructs nobody
		case err != nil:
			return err
		case d.IsDir() && (p == r.opt.State || path.Base(p) == ".git"):
			return fs.SkipDir
		case !d.IsDir() && p != ".git" && p != r.opt.State && (d.Type()&noFile != 0 || instruct(p)):
			found = append(found, p)
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	known, err := r.reads().entries(ctx, r.tip, found)
	found = slices.DeleteFunc(found, func(p string) bool {
		return slices.ContainsFunc(known, func(e entry) bool { return e.Path == p && e.Mode != "040000" })
	})
	for _, p := range found {
		if err == nil {
			err = folders.RemoveWithin(r.top, p)
		}
	}
	return found, err
}

// instruct writes the base's instructions that differ from the tip's. Only others can have changed these.
func (r *Repo) instruct(ctx context.Context, g Guard) error {
	if g.Base == "" {
		return nil
	}
	if err := r.need(ctx, g.Base); err != nil {
		return err
	}
	ops, err := r.opsBetween(ctx, r.tip, g.Base)
	ops = slices.DeleteFunc(ops, func(o op) bool { return !g.Instruct(o.path) || Under(o.path, r.opt.State) })
	if err != nil || len(ops) == 0 {
		return err
	}
	env, err := r.copyIndex("index-base")
	if err == nil {
		err = r.put(ctx, env, ops)
	}
	if err == nil {
		err = r.writeOut(ctx, env, ops)
	}
	r.overlaid = map[string]string{}
	for _, o := range ops {
		r.overlaid[o.path] = r.fingerprint(o.path)
	}
	return err
}

// revert brings files that Prepare put there back to the tip. One that the agent changed shows as a change.
func (r *Repo) revert(ctx context.Context, changes []Change) ([]Change, error) {
	var back, rest []Change
	for _, c := range changes {
		if was, ok := r.overlaid[c.Path]; ok && was == r.fingerprint(c.Path) {
			back = append(back, c)
		} else {
			rest = append(rest, c)
		}
	}
	if err := r.restore(ctx, back); err != nil {
		return nil, fmt.Errorf("bring instructions to agents back: %w", err)
	}
	r.overlaid = nil
	return rest, nil
}

// fingerprint is different for each content of a path, including none.
func (r *Repo) fingerprint(p string) string {
	what, _ := r.look(p)
	switch what {
	case File, Executable:
		data, err := r.readState(p)
		return fmt.Sprint(what, " ", blobID(data), err)
	case Symlink:
		target, err := r.top.Readlink(p)
		return fmt.Sprint(what, " ", target, err)
	}
	return string(what)
}

// scratchTemp is where it is made: beside the work tree, where no agent can write.
const scratchTemp = "scratch"

// keepInTree has git refuse commits, branches and stashes there, before it takes anything out of the tree: what only this
// .git has would be lost when it is made anew.
const keepInTree = `#!/bin/sh
[ "$1" = prepared ] && grep -qE ' (HEAD|refs/(heads/.*|stash))$' || exit 0
echo 'reprise commits what is in the tree, and keeps nothing else of this .git: leave the work in the tree' >&2
exit 1
`

// buildScratch puts a .git at a commit into a tree, as if made anew, in place of whatever is there. It shows the
// branch, the default branch, their history, and what is uncommitted. It borrows the user's objects by path, so the
// agent has to be able to read those. No git command of this package ever looks at it.
func (r *Repo) buildScratch(tree, index, commit string) (err error) {
	defer wrap(&err, "make .git for the agent")
	in := r.beside
	if tree == "tree" {
		in = r.root
	}
	files := map[string]string{"HEAD": "ref: " + r.ref + "\n", "config": r.src.basics(), "objects/info/alternates": r.objects() + "\n"}
	if name := r.src.DefaultBranch; name != "" {
		files["refs/heads/"+name], files["refs/remotes/origin/"+name] = r.src.defaultHead+"\n", r.src.defaultHead+"\n"
	}
	files[r.ref] = commit + "\n"
	if err := in.RemoveAll(scratchTemp); err != nil {
		return err
	}
	for name, text := range files {
		name = path.Join(scratchTemp, name)
		if err := errors.Join(in.MkdirAll(path.Dir(name), 0o755), in.WriteFile(name, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	if err := in.Mkdir(path.Join(scratchTemp, "info"), 0o755); err != nil {
		return err
	}
	for name, from := range map[string]string{"index": index, "shallow": r.home("shallow"), "info/attributes": r.home("info/attributes")} {
		if err := folders.CopyFile(filepath.Join(in.Name(), scratchTemp, name), from); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if tree == "tree" {
		err := errors.Join(in.Mkdir(path.Join(scratchTemp, "hooks"), 0o755), in.WriteFile(path.Join(scratchTemp, "hooks/reference-transaction"), []byte(keepInTree), 0o755))
		if err != nil {
			return err
		}
	}
	if r.inLFS() {
		// Git compares files that are as old as its index, and here it could not
		// compare those of Git LFS.
		soon := time.Now().Add(time.Second)
		if err := in.Chtimes(path.Join(scratchTemp, "index"), soon, soon); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := folders.RemoveWithin(in, tree+"/.git"); err != nil {
		return err
	}
	return in.Rename(scratchTemp, tree+"/.git")
}
