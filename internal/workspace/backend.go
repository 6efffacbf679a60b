package workspace

import (
	"context"

	"github.com/reprise-ci/reprise/internal/git"

	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/phases/engine"
)

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
	// ReadState reads files of the run's folder as they are at the tip, each nil where there is none.
	ReadState(ctx context.Context, paths ...string) ([][]byte, error)
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
