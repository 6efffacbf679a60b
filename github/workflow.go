package github

import (
	"context"
	"fmt"
	"net/http"
)

// Dispatch starts a workflow on a branch or tag, by the name of its file such
// as ci.yml. It is not asked for twice: where the answer is lost, the error says
// so, and the workflow may have started.
func (c *Client) Dispatch(ctx context.Context, owner, name, workflow, ref string) error {
	path, err := repoPath(owner, name)
	if err != nil {
		return err
	}
	if !isName(workflow) || ref == "" {
		return fmt.Errorf("start workflow %q on %q: it takes the name of a file in .github/workflows, and a branch", workflow, ref)
	}
	k := &call{what: fmt.Sprintf("start workflow %s of %s/%s on %s", workflow, owner, name, ref), needs: "actions: write"}
	return c.do(ctx, k, http.MethodPost, path+"/actions/workflows/"+workflow+"/dispatches", map[string]string{"ref": ref}, nil)
}

// JobOver reports whether a job of an attempt of a workflow run has ended,
// however it did: the run is completed, there is a newer attempt, the run is not
// there any more, or the job itself is completed. Attempts count from 1. The
// job is the one whose machine has a name that mine takes; where several have,
// all of them must have ended.
func (c *Client) JobOver(ctx context.Context, owner, name string, runID int64, attempt int, mine func(runner string) bool) (over bool, err error) {
	path, err := repoPath(owner, name)
	if err != nil {
		return false, err
	}
	path = fmt.Sprintf("%s/actions/runs/%d", path, runID)
	var w struct {
		ID      int64  `json:"id"`
		Status  string `json:"status"`
		Attempt int    `json:"run_attempt"`
	}
	k := &call{what: fmt.Sprintf("read workflow run %d of %s/%s", runID, owner, name), needs: "actions: read"}
	err = c.do(ctx, k, http.MethodGet, path, nil, &w)
	switch {
	case isKind(err, NotFound, Gone):
		return true, nil
	case err != nil:
		return false, err
	case w.ID != runID || w.Status == "":
		return false, c.misfit(k, "it is another run, or none", nil)
	case w.Status == "completed" || w.Attempt > attempt:
		return true, nil
	}
	return c.jobsOver(ctx, fmt.Sprintf("%s/attempts/%d/jobs", path, attempt), k.what, mine)
}

// jobsOver reports whether there are jobs on machines that mine takes, and all
// of them have ended.
func (c *Client) jobsOver(ctx context.Context, path, what string, mine func(runner string) bool) (bool, error) {
	found := false
	for n := 1; n <= maxPages; n++ {
		var w struct {
			Jobs []struct {
				Status string `json:"status"`
				Runner string `json:"runner_name"`
			} `json:"jobs"`
		}
		k := &call{what: what, needs: "actions: read"}
		err := c.do(ctx, k, http.MethodGet, fmt.Sprintf("%s?per_page=%d&page=%d", path, perPage, n), nil, &w)
		if isKind(err, NotFound, Gone) {
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
		if len(w.Jobs) == 0 || !follows(k.header, n, len(w.Jobs)) {
			break
		}
	}
	return found, nil
}
