package checks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"github.com/reprise-ci/reprise/internal/github"
)

var fileName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// Dispatch starts a workflow on a branch or tag, by the name of its file such
// as ci.yml. It is not asked for twice: where the answer is lost, the error says
// so, and the workflow may have started.
func (r *Repository) Dispatch(ctx context.Context, workflow, ref string) error {
	if !fileName.MatchString(workflow) || ref == "" {
		return fmt.Errorf("start workflow %q on %q: it takes the name of a file in .github/workflows, and a branch", workflow, ref)
	}
	_, err := r.GitHub.Ask(ctx, r.Owner, r.Name, github.Request{
		What: fmt.Sprintf("start workflow %s of %s/%s on %s", workflow, r.Owner, r.Name, ref), Needs: "actions: write", Method: http.MethodPost,
		Path: "/actions/workflows/" + workflow + "/dispatches", Body: map[string]string{"ref": ref},
	}, nil)
	return err
}

// Attempt names an attempt of a run of a workflow. Attempts count from 1.
type Attempt struct{ Run, N int64 }

// JobOver reports whether a job of an attempt of a workflow run has ended,
// however it did: the run is completed, there is a newer attempt, the run is not
// there any more, or the job itself is completed. The job is the one whose
// machine has a name that mine accepts; if several have, all of them must have
// ended.
func (r *Repository) JobOver(ctx context.Context, of Attempt, mine func(runner string) bool) (over bool, err error) {
	path, what := fmt.Sprintf("/actions/runs/%d", of.Run), fmt.Sprintf("read workflow run %d of %s/%s", of.Run, r.Owner, r.Name)
	var w struct {
		ID      int64  `json:"id"`
		Status  string `json:"status"`
		Attempt int64  `json:"run_attempt"`
	}
	_, err = r.GitHub.Ask(ctx, r.Owner, r.Name, github.Request{What: what, Needs: "actions: read", Method: http.MethodGet, Path: path}, &w)
	switch {
	case gone(err):
		return true, nil
	case err != nil:
		return false, err
	case w.ID != of.Run || w.Status == "":
		return false, fmt.Errorf("%s: what came is another run, or none", what)
	case w.Status == "completed" || w.Attempt > of.N:
		return true, nil
	}
	return r.jobsOver(ctx, fmt.Sprintf("%s/attempts/%d/jobs", path, of.N), what, mine)
}

// gone reports whether an error says that something is not there.
func gone(err error) bool {
	var e *github.Error
	return errors.As(err, &e) && (e.Kind == github.NotFound || e.Kind == github.Gone)
}

// jobsOver reports whether there are jobs on machines that mine takes, and all
// of them have ended.
func (r *Repository) jobsOver(ctx context.Context, path, what string, mine func(runner string) bool) (bool, error) {
	found := false
	for n := 1; n <= mostPages; n++ {
		var w struct {
			Jobs []struct {
				Status string `json:"status"`
				Runner string `json:"runner_name"`
			} `json:"jobs"`
		}
		answer, err := r.GitHub.Ask(ctx, r.Owner, r.Name, github.Request{What: what, Needs: "actions: read", Method: http.MethodGet, Path: fmt.Sprintf("%s?per_page=100&page=%d", path, n)}, &w)
		if gone(err) {
			return false, nil // a forge that does not tell of jobs
		}
		if err != nil {
			return false, err
		}
		for _, j := range w.Jobs {
			if !mine(j.Runner) {
				continue
			}
			if j.Status != "completed" {
				return false, nil
			}
			found = true
		}
		if len(w.Jobs) == 0 || !answer.More {
			break
		}
	}
	return found, nil
}
