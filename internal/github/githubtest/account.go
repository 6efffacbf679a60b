package githubtest

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
)

// account is somebody, or a program.
type account struct {
	login     string
	kind      string // User, Bot, Organization or Mannequin
	suspended bool
	deleted   bool
}

// account finds an account, or adds it. The caller holds the lock.
func (s *Server) account(login string) *account {
	key := strings.ToLower(login)
	a := s.accounts[key]
	if a == nil {
		a = &account{login: login, kind: "User"}
		if strings.HasSuffix(key, "[bot]") {
			a.kind = "Bot"
		}
		s.accounts[key] = a
	}
	return a
}

// SetType says what an account is: User, Bot, Organization or Mannequin. One
// whose name ends in [bot] is a Bot, others are a User.
func (s *Server) SetType(login, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.account(login).kind = kind
}

// Suspend suspends an account: its tokens are refused, and it has no rights
// any more.
func (s *Server) Suspend(login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.account(login).suspended = true
}

// DeleteAccount deletes an account: what it wrote has no author any more.
func (s *Server) DeleteAccount(login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.account(login).deleted = true
}

// UserID is the number of an account.
func UserID(login string) int64 {
	if login == "github-actions[bot]" {
		return 41898282
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(login))) // it cannot fail
	return int64(h.Sum32())
}

// user is an account as it stands in other objects; nil if it is deleted.
func (s *Server) user(login string) any {
	if s.account(login).deleted {
		return nil
	}
	return s.simpleUser(login)
}

func (s *Server) simpleUser(login string) object {
	a := s.account(login)
	api := s.URL + "/users/" + a.login
	return object{
		"login": a.login, "id": UserID(login), "node_id": node("U", UserID(login)), "avatar_url": "https://avatars.githubusercontent.com/u/1?v=4", "gravatar_id": "",
		"url": api, "html_url": s.web + "/" + a.login, "followers_url": api + "/followers", "following_url": api + "/following{/other_user}",
		"gists_url": api + "/gists{/gist_id}", "starred_url": api + "/starred{/owner}{/repo}", "subscriptions_url": api + "/subscriptions",
		"organizations_url": api + "/orgs", "repos_url": api + "/repos", "events_url": api + "/events{/privacy}",
		"received_events_url": api + "/received_events", "type": a.kind, "user_view_type": "public", "site_admin": false,
	}
}

// node is an id of the GraphQL API.
func node(kind string, id int64) string { return fmt.Sprintf("%s_kwDO%08x", kind, id) }

// accountHandler answers requests about accounts and rights.
type accountHandler struct{ *visit }

// getUser answers whose the token is.
func (h accountHandler) getUser() result {
	user := h.simpleUser(h.token.login)
	for _, name := range []string{"name", "company", "email", "hireable", "bio", "twitter_username"} {
		user[name] = nil
	}
	user["blog"], user["location"] = "", nil
	for _, name := range []string{"public_repos", "public_gists", "followers", "following"} {
		user[name] = 0
	}
	user["created_at"], user["updated_at"] = stamp(h.time()), stamp(h.time())
	return ok(user)
}

// Conceal has somebody be called nobody in particular, whatever their role is: so GitHub
// calls members of an organization who do not show that they are.
func (s *Server) Conceal(name, login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repository(name).concealed[strings.ToLower(login)] = true
}

// role is what somebody is in a repository. For a role of a repository's own,
// the base is the one of GitHub's that it is built on.
type role struct{ name, base string }

// rank orders the roles from none to all rights.
func rank(role string) int {
	return map[string]int{"read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}[role]
}

// Permit gives somebody a role in a repository: read, triage, write, maintain,
// admin, or none.
func (s *Server) Permit(name, login, role string) { s.PermitAs(name, login, role, role) }

// PermitAs gives somebody a role with a name of the repository's own, which is
// built on one of GitHub's.
func (s *Server) PermitAs(name, login, custom, base string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repository(name).roles[strings.ToLower(login)] = role{custom, base}
}

// roleOf is somebody's role. What is public can be read by everybody.
func (r *repository) roleOf(login string) role {
	switch has := r.roles[strings.ToLower(login)]; {
	case has.name != "":
		return has
	case r.private || login == "":
		return role{"none", "none"}
	}
	return role{"read", "read"}
}

// association is how GitHub calls who writes somewhere.
func (r *repository) association(login string) string {
	switch {
	case r.concealed[strings.ToLower(login)]:
		return "NONE"
	case strings.EqualFold(login, r.owner):
		return "OWNER"
	case rank(r.roleOf(login).base) > rank("read"):
		return "COLLABORATOR"
	}
	return "NONE"
}

// getPermission answers what somebody may do. GitHub knows four permissions
// and more roles; only the role tells triage and maintain apart.
func (h accountHandler) getPermission() result {
	login := h.in.params["username"]
	if a := h.account(login); a.suspended || a.deleted {
		return notFound()
	}
	if !h.has("write") {
		return refuse(http.StatusForbidden, "Must have push access to view collaborator permission.")
	}
	has := h.repo.roleOf(login)
	permission := has.base
	switch has.base {
	case "triage":
		permission = "read"
	case "maintain":
		permission = "write"
	}
	user := h.simpleUser(login)
	user["permissions"], user["role_name"] = permissions(has), has.name
	return ok(object{"permission": permission, "role_name": has.name, "user": user})
}

func permissions(r role) object {
	has := rank(r.base)
	return object{"pull": has >= 1, "triage": has >= 2, "push": has >= 3, "maintain": has >= 4, "admin": has >= 5}
}
