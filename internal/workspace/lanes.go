package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// lanesBeside is the folder of the trees of parts beside the tree of their run.
func lanesBeside(tree string) string { return filepath.Join(filepath.Dir(tree), "lanes") }

// laneTrees are the trees of parts that are done at the same time, each with homes of its own for programs.
type laneTrees struct {
	dir     string      // that has a folder for each
	tree    git.Options // as the tree of the run was opened
	base    string      // commit that the branch started from
	slot    func(*git.Repo) (slot, error)
	opts    agents.Options
	calls   func(agents.Options) func(string) (engine.Agent, error)
	secrets *secrets.Finder

	requested bool           // somebody has asked for several at once, so that there is no other way
	tell      func(of error) // that parts are done one after another, because of an error
	once      sync.Once
	old       error // that git is too old
	mu        sync.Mutex
	open      map[string]*lane
}

// lane is the tree of a part.
type lane struct {
	Tree
	slot   slot
	engine *engine.Engine
}

// Available reports whether there can be trees of parts. Unasked for, an old git has parts go one after another.
func (t *laneTrees) Available(ctx context.Context) bool {
	t.once.Do(func() {
		if t.old = git.ForParts(context.WithoutCancel(ctx)); t.old != nil && !t.requested {
			t.tell(t.old)
		}
	})
	return t.old == nil || t.requested
}

// Open gives the engine of a part, in a tree of its own, as it was left or made anew at a commit.
func (t *laneTrees) Open(ctx context.Context, like *engine.Engine, part, commit string) (*engine.Engine, error) {
	t.mu.Lock()
	l := t.open[part]
	t.mu.Unlock()
	if l != nil {
		return l.engine, nil
	}
	if t.Available(ctx); t.old != nil {
		return nil, fmt.Errorf("%w: install a newer one, or start again with --jobs 1", t.old)
	}
	o, dir := t.tree, filepath.Join(t.dir, part)
	o.Aside = filepath.Join(o.Source.CommonDir, "objects")
	if o.DryRun {
		o.Aside = filepath.Join(o.Root, "git", "objects")
	}
	if err := folders.Straighten(dir); err != nil {
		return nil, err
	}
	o.Root, o.Base, o.Remote, o.Own, o.Keep, o.Fit = dir, commit, "", "", "", nil
	repo, err := git.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	l = &lane{Tree: Tree{repo, t.base}}
	if l.slot, err = t.slot(repo); err != nil {
		return nil, errors.Join(err, repo.Close())
	}
	opts := t.opts.Beside(filepath.Join(dir, "homes"), l.slot.homes(), TempMark(repo.Tree()), l.slot.mark())
	opts.Sweep()
	e := *like
	e.Tree, e.Lane, e.Base = l, l, opts.Unchanged()
	e.Checker, e.Agent, e.Provisions, e.SecretFinder = opts, t.calls(opts), provisionsFor(l.Tree, l.slot, like.Plan.Setup), leakGuard{t.secrets, l.Tree}
	l.engine = &e
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[part] = l
	return l.engine, nil
}

// Existing names the parts that have a tree.
func (t *laneTrees) Existing() (parts []string) {
	all, _ := os.ReadDir(t.dir) // there may be none
	for _, e := range all {
		if _, err := os.Lstat(filepath.Join(t.dir, e.Name(), "git")); err == nil && e.IsDir() {
			parts = append(parts, e.Name())
		}
	}
	return parts
}

// Remove removes the tree of a part. The homes stay, as a session may be gone on with.
func (t *laneTrees) Remove(part string) (err error) {
	t.mu.Lock()
	l := t.open[part]
	delete(t.open, part)
	t.mu.Unlock()
	if l != nil {
		err = errors.Join(l.Repo.Close(), l.slot.free())
	}
	dir := filepath.Join(t.dir, part)
	err = errors.Join(err, folders.Straighten(dir))
	entries, _ := os.ReadDir(dir) // there may be none
	for _, e := range entries {
		if e.Name() != "homes" && filepath.Ext(e.Name()) != ".patch" {
			err = errors.Join(err, folders.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// Close lets go of all trees.
func (t *laneTrees) Close() (err error) {
	if t == nil {
		return nil
	}
	for _, l := range t.open {
		err = errors.Join(err, l.Repo.Close(), l.slot.free())
	}
	return err
}

// Commit refuses: one process writes the branch, and not from this tree.
func (l *lane) Commit(context.Context, engine.BranchCommit) error {
	return errors.New("a part that is done beside others cannot commit to the branch; start again with --jobs 1")
}

// MoveTo brings the tree to the code of one commit, with the run's folder of another.
func (l *lane) MoveTo(ctx context.Context, code, folder string, at time.Time) error {
	commit, err := l.Repo.Overlay(ctx, code, folder, at.UTC())
	if err == nil {
		err = l.Repo.MoveTo(ctx, commit)
	}
	return err
}

// Keep makes a commit of the code that is staged.
func (l *lane) Keep(ctx context.Context, s engine.StagedTree, parent, message string, at time.Time) (string, error) {
	return l.Repo.Keep(ctx, s.(staged).stage, parent, message, at.UTC())
}

// Merge makes a commit of what branch and part changed since base. At a conflict it has what the branch has.
func (l *lane) Merge(ctx context.Context, base, tip, part string, at time.Time, refused func(string) bool) (engine.MergedBase, error) {
	commit, conflicts, err := l.Repo.Combine(ctx, base, tip, part, at.UTC(), refused)
	m := engine.MergedBase{Commit: commit, Versions: map[string][]byte{}}
	if err == nil && len(conflicts) == 0 {
		m.Diff, err = l.Repo.Between(ctx, tip, commit, ".reprise")
	}
	var left []string
	for _, c := range conflicts {
		m.Paths = append(m.Paths, c.Path)
		for i, side := range []string{"base", "branch", "yours"} {
			v, name := c.Sides[i], path.Join(side, c.Path)
			if v.Data != nil && metadata.CheckPath(c.Path) == nil && !crowded(m.Versions, name) {
				m.Versions[name] = v.Data
			} else if v.Object != "" && !slices.Contains(left, c.Path) {
				left = append(left, c.Path)
			}
		}
	}
	if len(left) > 0 {
		m.Versions["left-out.txt"] = fmt.Appendf(nil, "Not all of what these paths have is here: they are too many, too large, or no files.\n"+
			"git show COMMIT:PATH shows it. The commits are: base %s, branch %s, yours %s\n\n%s\n", base, tip, part, strings.Join(left, "\n"))
	}
	return m, err
}

// crowded reports whether files cannot lie beside name, which git gives to what a side had elsewhere.
func crowded(files map[string][]byte, name string) bool {
	for other := range files {
		if git.Under(other, name) || git.Under(name, other) {
			return true
		}
	}
	return false
}
