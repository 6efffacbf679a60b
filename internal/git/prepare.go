package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Prepare makes the work tree ready for an agent. It makes the scratch .git
// anew, see resetScratch. It removes instructions to agents that the tip does
// not have, even if a .gitignore hides them, because an agent could have
// written that, too. Other hidden files stay, such as what a build has
// installed. It removes pipes, sockets and devices, which git does not see and
// on which the next program may wait for ever. And it replaces the tip's
// instructions by those of the base, until the next call of Changes. The state
// folder is left alone. It returns what was removed.
func (r *Repo) Prepare(ctx context.Context, g Guard) ([]string, error) {
	if err := r.standing.Still(); err != nil {
		return nil, err
	}
	r.unlock()
	if err := r.returnAside(); err != nil {
		return nil, err
	}
	r.removeEmpty()
	if err := errors.Join(r.fillLarge(ctx), r.resetScratch(ctx)); err != nil {
		return nil, fmt.Errorf("make the work tree ready: %w", err)
	}
	var removed []string
	known, err := r.files(ctx)
	if err == nil {
		removed, err = r.removeStrays(known, g.Instruct)
	}
	if err == nil {
		err = r.instruct(ctx, g)
	}
	if err != nil {
		return removed, fmt.Errorf("make the work tree ready: %w", err)
	}
	return removed, nil
}

// RestoreTree makes the work tree equal to a commit, but for paths that are or
// lie under exclude or in the state folder, and stages what then differs from the tip: the very objects
// of that commit. What is uncommitted outside exclude is gone first.
// Submodules stay as they are, with a warning. Errors leave the work tree at
// the tip or between the two; RestoreAll helps.
func (r *Repo) RestoreTree(ctx context.Context, commit string, exclude ...string) (*Stage, error) {
	s, err := r.restoreTree(ctx, commit, exclude)
	if err != nil {
		return nil, fmt.Errorf("bring the work tree to %s: %w", short(commit), err)
	}
	return s, nil
}

func (r *Repo) restoreTree(ctx context.Context, commit string, exclude []string) (*Stage, error) {
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
	if err := r.hold(ctx, s); err != nil {
		return nil, err
	}
	if err := r.writeOut(ctx, ops); err != nil {
		return nil, err
	}
	s.pointers, err = r.stagedPointers(ctx, ops)
	return s, err
}

// At makes the work tree equal to a commit while do is at work, and to the tip again after it.
// What is not committed is lost, but for files that are ignored in both commits. After an
// interruption, the tree is at the tip when it is opened again.
func (r *Repo) At(ctx context.Context, commit string, do func() error) error {
	if err := errors.Join(r.standing.Still(), r.need(ctx, commit)); err != nil {
		return err
	}
	tip := r.tip
	err := r.turn(ctx, commit)
	if err == nil {
		err = do()
	}
	return errors.Join(err, r.turn(context.WithoutCancel(ctx), tip))
}

// turn makes the work tree, with its .git for programs, equal to a commit, which counts as the
// tip from then on.
func (r *Repo) turn(ctx context.Context, commit string) error {
	r.tip = commit
	err := r.reset(ctx)
	if err == nil {
		err = errors.Join(r.fillLarge(ctx), r.resetScratch(ctx))
	}
	if err != nil {
		return fmt.Errorf("bring the work tree to %s: %w", short(commit), err)
	}
	return nil
}

// Merge makes the work tree what the tip and a commit make together, the state folder as
// the tip has it, and stages that. From is a commit that both have. An error leaves the
// work tree as RestoreTree does.
func (r *Repo) Merge(ctx context.Context, commit, from string) (*Stage, MergeResult, error) {
	result, err := mergeOf(ctx, r.reads(), r.tip, commit, from)
	if err == nil {
		err = r.keepOurs(ctx, &result, r.tip)
	}
	if err == nil {
		err = result.Detail(ctx, r.reads(), r.tip, commit, func(string) bool { return true })
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

// removeStrays looks through all of the tree, also through repositories that
// somebody made there, and through folders that somebody locked. It follows no
// symbolic link.
func (r *Repo) removeStrays(known []entry, instruct func(string) bool) (removed []string, err error) {
	has := map[string]bool{}
	for _, e := range known {
		has[e.Path] = true
	}
	look := func() (locked bool, err error) {
		err = folders.Walk(r.top, ".", func(p string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrPermission):
				locked = true
				return nil
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case p == ".git" || p == r.opt.State || d.IsDir() && path.Base(p) == ".git":
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			case d.IsDir(), has[p]:
				return nil
			case d.Type()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice|fs.ModeIrregular) == 0 && !instruct(p):
				return nil
			}
			if err := folders.RemoveWithin(r.top, p); err != nil {
				return fmt.Errorf("remove %s: %w", p, err)
			}
			removed = append(removed, p)
			return nil
		})
		return locked, err
	}
	locked, err := look()
	if err == nil && locked {
		folders.Unlock(r.top, ".")
		_, err = look() // what still cannot be read instructs nobody
	}
	return removed, err
}

// instruct writes what the base has of the instructions in which it differs
// from the tip. Only others can have changed these on the branch, so there is
// mostly nothing to do.
func (r *Repo) instruct(ctx context.Context, g Guard) error {
	if g.Base == "" || g.Base == r.tip {
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
	r.dirty, r.indexed = true, nil
	if err = r.put(ctx, nil, entriesOf(ops)); err == nil {
		err = r.writeOut(ctx, ops)
	}
	r.overlaid = map[string]string{}
	for _, o := range ops {
		r.overlaid[o.path] = r.fingerprint(o.path)
	}
	return err
}

// revert brings the files that Prepare has put there for an agent back to the
// tip. A file that the agent has changed stays, and shows as a change.
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
		return fmt.Sprint(what, " ", r.blobID(data), err)
	case Symlink:
		target, err := r.top.Readlink(p)
		return fmt.Sprint(what, " ", target, err)
	}
	return string(what)
}

// resetScratch sees to it that there is a .git in the work tree as if it were made
// anew, in place of whatever is there. It shows the agent the branch, the default branch and their history,
// and git status and git diff what is uncommitted. It borrows the objects of
// the user's repository by path, so the agent has to be able to read those. No git
// command of this package ever looks at it.
func (r *Repo) resetScratch(ctx context.Context) error {
	if err := r.syncIndex(ctx); err != nil {
		return fmt.Errorf("make .git for the agent: %w", err)
	}
	if err := r.buildScratch(); err != nil {
		return fmt.Errorf("make .git for the agent: %w", err)
	}
	return nil
}

// scratchTemp is where it is made: beside the work tree, where no agent can write.
const scratchTemp = "scratch"

// buildScratch makes all of it, and puts it in the place of what is there.
func (r *Repo) buildScratch() error {
	if err := r.root.RemoveAll(scratchTemp); err != nil {
		return err
	}
	for _, dir := range []string{"objects/info", "refs/heads", "info"} {
		if err := r.root.MkdirAll(path.Join(scratchTemp, dir), 0o755); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"HEAD": "ref: " + r.ref + "\n", "config": r.src.basics(), "packed-refs": r.scratchRefs(), "objects/info/alternates": r.objects() + "\n",
	} {
		if err := r.root.WriteFile(path.Join(scratchTemp, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, name := range []string{"index", "shallow", "info/attributes"} {
		if err := folders.CopyFile(filepath.Join(r.opt.Root, scratchTemp, name), r.home(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if r.inLFS() {
		// Git compares files that are as old as its index, and here it could not
		// compare those of Git LFS.
		soon := time.Now().Add(time.Second)
		if err := r.root.Chtimes(path.Join(scratchTemp, "index"), soon, soon); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := folders.RemoveWithin(r.top, ".git"); err != nil {
		return err
	}
	return r.root.Rename(scratchTemp, "tree/.git")
}

// scratchRefs is a packed-refs file, which git wants in order.
func (r *Repo) scratchRefs() string {
	lines := []string{r.tip + " " + r.ref}
	if name := r.src.DefaultBranch; name != "" {
		if "refs/heads/"+name != r.ref {
			lines = append(lines, r.src.defaultHead+" refs/heads/"+name)
		}
		lines = append(lines, r.src.defaultHead+" refs/remotes/origin/"+name)
	}
	slices.SortFunc(lines, func(a, b string) int {
		return strings.Compare(a[strings.IndexByte(a, ' '):], b[strings.IndexByte(b, ' '):])
	})
	return "# pack-refs with: sorted\n" + strings.Join(lines, "\n") + "\n"
}
