package githubtest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
)

// docs is where GitHub explains its answers.
const docs = "https://docs.github.com/rest"

// object is a JSON object.
type object = map[string]any

// send answers with JSON, and with the tag by which it can be asked for again.
func send(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable: only plain values are sent
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("ETag", fmt.Sprintf(`W/"%x"`, sha256.Sum256(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// fail answers as GitHub does when it refuses.
func fail(w http.ResponseWriter, status int, message string) {
	send(w, status, object{"message": message, "documentation_url": docs, "status": fmt.Sprint(status)})
}

func notFound(w http.ResponseWriter) { fail(w, http.StatusNotFound, "Not Found") }

// user is an account as it stands in other objects.
func (s *Server) user(login string) object {
	id := int64(0)
	for _, r := range login {
		id = id*31 + int64(r)
	}
	api := s.URL + "/users/" + login
	return object{
		"login": login, "id": id, "node_id": node("U", id), "avatar_url": "https://avatars.githubusercontent.com/u/1?v=4", "gravatar_id": "",
		"url": api, "html_url": s.web + "/" + login, "followers_url": api + "/followers", "following_url": api + "/following{/other_user}",
		"gists_url": api + "/gists{/gist_id}", "starred_url": api + "/starred{/owner}{/repo}", "subscriptions_url": api + "/subscriptions",
		"organizations_url": api + "/orgs", "repos_url": api + "/repos", "events_url": api + "/events{/privacy}",
		"received_events_url": api + "/received_events", "type": "User", "user_view_type": "public", "site_admin": false,
	}
}

// node is an id of the GraphQL API.
func node(kind string, id int64) string { return fmt.Sprintf("%s_kwDO%08x", kind, id) }

// ranks are the roles from none to all rights.
func rank(role string) int {
	return map[string]int{"read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}[role]
}

// getPermission answers what somebody may do. GitHub knows four permissions
// and more roles; only the role tells triage and maintain apart.
func (s *Server) getPermission(w http.ResponseWriter, r *http.Request, repo *repository) {
	login := r.PathValue("user")
	role := repo.roles[login]
	switch {
	case role == "" && repo.private:
		role = "none"
	case role == "":
		role = "read" // what is public can be read by everybody
	}
	permission := role
	switch role {
	case "triage":
		permission = "read"
	case "maintain":
		permission = "write"
	}
	user, has := s.user(login), rank(role)
	user["permissions"] = object{"pull": has >= 1, "triage": has >= 2, "push": has >= 3, "maintain": has >= 4, "admin": has >= 5}
	user["role_name"] = role
	send(w, http.StatusOK, object{"permission": permission, "role_name": role, "user": user})
}
