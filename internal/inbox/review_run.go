package inbox

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// FoundRun is a run as the forge has its record.
type FoundRun struct {
	Issue int // its number
	Plan  *pipelines.Pipeline
	Run   metadata.Run
}

// RunOfPull finds the run that has a pull request, by the branch that this comes from
// and the record there; nil: there is none. Nothing that somebody wrote into the
// pull request counts.
func RunOfPull(ctx context.Context, gh *github.Client, env environ.Env, repository string, pull int) (*FoundRun, error) {
	owner, name, _ := strings.Cut(repository, "/")
	is, err := gh.Pull(ctx, owner, name, pull)
	if err != nil {
		return nil, err
	}
	id, ours := strings.CutPrefix(is.Head, env.Prefix())
	if !ours || !issue.Number.MatchString(id) || !strings.EqualFold(is.HeadRepository, repository) {
		return nil, nil
	}
	plan, run, err := phases.Read(id, is.Head, ReviewFiles(ctx, gh, repository, is.Head, id))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case run.PRNumber != pull && run.PRNumber != 0: // 0: it was opened a moment ago
		return nil, nil
	}
	number, err := strconv.Atoi(id)
	return &FoundRun{Issue: number, Plan: plan, Run: run}, err
}
