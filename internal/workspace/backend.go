package workspace

import (
	"context"
	"time"

	"github.com/reprise-ci/reprise/internal/git"

	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/phases/engine"
)

// Checkout is the branch of a run with the tree on it, as a workspace uses it:
// a *git.Repo, whose methods say what each does. It is an interface so
// that tests can keep branches in memory: what happens between several machines
// depends on the order in which they reach a branch, and only there can a test
// choose that order.
type Checkout interface {
	Tip() string
	// Record is the newest commit that has the run's folder: the tip, unless that was
	// taken off it.
	Record() string
	Tree() string
	New() bool
	Leftover() string
	Warnings() []string
	Lacks() []string
	Close() error

	// ReadState reads files of the run's folder as they are at the tip, each nil where there is none.
	ReadState(ctx context.Context, paths ...string) ([][]byte, error)
	// ReadFile reads a file as it is in a commit; the error wraps fs.ErrNotExist where there is none.
	ReadFile(ctx context.Context, commit, path string) ([]byte, error)
	// Recorded reports whether the record may be from a commit or lead on from it.
	Recorded(ctx context.Context, c git.LogEntry) (bool, error)
	// SameWork reports whether two commits are the same but for the folder of the run.
	SameWork(ctx context.Context, one, other string) (bool, error)
	ReadPlain(ctx context.Context, commit, path string) ([]byte, error)
	Held(ctx context.Context, path string, n int) ([]byte, error)
	Log(ctx context.Context, from string) ([]git.LogEntry, error)
	Ancestry(ctx context.Context, from string) ([]git.LogEntry, error)
	Diff(ctx context.Context, from string, s *git.Stage, exclude ...string) (string, git.DiffStat, error)
	WithBase(ctx context.Context, commit, from, to string) (string, error)
	Changes(ctx context.Context) ([]git.Change, error)
	Paths(ctx context.Context) ([]string, error)
	Hidden(ctx context.Context, since time.Time) ([]git.Hidden, error)
	Patch(ctx context.Context, limit int64) ([]byte, error)

	Prepare(ctx context.Context, g git.Guard) ([]string, error)
	CheckOutBeside(ctx context.Context, commit, name string, keep func(path string) bool) error
	Clear(ctx context.Context) error
	Restore(ctx context.Context, paths []string) error
	RestoreAll(ctx context.Context) error
	RestoreTree(ctx context.Context, commit string, exclude ...string) (*git.Stage, error)
	Stage(ctx context.Context, paths []string) (*git.Stage, error)
	EachStaged(ctx context.Context, s *git.Stage, f func(git.Staged) error) error
	ReadStaged(ctx context.Context, s *git.Stage, path string) ([]byte, error)
	Commit(ctx context.Context, c git.Commit) (string, error)
	Squash(ctx context.Context, c git.Commit, base string) error
	FindBase(ctx context.Context, branch, from string) (commit string, s git.BaseState, err error)
	Updates(ctx context.Context, c git.LogEntry, base, known string) (bool, error)
	Merge(ctx context.Context, commit, from string) (*git.Stage, git.MergeResult, error)
}

// Backend is where branches live, what a run is defined by, and who works on
// it. The zero value of Agent means: as the pipeline says.
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

// WithBackend gives a context in which runs do not live in git. Tests of what
// several machines do at once use it, with branches in memory.
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
		return repo, nil
	}}
}
