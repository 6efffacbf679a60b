package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// maxPatch is the most of a broken call's changes that is kept, in bytes.
const maxPatch = 1 << 20

// Tree is the branch as package engine wants to see it.
type Tree struct {
	*git.Repo
	Base string // commit that the branch started from: its instructions to agents count
}

// Dir is the absolute path of the work tree.
func (t Tree) Dir() string { return t.Tree() }

// At gives the tree of a branch that started from a commit.
func (t Tree) At(base string) engine.BranchTree { return Tree{t.Repo, base} }

// Recover brings back the tree of a commit, but for a folder, and names what that changes.
func (t Tree) Recover(ctx context.Context, commit, exclude string) (engine.StagedTree, []string, error) {
	stage, err := t.RestoreTree(ctx, commit, exclude)
	if err != nil {
		return nil, nil, err
	}
	return staged{t, stage}, stage.Paths, nil
}

// Prepare makes the tree's .git anew, and leaves the next agent no hidden instructions of another one.
func (t Tree) Prepare(ctx context.Context) error {
	_, err := t.Repo.Prepare(ctx, git.Guard{Base: t.Base, Instruct: pipelines.Instructs})
	return err
}

// Changes lists what differs from the tip, with what decides whether a phase may: kind, size and first bytes of files.
func (t Tree) Changes(ctx context.Context) ([]phases.Change, error) {
	changes, err := t.Repo.Changes(ctx)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	top, err := os.OpenRoot(t.Tree())
	if err != nil {
		return nil, err
	}
	defer top.Close()
	out := make([]phases.Change, len(changes))
	bare := bareFolders{tree: t, known: map[string]bool{}, has: func(name string) bool {
		_, err := top.Lstat(name)
		return err == nil
	}}
	dropped := false
	for i, c := range changes {
		out[i] = phases.Change{
			Path: c.Path, Kind: kindOf(c), New: c.Was == git.None, Gone: c.Type == git.None, Size: c.Size,
			Runs: c.Type == git.Executable && c.Was != git.Executable, Alias: c.Alias, LinkedFrom: c.LinkedFrom, Large: c.Large, Filter: c.Filter, Ignored: c.Ignored,
		}
		if !plainFile(c.Type) || metadata.CheckPath(c.Path) != nil {
			continue // it is not kept anyway
		}
		if in, err := bare.above(ctx, c.Path); err != nil {
			return nil, fmt.Errorf("look around %s: %w", c.Path, err)
		} else if in && out[i].New {
			out[i].Kind = phases.NestedKind
			continue
		}
		if err := t.read(ctx, top, &out[i], plainFile(c.Was)); err != nil {
			return nil, fmt.Errorf("look at %s: %w", c.Path, err)
		}
		if out[i].Runs && out[i].Kind == phases.FileKind && out[i].Holds != phases.ScriptContent && (!out[i].New || out[i].Holds != phases.ProgramContent) {
			if err := top.Chmod(c.Path, 0o644); err != nil { // such as of chmod -R: nothing needs that right
				return nil, fmt.Errorf("take the right to execute from %s: %w", c.Path, err)
			}
			dropped = true
		}
	}
	if dropped {
		return t.Changes(ctx)
	}
	return out, nil
}

// CopyDir is the absolute path of the copy of that name.
func (t Tree) CopyDir(name string) string { return filepath.Join(t.Copies(), name) }

// Copy makes a tree of a commit ("": the tip), with the run's folder and what the setup made.
func (t Tree) Copy(ctx context.Context, commit, name string) (remove func() error, err error) {
	dir := t.CopyDir(name)
	remove = func() error { return folders.RemoveAll(dir) }
	if err := remove(); err != nil {
		return nil, err
	}
	err = t.CheckOutBeside(ctx, commit, name)
	if err == nil {
		err = storeBeside(t).place(ctx, dir)
	}
	if err == nil {
		err = folders.Relocate(dir, t.Tree())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a copy of the tree: %w", err), remove())
	}
	return remove, nil
}

// Hidden lists what was written since a time and is ignored, each with the rule for it: file, line and pattern.
func (t Tree) Hidden(ctx context.Context, since time.Time) (out []engine.HiddenFiles, err error) {
	all, err := t.Repo.Hidden(ctx, since)
	for _, h := range all {
		out = append(out, engine.HiddenFiles(h))
	}
	return out, err
}

func plainFile(t git.Type) bool { return t == git.File || t == git.Executable }

// read notes what a file holds, and what the tip has there if that matters. A file with a second hard link is not
// read: it may be one from outside of the tree.
func (t Tree) read(ctx context.Context, top *os.Root, c *phases.Change, was bool) error {
	f, info, err := folders.Open(top, c.Path)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, folders.ErrNoFile) {
		c.Kind = phases.OtherKind // it cannot be committed either
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
		c.Kind = phases.OtherKind
		return nil
	}
	head, err := io.ReadAll(io.LimitReader(f, phases.HeadSize))
	if err != nil {
		return err
	}
	return t.judge(ctx, c, head, was, func() ([]byte, error) {
		rest, err := io.ReadAll(io.LimitReader(f, phases.MaxFile))
		return append(head, rest...), err
	})
}

// judge notes what a file with this head holds and, if that is no text, what the tip has there or, if that is text and whole
// is elsewhere in the tip, that it was moved or copied.
func (t Tree) judge(ctx context.Context, c *phases.Change, head []byte, was bool, whole func() ([]byte, error)) error {
	if c.Holds = phases.ContentOf(head); !c.Holds.Opaque() {
		return nil
	}
	if was {
		before, err := t.Held(ctx, c.Path, phases.HeadSize)
		if c.Held = phases.ContentOf(before); err != nil || c.Held.Opaque() {
			return err
		}
	}
	data, err := whole()
	if err != nil {
		return err
	}
	known, err := t.Known(ctx, data)
	if known {
		c.Held = c.Holds
	}
	return err
}

func kindOf(c git.Change) phases.ChangeKind {
	what := c.Type
	if what == git.None {
		what = c.Was
	}
	switch what {
	case git.File, git.Executable:
		return phases.FileKind
	case git.Symlink:
		return phases.SymlinkKind
	case git.Repository:
		return phases.NestedKind
	}
	return phases.OtherKind
}

// Patch gives everything that differs from the tip, in git's format; a line that says so if it exceeds maxPatch.
func (t Tree) Patch(ctx context.Context) ([]byte, error) {
	patch, err := t.Repo.Patch(ctx, maxPatch)
	if errors.Is(err, git.ErrTooLarge) {
		return fmt.Appendf(nil, "What the call had changed is not kept: %v\n", err), nil
	}
	return patch, err
}

// Diff gives how the tip differs from a commit, the run's own folder left out.
func (t Tree) Diff(ctx context.Context, from string) (string, metadata.Diff, error) {
	return t.diff(ctx, from, nil)
}

// WithOthers gives a commit, on no branch, with what another one has and what others than the run have put on the
// branch since a third one.
func (t Tree) WithOthers(ctx context.Context, commit, since string) (string, error) {
	log, err := t.Log(ctx, since)
	for _, c := range slices.Backward(log) {
		ours := slices.ContainsFunc(c.Trailers, func(t git.Trailer) bool { return t.Key == "Reprise-Issue" })
		if err == nil && !ours && len(c.Parents) > 0 {
			commit, err = t.WithBase(ctx, commit, c.Parents[0], c.Commit)
		}
	}
	return commit, err
}

func (t Tree) diff(ctx context.Context, from string, s *git.Stage) (string, metadata.Diff, error) {
	return t.Repo.Diff(ctx, from, s, path.Dir(phases.Folder("x")))
}

// Commit makes one commit and, where asked, pushes it. An *engine.NotPushed: it was made here and got no further.
func (t Tree) Commit(ctx context.Context, c engine.BranchCommit) error {
	g := git.Commit{Message: c.Message, Files: c.Files, Moves: c.Moves, Gone: c.Gone, Shelve: c.Shelve, Aside: c.Aside, States: c.States, Time: c.At.UTC().Truncate(time.Second)}
	if s, ok := c.Staged.(staged); ok {
		g.Stage = s.stage
	}
	if err := t.besides(ctx, c, &g); err != nil {
		return err
	}
	made, err := t.Repo.Commit(ctx, g)
	var push *git.PushError
	if refused := errors.As(err, &push); err != nil && (made != "" || c.Shelve && refused) { // then the folder stays where it is
		kept := &engine.NotPushed{Err: err}
		if refused {
			kept.Rule, kept.Withdraw = push.Rule, push.Withdraw
		}
		return kept
	}
	return err
}

// provisions are what the setup of a pipeline makes for a tree, kept beside that.
type provisions struct {
	SetupStore
	tree     Tree
	slot     slot
	commands []pipelines.Setup
}

// provisionsFor gives what the engine sets up; nil if there are no commands.
func provisionsFor(tree Tree, in slot, commands []pipelines.Setup) engine.Provisions {
	if len(commands) == 0 {
		return nil
	}
	return provisions{storeBeside(tree), tree, in, commands}
}

// storeBeside is where it is kept, beside the tree.
func storeBeside(tree Tree) SetupStore { return SetupStore{Root: filepath.Dir(tree.Dir())} }

// ofWork is what the digest of inputs that come from the work goes on with, before what that is.
const ofWork = " of "

// Due says whether the setup has to run.
func (p provisions) Due(ctx context.Context) (digest string, due bool, err error) {
	if digest, err = p.digest(p.commands); err != nil {
		return "", false, err
	}
	r, _ := p.read() // what cannot be read is not there
	key := digest
	if strings.HasPrefix(r.Digest, digest+ofWork) {
		if key, err = p.ofWork(ctx, digest); err != nil {
			return "", false, err
		}
	}
	return digest, p.SetupStore.Due(key) || !p.slot.holds(key), nil
}

// ofWork is the digest under which the work is served that has such inputs, and nothing else.
func (p provisions) ofWork(ctx context.Context, digest string) (string, error) {
	code, err := p.tree.Code(ctx)
	return digest + ofWork + code, err
}

// OfWork says whether the setup was made of inputs that come from the work.
func (p provisions) OfWork() bool {
	r, _ := p.read() // nothing was made
	return strings.Contains(r.Digest, ofWork)
}

// Make runs the commands in a tree without ignored files, so that only theirs are kept. That tree is the base if that has
// the same inputs: then nothing that an agent has written runs. Changed work is restored.
func (p provisions) Make(ctx context.Context, digest string, run func() (bool, error)) error {
	if err := errors.Join(p.forget(), p.tree.Clear(ctx)); err != nil {
		return err
	}
	base, err := "", error(nil)
	if _, none := p.tree.RestoreTree(ctx, p.tree.Base); none == nil { // else nobody knows what the base has, as of an imported run
		base, err = p.digest(p.commands)
	}
	if err == nil && base != digest {
		if err = p.tree.Restore(ctx); err == nil {
			digest, err = p.ofWork(ctx, digest)
		}
	}
	good := false
	if err = errors.Join(err, p.slot.clear(digest)); err == nil {
		good, err = run()
	}
	if err == nil {
		err = p.take(ctx, digest)
	}
	// What was begun is cleared away, also when this process is told to stop.
	err = errors.Join(err, p.tree.Restore(context.WithoutCancel(ctx)))
	if err != nil || !good {
		return errors.Join(err, p.forget())
	}
	return errors.Join(p.slot.keep(digest), p.Give(ctx))
}

// take keeps what is in the tree and ignored.
func (p provisions) take(ctx context.Context, digest string) error {
	left, err := p.tree.Hidden(ctx, time.Time{})
	if err != nil {
		return err
	}
	var paths []string
	for _, h := range left {
		paths = append(paths, h.Path)
	}
	return p.Take(digest, paths)
}
