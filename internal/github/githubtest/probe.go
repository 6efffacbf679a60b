package githubtest

import "net/http"

// createRef makes no ref: whoever asks for one here wants to know whether it
// may be made, and names a commit that is not there.
func (v *visit) createRef() result {
	ref, _ := field[string](v, "ref")
	sha, _ := field[string](v, "sha")
	if v.repo.bare != "" {
		if _, err := v.git(v.repo, "cat-file", "-e", sha+"^{commit}"); err == nil {
			v.host.Errorf("githubtest: a ref %s is to be made, and this server makes none", ref)
		}
	}
	return refuse(http.StatusUnprocessableEntity, "Object does not exist")
}

// getJobRights says what jobs may do with GITHUB_TOKEN.
func (v *visit) getJobRights() result {
	return ok(object{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": !v.repo.NoActionsPulls})
}
