package githubtest

import (
	"fmt"
	"net/http"
)

// createRef makes a ref. Who only asks whether that is allowed names a commit that is not there.
func (v *visit) createRef() result {
	ref, _ := field[string](v, "ref")
	sha, _ := field[string](v, "sha")
	if v.repo.bare != "" {
		if _, err := v.git(v.repo, "cat-file", "-e", sha+"^{commit}"); err == nil {
			if _, err := v.git(v.repo, "update-ref", ref, sha, fmt.Sprintf("%040d", 0)); err != nil {
				return refuse(http.StatusUnprocessableEntity, "Reference already exists")
			}
			return created(v.refObject(ref[len("refs/"):], sha))
		}
	}
	return refuse(http.StatusUnprocessableEntity, "Object does not exist")
}

// getJobRights says what jobs may do with GITHUB_TOKEN.
func (v *visit) getJobRights() result {
	return ok(object{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": !v.repo.NoActionsPulls})
}
