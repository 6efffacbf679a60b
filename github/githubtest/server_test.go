package githubtest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// get asks the server as anybody would.
func get(t *testing.T, s *Server, path, token string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var v map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, v
}

func TestPermission(t *testing.T) {
	s := New(t)
	s.AddToken("secret", "acme")
	s.Permit("acme/widget", "ada", "maintain")
	s.Permit("acme/widget", "tim", "triage")
	s.Permit("acme/widget", "ned", "none")
	for _, tt := range []struct {
		user, permission, role string
		push                   bool
	}{
		{"acme", "admin", "admin", true},
		{"ada", "write", "maintain", true},
		{"tim", "read", "triage", false},
		{"ned", "none", "none", false},
		{"nobody", "read", "read", false},
	} {
		_, got := get(t, s, "/repos/acme/widget/collaborators/"+tt.user+"/permission", "secret")
		push := got["user"].(map[string]any)["permissions"].(map[string]any)["push"]
		if got["permission"] != tt.permission || got["role_name"] != tt.role || push != tt.push {
			t.Errorf("%s: %v, %v, push %v", tt.user, got["permission"], got["role_name"], push)
		}
	}
	s.AddRepository("acme/widget", true)
	if _, got := get(t, s, "/repos/acme/widget/collaborators/nobody/permission", "secret"); got["permission"] != "none" {
		t.Errorf("what is private is open to everybody: %v", got)
	}
}

func TestFaultsGoOneByOne(t *testing.T) {
	s := New(t)
	s.AddIssue("acme/widget", Issue{Number: 7, Title: "T"})
	s.Fault("GET /repos/acme/widget/issues/7", Status(502, "a"), Status(404, "b"))
	var got []int
	for _, path := range []string{"/repos/acme/widget/issues/7", "/repos/acme/widget/issues/8", "/repos/acme/widget/issues/7", "/repos/acme/widget/issues/7"} {
		status, _ := get(t, s, path, "")
		got = append(got, status)
	}
	if diff := cmp.Diff([]int{502, 404, 404, 200}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if n := len(s.Requests()); n != 4 {
		t.Errorf("%d requests are noted", n)
	}
}
