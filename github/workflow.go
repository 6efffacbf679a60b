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

// JobOver reports whether an attempt of a workflow run has ended, however it
// did: it is completed, there is a newer attempt, or the run is not there any
// more. Attempts count from 1.
func (c *Client) JobOver(ctx context.Context, owner, name string, runID int64, attempt int) (over bool, err error) {
	path, err := repoPath(owner, name)
	if err != nil {
		return false, err
	}
	var w struct {
		ID      int64  `json:"id"`
		Status  string `json:"status"`
		Attempt int    `json:"run_attempt"`
	}
	k := &call{what: fmt.Sprintf("read workflow run %d of %s/%s", runID, owner, name), needs: "actions: read"}
	err = c.do(ctx, k, http.MethodGet, fmt.Sprintf("%s/actions/runs/%d", path, runID), nil, &w)
	switch {
	case isKind(err, NotFound, Gone):
		return true, nil
	case err != nil:
		return false, err
	case w.ID != runID || w.Status == "":
		return false, c.misfit(k, "it is another run, or none", nil)
	}
	return w.Status == "completed" || w.Attempt > attempt, nil
}
