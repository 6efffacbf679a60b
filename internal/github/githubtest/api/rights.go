package api

import (
	"net/http"
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// mayDo refuses what the one who asks may not do.
func (v *visit) mayDo() *Result {
	no := v.forbidden()
	if no != nil && v.token != nil && v.repo != nil && no.status == http.StatusForbidden {
		no.permissions = v.in.route.needs
	}
	return no
}

func (v *visit) forbidden() *Result {
	refuseWith := func(status int, message string) *Result {
		no := refuse(status, message)
		return &no
	}
	r := v.in.route
	switch {
	case v.token == nil && r.role != "":
		return refuseWith(http.StatusUnauthorized, "Requires authentication")
	case r.needs == "" && v.token.Installation:
		return refuseWith(http.StatusForbidden, byIntegration)
	case v.repo == nil || v.token == nil:
		return nil
	case !v.token.Grants(v.repo.FullName(), r.needs, v.pull != nil || v.issue != nil && v.issue.Pull || strings.HasPrefix(r.path, inRepo+"/pulls")):
		return refuseWith(http.StatusForbidden, v.notAccessible())
	case r.writes() && v.repo.Archived:
		return refuseWith(http.StatusForbidden, "Repository was archived so is read-only.")
	case !v.token.Installation && r.role != "" && r.role != "anybody" && !v.has(r.role):
		return refuseWith(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	return nil
}

const byIntegration = "Resource not accessible by integration"

func (v *visit) notAccessible() string {
	if v.token.Installation {
		return byIntegration
	}
	return "Resource not accessible by personal access token"
}

// has reports whether the one who asks has a role, or more. An app has what
// its permissions say, which were asked before.
func (v *visit) has(role string) bool {
	return v.token != nil && (v.token.Installation || v.repo.RoleOf(v.token.Login).AtLeast(role))
}

// sees reports whether a private repository is shown.
func (v *visit) sees(repo *state.Repository) bool {
	return v.token != nil && (v.token.Installation || repo.RoleOf(v.token.Login).AtLeast("read"))
}
