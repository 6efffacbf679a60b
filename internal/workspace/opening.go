package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// Open finds the run of an issue, or prepares a new one. Nothing is committed yet.
func Open(ctx context.Context, env environ.Env, o Options) (*Workspace, error) {
	if err := containment(o.Sandbox).Check(); err != nil {
		return nil, exit.AsUsage(err)
	}
	tried, err := os.MkdirTemp("", "reprise-")
	if err != nil {
		return nil, exit.AsUsage(fmt.Errorf("TMPDIR names %q, where no folder can be made: make it one of yours, or set TMPDIR to another (%w)", os.TempDir(), err))
	}
	_ = os.Remove(tried) // it is empty
	w := &opening{Workspace: &Workspace{Recorded: Recorded{Env: env}, clean: func() {}}, o: o}
	if err := w.find(ctx); err != nil {
		return nil, err
	}
	if err := w.openTree(ctx); err != nil {
		w.clean()
		return nil, err
	}
	err = w.load(ctx)
	if err == nil {
		err = w.takeNotes(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w.Workspace, nil
}

// opening is a workspace that is being opened.
type opening struct {
	*Workspace
	o     Options
	local *metadata.Run // what the process before had saved and not committed
}

// find finds the repository, and which issue is meant.
func (w *opening) find(ctx context.Context) (err error) {
	if w.Source, err = backendOf(ctx).Find(ctx, w.o.Repo); err != nil {
		return err
	}
	switch {
	case w.o.Given != nil:
		w.Issue = *w.o.Given
	case w.o.File != "":
		w.Issue, err = issue.ReadFile(w.o.File, w.Env.Stdin)
	default:
		w.Issue.ID, w.there, w.nowhere, err = w.o.Query.Find(w.Env, w.Source)
	}
	switch {
	case err != nil:
		return err
	case w.o.anew() && w.o.File == "" && w.o.Given == nil && w.there == nil:
		return exit.Usagef("--dry-run rehearses an issue from its beginning: give --issue-file FILE (issue %s cannot be read from GitHub: %s)", w.Issue.ID, w.nowhere)
	}
	return nil
}

// openTree opens branch and work tree.
func (w *opening) openTree(ctx context.Context) error {
	// Parts of a run are done beside each other here, too.
	root, err := HomeFolder(w.Env, w.Source, w.Issue.ID+text.If(w.o.Only != "", "."+w.o.Only))
	if err != nil {
		return err
	}
	helper, err := SandboxHelper()
	if err != nil {
		return err
	}
	w.Branch = w.Env.Branch(w.Issue.ID)
	opts := git.Options{
		Signing: &git.Signing{},
		Hold:    sandbox.Converters(containment(w.o.Sandbox), helper, w.Env.Environ),
		Source:  w.Source, Root: root, Branch: w.Branch, Base: w.o.Base, State: phases.Folder(w.Issue.ID), Keep: phases.RecordName(w.Issue.ID),
		TakeOther: w.o.TakeTheirs, Scrap: phases.RecordFile(w.Issue.ID), Locked: endLeftovers, Still: w.o.Still,
		Fit: func(read func(string) ([]byte, error)) error {
			_, err := w.parse(read(phases.RecordFile(w.Issue.ID)))
			return err
		},
	}
	if w.Source.UserName == "" || w.Source.UserEmail == "" {
		opts.Name, opts.Email = w.o.Author[0], w.o.Author[1]
	}
	if w.o.Token != "" {
		opts.Token = func(context.Context) (string, error) { return w.o.Token, nil }
	}
	if w.o.Only == "" {
		w.local = savedRun(root, w.Issue.ID)
	} else { // the task goes on with what is pushed
		w.Left = savedRun(root, w.Issue.ID)
		opts.Own = phases.PartRefs(w.Issue.ID) + w.o.Only
	}
	if w.Push, err = w.pushes(ctx); err != nil {
		return err
	}
	if w.Push {
		opts.Remote = "origin"
	}
	if w.o.Scratch {
		if opts.Root, err = os.MkdirTemp("", "reprise-"); err != nil {
			return err
		}
		opts.DryRun = true
		w.local, w.clean = nil, func() { _ = folders.RemoveAll(opts.Root) } // an empty, temporary folder; the system removes what is left
		if w.o.anew() {
			opts.Branch = filepath.Base(opts.Root) // one that nobody has
		} else if _, err := RecordReader(ctx, w.Source, w.Branch, w.Issue.ID)(phases.RecordFile(w.Issue.ID)); err == nil {
			opts.Base = w.Branch // perhaps only origin has the branch
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	w.backend, w.tree = backendOf(ctx), opts
	w.Repo, err = w.backend.Open(ctx, opts)
	return homeless(err, root)
}

// homeless says of an error at the folder of a run how runs get another one.
func homeless(err error, root string) error {
	at := new(fs.PathError)
	if !errors.As(err, &at) || !(at.Op == "mkdir" && strings.HasPrefix(root+"/", at.Path+"/") || errors.Is(err, fs.ErrPermission) && filepath.Dir(at.Path) == root) {
		return err
	}
	return fmt.Errorf("%w: runs have their folders there; change its rights, or name another folder in REPRISE_HOME", err)
}

// endLeftovers ends what a killed process has left at work in a run's tree, and in those of parts beside it.
func endLeftovers(tree string) string {
	n := endIn(tree)
	lanes, _ := filepath.Glob(filepath.Join(git.EscapeGlob(lanesBeside(tree)), "*", "tree")) // the pattern is well formed
	for _, lane := range lanes {
		n += endIn(lane)
	}
	if n == 0 {
		return ""
	}
	return leftAtWork(n, tree)
}

func leftAtWork(n int, dir string) string {
	return fmt.Sprintf("a call that was killed had left %s at work in %s: ended", text.Plural(n, "program"), dir)
}

// endIn ends what a killed process has left at work in a tree: it would write into what the next call does.
func endIn(tree string) int { return sandbox.EndLeftovers(tree) + endInCopies(filepath.Dir(tree)) }

// endInCopies does so in the copies of a tree below a folder.
func endInCopies(dir string) (n int) {
	left, _ := os.ReadDir(filepath.Join(dir, "copies")) // mostly there are none
	for _, copy := range left {
		dir := filepath.Join(dir, "copies", copy.Name())
		n += sandbox.EndLeftovers(dir)
		_ = folders.RemoveAll(dir) // nor does it get in anybody's way
	}
	return n
}

// pushes says whether commits go to origin: what the command line says, else what the run was started with.
func (w *opening) pushes(ctx context.Context) (bool, error) {
	if w.o.Push != nil || w.o.Scratch {
		return w.o.Push != nil && *w.o.Push, nil
	}
	data, err := RecordReader(ctx, w.Source, w.Branch, w.Issue.ID)(phases.RecordFile(w.Issue.ID))
	if errors.Is(err, fs.ErrNotExist) {
		if here, err := w.Source.Has(ctx, w.Branch); err != nil || !here {
			// One that only origin has, or a new run. People follow an issue on
			// GitHub there; for a file, --push says so.
			return w.o.File == "" && w.o.Given == nil && w.Source.RemoteURL != "", err
		}
	} else if err != nil {
		return false, err
	}
	if run, err := w.parse(data, nil); err == nil {
		return run.Execution.Push, nil
	}
	// The record is broken or gone. What repairs it may be on origin, so that it
	// is looked for there unless the run is known to be of this machine alone.
	return w.Source.RemoteURL != "" && (w.local == nil || w.local.Execution.Push), nil
}

// sameTitle refuses an issue file whose id belongs to another issue's run, which would be taken for its own.
func (w *opening) sameTitle(given issue.Issue) error {
	if w.o.File == "" || w.o.RefreshIssue || slices.Equal(strings.Fields(given.Title), strings.Fields(w.Run.IssueTitle)) {
		return nil
	}
	return exit.Usagef("issue %s is the run of %q, and %s is titled %q: for another issue name the file otherwise, or give a number of its own in its front matter; if it is the same, go on with --issue %[1]s, or take its new text with --refresh=issue",
		w.Issue.ID, w.Run.IssueTitle, w.o.File, given.Title)
}

// without says what of the command line has no effect on a run that has begun.
func (w *opening) without(given issue.Issue) (out []string) {
	if w.o.File != "" && given.Digest() != w.Run.Issue.Digest {
		out = append(out, fmt.Sprintf("%s has changed; the run keeps the issue as it was (--refresh=issue takes the new text)", w.o.File))
	}
	if r := w.there; w.o.Url != "" && !strings.HasSuffix(strings.ToLower(w.Run.IssueURL), strings.ToLower(fmt.Sprintf("/%s/issues/%d", r.Repository, r.Number))) {
		out = append(out, fmt.Sprintf("the run of issue %s did not begin with %s; it keeps the issue it began with", w.Issue.ID, w.o.Url))
	}
	return out
}

// Checkout is the branch of a run with the tree on it: a Tree, whose methods and those of its git.Repo say what each
// does. It is an interface so that tests can keep branches in memory, and choose in which order machines reach a branch.
type Checkout interface {
	engine.BranchTree
	// At gives the tree of a branch that started from a commit: its instructions to agents count.
	At(base string) engine.BranchTree
	// Record is the newest commit that has the run's folder: the tip, unless that was taken off it.
	Record() string
	New() bool
	Leftover() string
	Warnings() []string
	Unmoved() string
	Lacks() []string
	Close() error
	// ReadFile reads a file as it is in a commit; the error wraps fs.ErrNotExist where there is none.
	ReadFile(ctx context.Context, commit, path string) ([]byte, error)
	// Recorded reports whether the record may be from a commit or lead on from it.
	Recorded(ctx context.Context, c git.LogEntry) (bool, error)
	// SameWork reports whether two commits are the same but for the folder of the run.
	SameWork(ctx context.Context, one, other string) (bool, error)
	Log(ctx context.Context, from string) ([]git.LogEntry, error)
	FindBase(ctx context.Context, branch, from string) (commit string, s git.BaseState, err error)
	// Recover brings back the tree of a commit, but for a folder, and names what that changes.
	Recover(ctx context.Context, commit, exclude string) (engine.StagedTree, []string, error)
}

// Git is the branch as git has it; the zero value for one that a test keeps in memory.
func (w *Workspace) Git() Tree {
	t, _ := w.Repo.(Tree)
	return t
}

// Backend is where branches live, what a run is defined by, and who works on it. A nil Agent: as the pipeline says.
type Backend struct {
	// Find looks at the repository that a folder lies in.
	Find func(ctx context.Context, dir string) (*git.Source, error)
	// Open takes the branch of a run, with a tree on it.
	Open func(ctx context.Context, o git.Options) (Checkout, error)
	// Define chooses the pipeline and the prompts for a new run.
	Define func(ctx context.Context, src *git.Source, is issue.Issue, c Choice) (Definition, error)
	// Agent gives the agent of that name.
	Agent func(name string) (engine.Agent, error)
}

// backendKey is the key under which a context has a backend.
type backendKey struct{}

// WithBackend gives a context in which runs do not live in git, for tests of several machines, with branches in memory.
func WithBackend(ctx context.Context, b Backend) context.Context {
	return context.WithValue(ctx, backendKey{}, b)
}

// backendOf gives the backend of a context: git, unless it has another.
func backendOf(ctx context.Context) Backend {
	if b, ok := ctx.Value(backendKey{}).(Backend); ok {
		return b
	}
	return Backend{Find: git.Find, Define: Define, Open: func(ctx context.Context, o git.Options) (Checkout, error) {
		repo, err := git.Open(ctx, o)
		if err != nil {
			return nil, err
		}
		return Tree{Repo: repo}, nil
	}}
}
