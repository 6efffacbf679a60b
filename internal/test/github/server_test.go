package github

import (
	"fmt"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// asks sends a request that has to be answered with a status and an object.
func asks(t *testing.T, s *Server, token, method, path string, input any, status int) object {
	t.Helper()
	resp, v := ask(t, s, token, method, path, input)
	if resp.StatusCode != status {
		t.Errorf("%s %s: %d, want %d: %v", method, path, resp.StatusCode, status, v)
	}
	o, _ := v.(object)
	return o
}

// people is a repository with issue 7, and somebody of every kind. Tokens are
// called as those that have them.
func people(t *testing.T) *Server {
	t.Helper()
	s := New(t)
	for _, role := range []string{"read", "triage", "write", "maintain", "admin"} {
		s.AddToken(role, role)
		s.Permit("acme/widget", role, role)
	}
	s.AddToken("ann", "ann")
	s.AddInstallation("job", "github-actions[bot]")
	s.AddIssue("acme/widget", Issue{Number: 7, Title: "T"})
	return s
}

const (
	repo  = "/repos/acme/widget"
	issue = repo + "/issues/7"
)

// Who may do what: people by their role, apps by their permissions.
func TestRights(t *testing.T) {
	for _, tt := range []struct {
		who, method, path string
		input             any
		want              int
	}{
		{"", "GET", issue, nil, 200},
		{"wrong", "GET", issue, nil, 401},
		{"", "POST", issue + "/comments", object{"body": "x"}, 401},
		{"ann", "POST", issue + "/comments", object{"body": "x"}, 201},
		{"ann", "POST", issue + "/comments", object{"body": " "}, 422},
		{"ann", "POST", issue + "/labels", object{"labels": []string{"x"}}, 403},
		{"triage", "POST", issue + "/labels", object{"labels": []string{"x"}}, 200},
		{"triage", "DELETE", issue + "/labels/none", nil, 404},
		{"ann", "PATCH", issue, object{"title": "x"}, 403},
		{"triage", "PATCH", issue, object{"title": "x"}, 200},
		{"read", "POST", repo + "/dispatches", object{"event_type": "x"}, 403},
		{"write", "POST", repo + "/dispatches", object{"event_type": "x"}, 204},
		{"job", "GET", "/user", nil, 403},
		{"ann", "GET", "/user", nil, 200},
		{"", "GET", "/user", nil, 401},
		{"write", "GET", "/repos/acme/none", nil, 404},
		{"write", "POST", repo + "/actions/workflows/x.yml/dispatches", object{"ref": "none"}, 422},
	} {
		asks(t, people(t), tt.who, tt.method, tt.path, tt.input, tt.want)
	}
}

// The token of a job may be limited; GitHub then says what would do.
func TestPermissions(t *testing.T) {
	for _, tt := range []struct {
		rights       map[string]string
		method, path string
		input        any
		want         int
		needs        string
	}{
		{nil, "GET", issue, nil, 403, "issues=read; pull_requests=read"},
		{nil, "GET", repo, nil, 200, ""},
		{map[string]string{"issues": "read"}, "GET", issue, nil, 200, ""},
		{map[string]string{"issues": "read"}, "POST", issue + "/comments", object{"body": "x"}, 403, "issues=write; pull_requests=write"},
		{map[string]string{"issues": "write"}, "POST", issue + "/comments", object{"body": "x"}, 201, ""},
		{map[string]string{"pull_requests": "write"}, "POST", issue + "/comments", object{"body": "x"}, 403, "issues=write; pull_requests=write"},
		{map[string]string{"issues": "write"}, "POST", repo + "/issues/8/comments", object{"body": "x"}, 403, "issues=write; pull_requests=write"},
		{map[string]string{"pull_requests": "write"}, "POST", repo + "/issues/8/comments", object{"body": "x"}, 201, ""},
		{map[string]string{"issues": "write"}, "POST", repo + "/pulls", object{"head": "b", "base": "main", "title": "x"}, 403, "pull_requests=write"},
		{map[string]string{"issues": "write"}, "POST", repo + "/actions/workflows/x.yml/dispatches", object{"ref": "main"}, 403, "actions=write"},
	} {
		for _, token := range []string{"job", "admin"} {
			s := people(t)
			s.AddIssue("acme/widget", Issue{Number: 8, Title: "P", Pull: true})
			s.Allow(token, "acme/widget", tt.rights)
			resp, _ := ask(t, s, token, tt.method, tt.path, tt.input)
			if got := resp.Header.Get("X-Accepted-GitHub-Permissions"); resp.StatusCode != tt.want || got != tt.needs {
				t.Errorf("%s with %v: %s %s: %d, needs %q", token, tt.rights, tt.method, tt.path, resp.StatusCode, got)
			}
		}
	}
}

func TestStates(t *testing.T) {
	post := func(t *testing.T, s *Server, who string, want int) object {
		t.Helper()
		return asks(t, s, who, "POST", issue+"/comments", object{"body": "x"}, want)
	}
	t.Run("locked", func(t *testing.T) {
		s := people(t)
		s.ChangeIssue("acme/widget", 7, func(is *Issue) { is.Locked = true })
		for who, want := range map[string]int{"ann": 403, "job": 403, "write": 201} {
			post(t, s, who, want)
		}
	})
	t.Run("archived", func(t *testing.T) {
		s := people(t)
		s.Configure("acme/widget", Settings{Archived: true})
		post(t, s, "admin", 403)
		asks(t, s, "admin", "GET", issue, nil, 200)
	})
	t.Run("deleted", func(t *testing.T) {
		s := people(t)
		s.DeleteIssue("acme/widget", 7)
		post(t, s, "admin", 410)
		if n := s.AddIssue("acme/widget", Issue{Title: "Next"}); n != 8 {
			t.Errorf("number %d was given again", n)
		}
	})
	t.Run("moved", func(t *testing.T) {
		s := people(t)
		id := s.AddComment("acme/widget", 7, Comment{Body: "x"})
		n := s.Transfer("acme/widget", 7, "acme/gadget")
		if got := asks(t, s, "admin", "GET", issue, nil, 200); got["repository_url"] != s.URL+"/repos/acme/gadget" || got["number"] != float64(n) {
			t.Errorf("it is at %v, number %v", got["repository_url"], got["number"])
		}
		if c := s.Comments("acme/gadget", n); len(c) != 1 || c[0].ID != id {
			t.Errorf("its comments are %v", c)
		}
		asks(t, s, "admin", "GET", fmt.Sprintf("%s/issues/comments/%d", repo, id), nil, 404)
	})
	t.Run("suspended", func(t *testing.T) {
		s := people(t)
		s.Suspend("admin")
		post(t, s, "admin", 403)
	})
	t.Run("switched off", func(t *testing.T) {
		s := people(t)
		s.Configure("acme/widget", Settings{NoIssues: true})
		asks(t, s, "admin", "POST", repo+"/issues", object{"title": "x"}, 410)
	})
	t.Run("private", func(t *testing.T) {
		s := people(t)
		s.AddRepository("acme/widget", true)
		post(t, s, "ann", 404)
		post(t, s, "read", 201)
		post(t, s, "job", 201)
	})
	t.Run("Enterprise", func(t *testing.T) {
		s := people(t)
		asks(t, s, "ann", "GET", "/api/v3"+issue, nil, 200)
		asks(t, s, "ann", "POST", "/api/graphql", object{"query": "{viewer{login}}"}, 200)
	})
}

func TestCustomRole(t *testing.T) {
	s := people(t)
	s.PermitAs("acme/widget", "cara", "release-helper", "write")
	got := asks(t, s, "job", "GET", repo+"/collaborators/cara/permission", nil, 200)
	if got["permission"] != "write" || got["role_name"] != "release-helper" {
		t.Errorf("%v, %v", got["permission"], got["role_name"])
	}
	asks(t, s, "read", "GET", repo+"/collaborators/cara/permission", nil, 403)
	asks(t, s, "", "GET", repo+"/collaborators/cara/permission", nil, 401)
	s.Suspend("cara")
	asks(t, s, "job", "GET", repo+"/collaborators/cara/permission", nil, 404)
}

func TestLimitContent(t *testing.T) {
	s := people(t)
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s.SetClock(func() time.Time { return now })
	s.LimitContent(2, time.Minute)
	post := func(want int, wait string) {
		t.Helper()
		resp, _ := ask(t, s, "ann", "POST", issue+"/comments", object{"body": "x"})
		if resp.StatusCode != want || resp.Header.Get("Retry-After") != wait {
			t.Errorf("%d, wait %q; want %d, %q", resp.StatusCode, resp.Header.Get("Retry-After"), want, wait)
		}
	}
	post(201, "")
	now = now.Add(20 * time.Second)
	post(201, "")
	post(403, "40")
	asks(t, s, "ann", "GET", issue, nil, 200)
	now = now.Add(40 * time.Second)
	post(201, "")
	testenv.Same(t, "counts", Counts{Calls: 5, Writes: 4, Content: 4}, s.Counts())
	testenv.Is(t, "comments:", len(s.Comments("acme/widget", 7)), 3)
}
