package githubtest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Issue is what a test says of an issue. What is left out is as on most
// issues.
type Issue struct {
	Number  int
	Title   string
	Body    string // empty: null, as GitHub sends it
	Author  string // empty: octocat
	Labels  []string
	State   string // empty: open
	Locked  bool
	Pull    bool // it is a pull request
	Updated time.Time

	id int64
}

// AddIssue adds an issue to owner/name, or replaces the one with its number.
func (s *Server) AddIssue(repo string, is Issue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is.Author == "" {
		is.Author = "octocat"
	}
	if is.State == "" {
		is.State = "open"
	}
	if is.Updated.IsZero() {
		is.Updated = s.now
	}
	is.id = s.id()
	s.repository(repo).issues[is.Number] = &is
}

func (s *Server) getIssue(w http.ResponseWriter, r *http.Request, repo *repository) {
	n, err := strconv.Atoi(r.PathValue("number"))
	is := repo.issues[n]
	if err != nil || is == nil {
		notFound(w)
		return
	}
	send(w, http.StatusOK, s.issue(repo, is))
}

// issue is an issue as GitHub sends it.
func (s *Server) issue(repo *repository, is *Issue) object {
	api := s.URL + "/repos/" + repo.owner + "/" + repo.name
	web := s.web + "/" + repo.owner + "/" + repo.name
	self := fmt.Sprintf("%s/issues/%d", api, is.Number)
	kind, place := "I", "issues"
	if is.Pull {
		kind, place = "PR", "pull"
	}
	out := object{
		"id": is.id, "node_id": node(kind, is.id), "number": is.Number, "title": is.Title, "body": nil, "user": s.user(is.Author),
		"state": is.State, "state_reason": nil, "locked": is.Locked, "active_lock_reason": nil, "labels": s.labels(api, is.Labels),
		"assignee": nil, "assignees": []any{}, "milestone": nil, "comments": 0, "author_association": "NONE",
		"created_at": stamp(is.Updated), "updated_at": stamp(is.Updated), "closed_at": nil, "closed_by": nil,
		"url": self, "html_url": fmt.Sprintf("%s/%s/%d", web, place, is.Number), "repository_url": api,
		"labels_url": self + "/labels{/name}", "comments_url": self + "/comments", "events_url": self + "/events", "timeline_url": self + "/timeline",
		"reactions": reactions(self), "performed_via_github_app": nil,
		"sub_issues_summary": object{"total": 0, "completed": 0, "percent_completed": 0},
	}
	if is.Body != "" {
		out["body"] = is.Body
	}
	if is.State == "closed" {
		out["state_reason"], out["closed_at"], out["closed_by"] = "completed", stamp(is.Updated), s.user(repo.owner)
	}
	if is.Pull {
		pull := fmt.Sprintf("%s/pull/%d", web, is.Number)
		out["draft"] = false
		out["pull_request"] = object{
			"url": fmt.Sprintf("%s/pulls/%d", api, is.Number), "html_url": pull, "diff_url": pull + ".diff", "patch_url": pull + ".patch", "merged_at": nil,
		}
	}
	return out
}

func (s *Server) labels(api string, names []string) []any {
	out := []any{}
	for i, name := range names {
		id := int64(i + 1)
		out = append(out, object{
			"id": id, "node_id": node("LA", id), "url": api + "/labels/" + name, "name": name, "color": "d73a4a", "default": false, "description": nil,
		})
	}
	return out
}

func reactions(self string) object {
	out := object{"url": self + "/reactions", "total_count": 0}
	for _, name := range []string{"+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"} {
		out[name] = 0
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
