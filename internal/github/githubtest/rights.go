package githubtest

import (
	"net/http"
	"strings"
)

// token is what somebody comes with.
type token struct {
	login        string
	installation bool                         // of an app: it has permissions instead of a role
	rights       map[string]map[string]string // by repository in small letters, if they are limited
	used         int
}

// AddToken makes a token of a person known. One that is not known is refused,
// and no token sees what is public.
func (s *Server) AddToken(name, login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[name] = &token{login: login, rights: map[string]map[string]string{}}
}

// AddInstallation makes a token of an app known, such as the one that a job
// has as "github-actions[bot]". It may do everything in every repository,
// until Allow limits it.
func (s *Server) AddInstallation(name, login string) {
	s.AddToken(name, login)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[name].installation = true
}

// Allow limits a token in a repository to these permissions: issues, contents,
// pull_requests and actions, each none, read or write. Those left out are none.
// For the token of a person they come on top of the role, as for fine-grained
// tokens.
func (s *Server) Allow(name, repo string, permissions map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tokens[name]
	if t == nil {
		s.host.Errorf("githubtest: there is no token %q", name)
		return
	}
	t.rights[strings.ToLower(repo)] = permissions
}

// grants reports whether a token has one of the permissions. Of those that
// GitHub lists, only the one for pull requests lets a pull request be
// touched, and only the one for issues an issue.
func (t *token) grants(repo *repository, needs string, pull bool) bool {
	have, limited := t.rights[strings.ToLower(repo.fullName())]
	if !limited || needs == metadataRead {
		return true
	}
	for need := range strings.SplitSeq(needs, "; ") {
		name, access, _ := strings.Cut(need, "=")
		if name == "pull_requests" && !pull || name == "issues" && pull {
			continue
		}
		if got := have[name]; got == "write" || got == access {
			return true
		}
	}
	return false
}

// mayDo refuses what the one who asks may not do.
func (v *visit) mayDo() *result {
	no := v.forbidden()
	if no != nil && v.token != nil && v.repo != nil && no.status == http.StatusForbidden {
		no.permissions = v.in.route.needs
	}
	return no
}

func (v *visit) forbidden() *result {
	refuseWith := func(status int, message string) *result {
		no := refuse(status, message)
		return &no
	}
	r := v.in.route
	switch {
	case v.token == nil && r.role != "":
		return refuseWith(http.StatusUnauthorized, "Requires authentication")
	case r.needs == "" && v.token.installation:
		return refuseWith(http.StatusForbidden, byIntegration)
	case v.repo == nil || v.token == nil:
		return nil
	case !v.token.grants(v.repo, r.needs, v.pull != nil || v.issue != nil && v.issue.Pull || strings.HasPrefix(r.path, inRepo+"/pulls")):
		return refuseWith(http.StatusForbidden, v.notAccessible())
	case r.writes() && v.repo.Archived:
		return refuseWith(http.StatusForbidden, "Repository was archived so is read-only.")
	case !v.token.installation && r.role != "" && r.role != "anybody" && !v.has(r.role):
		return refuseWith(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	return nil
}

const byIntegration = "Resource not accessible by integration"

func (v *visit) notAccessible() string {
	if v.token.installation {
		return byIntegration
	}
	return "Resource not accessible by personal access token"
}

// has reports whether the one who asks has a role, or more. An app has what
// its permissions say, which were asked before.
func (v *visit) has(role string) bool {
	return v.token != nil && (v.token.installation || rank(v.repo.roleOf(v.token.login).base) >= rank(role))
}

// sees reports whether a private repository is shown.
func (v *visit) sees(repo *repository) bool {
	return v.token != nil && (v.token.installation || rank(repo.roleOf(v.token.login).base) >= rank("read"))
}
