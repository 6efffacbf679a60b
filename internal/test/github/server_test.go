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
