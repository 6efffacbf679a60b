package main

import (
	"context"
	"time"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/phases"
)

// checkout is the branch of a run with the tree on it, as a workspace uses it:
// a *git.Repo, whose methods say what each does. It is an interface because
// what happens between machines is decided by the order in which they reach
// the branch, and that order is only at hand where the branch is in memory.
type checkout interface {
	Tip() string
	Tree() string
	New() bool
	Leftover() string
	Warnings() []string
	Lacks() []string
	Close() error

	ReadFile(ctx context.Context, commit, path string) ([]byte, error)
	Held(ctx context.Context, path string, n int) ([]byte, error)
	Log(ctx context.Context, from string) ([]git.LogEntry, error)
	Diff(ctx context.Context, from string, exclude ...string) (string, git.DiffStat, error)
	Changes(ctx context.Context) ([]git.Change, error)
	Hidden(ctx context.Context, since time.Time) ([]git.Hidden, error)
	Patch(ctx context.Context, limit int64) ([]byte, error)

	Tidy(ctx context.Context, g git.Guard) ([]string, error)
	SetAside(ctx context.Context, keep func(path string) bool) (putBack func() error, err error)
	Restore(ctx context.Context, paths []string) error
	RestoreAll(ctx context.Context) error
	RestoreTree(ctx context.Context, commit string, exclude ...string) ([]string, error)
	Commit(ctx context.Context, c git.Commit) (string, error)
}

// places is where branches live, what a run is defined by, and who works on
// it: in tests of what several machines do at once, that is all in memory.
type places struct {
	find   func(ctx context.Context, dir string) (*git.Source, error)
	open   func(ctx context.Context, o git.Options) (checkout, error)
	define func(ctx context.Context, src *git.Source, is issue, o opening) (definition, error)
	agent  func(name string) (phases.Agent, error) // nil: as the pipeline says
}

// repositories gives the places of this environment.
func (e environment) repositories() places {
	if e.places != nil {
		return *e.places
	}
	return places{find: git.Find, define: define, open: func(ctx context.Context, o git.Options) (checkout, error) {
		repo, err := git.Open(ctx, o)
		if err != nil {
			return nil, err
		}
		return repo, nil
	}}
}
