package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// freeze makes of a repository at a commit of a run one in which that run is as it was
// then: its branch, with the mistakes that the case plants, and main where it began.
func freeze(ctx context.Context, c Case, g repository) error {
	id, err := runAt(ctx, g, c.Commit)
	if err != nil {
		return err
	}
	file := filepath.Join(g.dir, filepath.FromSlash(phases.RecordFile(id)))
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	run, err := metadata.Parse(data, phases.RecordFile(id))
	if err != nil {
		return err
	}
	// Where the run was at work, and who spoke with whom there, is nothing to go on with.
	run.Execution.Lease, run.Execution.Push = nil, false
	for i := range run.Attempts {
		run.Attempts[i].Session, run.Attempts[i].Confirmed = "", false
	}
	if data, err = metadata.Format(run); err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(file, data, 0o644), c.plant(g.dir)); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"checkout", "--quiet", "-b", environ.BranchPrefix + id},
		{"add", "--all"},
		{"commit", "--quiet", "--no-verify", "--amend", "--no-edit"},
		{"checkout", "--quiet", "-B", "main", run.BaseCommit},
	} {
		if _, err := g.git(ctx, args...); err != nil {
			return err
		}
	}
	return g.forget(ctx) // what was planted is not read off what is unreachable
}

// runAt gives the issue of the run whose record the commit that is checked out, or else the
// newest before it, has changed.
func runAt(ctx context.Context, g repository, commit string) (string, error) {
	name, err := g.git(ctx, "log", "--max-count=1", "--format=", "--name-only", "--diff-filter=AM", "--", phases.RecordFile("*"))
	if err != nil {
		return "", err
	}
	name, _, _ = strings.Cut(strings.TrimSpace(name), "\n")
	id, is := strings.CutPrefix(path.Base(path.Dir(name)), "issue-")
	if !is {
		return "", fmt.Errorf("%s is no commit of a run: it has no record of one", commit)
	}
	return id, nil
}
