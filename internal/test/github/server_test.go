package github

import "testing"

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
