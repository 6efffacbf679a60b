package api

import "github.com/reprise-ci/reprise/internal/github/githubtest/shape"

// repositoryHandler answers requests about repositories.
type repositoryHandler struct{ *visit }

func (h repositoryHandler) getRepository() Result {
	out := h.show.Repository(h.repo)
	out["network_count"], out["subscribers_count"] = 0, 1
	if h.token != nil && !h.token.Installation {
		out["permissions"] = shape.Permissions(h.repo.RoleOf(h.token.Login))
	}
	return ok(out)
}

// getJobRights says what jobs may do with GITHUB_TOKEN.
func (h repositoryHandler) getJobRights() Result {
	return ok(object{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": !h.repo.NoActionsPulls})
}
