package github

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// ask sends a request, and gives the answer with its body as JSON.
func ask(t *testing.T, s *Server, token, method, path string, input any, headers ...string) (*http.Response, any) {
	t.Helper()
	var body io.Reader
	if input != nil {
		data, err := json.Marshal(input)
		testenv.Must(t, err)
		body = strings.NewReader(string(data))
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, body)
	testenv.Must(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	var v any
	if len(data) > 0 {
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatalf("%s %s: %v in %.200s", method, path, err, data)
		}
	}
	return resp, v
}

// onDisk makes a bare git repository with these files on its branch main.
func onDisk(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, work := filepath.Join(t.TempDir(), "bare.git"), t.TempDir()
	for name, body := range files {
		file := filepath.Join(work, filepath.FromSlash(name))
		testenv.Put(t, file, body)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main", work},
		{"-C", work, "add", "--all"},
		{"-C", work, "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "--message=start"},
		{"clone", "--quiet", "--bare", work, dir},
	} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	return dir
}

// blobOf gives the hash of a file on main.
func blobOf(t *testing.T, repository, name string) string {
	t.Helper()
	id, err := exec.CommandContext(t.Context(), "git", "--git-dir", repository, "rev-parse", "main:"+name).Output()
	testenv.Must(t, err)
	return strings.TrimSpace(string(id))
}

// The server holds every answer against GitHub's description by itself: each
// operation answers at least once well.
func TestEveryRoute(t *testing.T) {
	s := New(t)
	s.AddToken("ada", "ada")
	s.AddInstallation("job", "github-actions[bot]")
	s.AddRepository("acme/widget", false)
	s.Permit("acme/widget", "ada", "write")
	s.SetBranch("acme/widget", "reprise/7", strings.Repeat("a", 40))
	s.SetBranch("acme/widget", "reprise/8", strings.Repeat("b", 40))
	s.AddIssue("acme/widget", Issue{Number: 7, Title: "T", Body: "B", Labels: []string{"bug", "p: 1"}})
	s.AddIssue("acme/widget", Issue{Number: 8, Title: "T", State: "closed", Locked: true, Author: "github-actions[bot]"})
	s.AddIssue("acme/widget", Issue{Number: 9, Title: "T", Pull: true})
	s.AddPull("acme/widget", Pull{Number: 10, Title: "Old", Head: "reprise/8", Merged: true, State: "closed"})
	c := s.AddComment("acme/widget", 7, Comment{Author: "ada", Body: "/run"})
	gone := s.AddComment("acme/widget", 7, Comment{Author: "gone", Body: "Bye"})
	s.DeleteAccount("gone")
	s.AddReaction("acme/widget", c, "bob", "eyes")
	s.AddRun("acme/widget", Run{ID: 5})
	s.AddRun("acme/widget", Run{ID: 6, Status: "completed", Conclusion: "failure", Jobs: []Job{{Runner: "one", Status: "completed"}, {Name: "test"}}})
	files := onDisk(t, map[string]string{"docs/a b.md": "# A\n", "docs/deep/c.md": "C", "large": strings.Repeat("x", largeFile+1)})
	s.Bare("acme/files", files)
	s.Permit("acme/files", "ada", "write")
	s.AddRepository("ada/own", false)
	blob, tree := blobOf(t, files, "docs/a b.md"), blobOf(t, files, "docs")
	const r = "/repos/acme/widget"
	comment := fmt.Sprintf("%s/issues/comments/%d", r, c)
	for _, tt := range []struct {
		method, path string
		input        any
		want         int
	}{
		{"GET", "/user", nil, 200},
		{"GET", r, nil, 200},
		{"GET", r + "/collaborators/ada/permission", nil, 200},
		{"GET", r + "/collaborators/gone/permission", nil, 404},
		{"GET", r + "/issues?state=all&labels=bug&creator=octocat&per_page=2&page=1&since=2020-01-01T00:00:00Z", nil, 200},
		{"GET", r + "/issues", nil, 200},
		{"GET", "/search/issues?q=repo:acme/widget+is:issue+is:open+label:bug&sort=created&order=asc", nil, 200},
		{"GET", "/search/issues?q=repo:acme/none", nil, 422},
		{"POST", r + "/issues", object{"title": "New", "body": "B", "labels": []string{"x"}}, 201},
		{"GET", r + "/issues/7", nil, 200},
		{"GET", r + "/issues/8", nil, 200},
		{"GET", r + "/issues/9", nil, 200},
		{"GET", r + "/issues/404", nil, 404},
		{"PATCH", r + "/issues/7", object{"title": "Newer", "body": "B2", "labels": []string{"bug"}}, 200},
		{"GET", r + "/issues/7/labels", nil, 200},
		{"POST", r + "/issues/7/labels", object{"labels": []string{"reprise"}}, 200},
		{"DELETE", r + "/issues/7/labels/reprise", nil, 200},
		{"DELETE", r + "/issues/7/labels/reprise", nil, 404},
		{"GET", r + "/issues/7/comments?per_page=1", nil, 200},
		{"POST", r + "/issues/7/comments", object{"body": "Hello"}, 201},
		{"POST", r + "/issues/9/comments", object{"body": "Hello"}, 201},
		{"POST", r + "/issues/7/comments", object{"body": strings.Repeat("x", 65537)}, 422},
		{"GET", comment, nil, 200},
		{"GET", fmt.Sprintf("%s/issues/comments/%d", r, gone), nil, 200},
		{"PATCH", comment, object{"body": "Hello 2"}, 200},
		{"GET", comment + "/reactions?content=eyes", nil, 200},
		{"POST", comment + "/reactions", object{"content": "rocket"}, 201},
		{"POST", comment + "/reactions", object{"content": "rocket"}, 200},
		{"DELETE", comment + "/reactions/{id}", nil, 204},
		{"DELETE", comment, nil, 204},
		{"GET", comment, nil, 404},
		{"GET", r + "/issues/7/reactions", nil, 200},
		{"POST", r + "/issues/7/reactions", object{"content": "eyes"}, 201},
		{"DELETE", r + "/issues/7/reactions/{id}", nil, 204},
		{"GET", r + "/issues/7/sub_issues", nil, 200},
		{"POST", r + "/issues/7/sub_issues", object{"sub_issue_id": s.Issues("acme/widget")[1].ID}, 201},
		{"POST", r + "/issues/7/sub_issues", object{"sub_issue_id": s.Issues("acme/widget")[1].ID}, 422},
		{"GET", r + "/issues/7/sub_issues", nil, 200},
		{"GET", r + "/pulls?state=all&head=acme:reprise/8", nil, 200},
		{"POST", r + "/pulls", object{"title": "P", "head": "reprise/7", "base": "main", "draft": true, "body": "B"}, 201},
		{"POST", r + "/pulls", object{"title": "P", "head": "reprise/7", "base": "main"}, 422},
		{"POST", r + "/pulls", object{"title": "P", "head": "main", "base": "main"}, 422},
		{"POST", r + "/pulls", object{"title": "P", "head": "reprise/8", "base": "none"}, 422},
		{"POST", r + "/pulls", object{"title": " ", "head": "reprise/8", "base": "main"}, 422},
		{"POST", r + "/issues", object{"title": strings.Repeat("x", 257)}, 422},
		{"GET", r + "/pulls/10", nil, 200},
		{"PATCH", r + "/pulls/10", object{"title": "P2", "body": "B2"}, 200},
		{"GET", r + "/git/ref/heads/reprise/7", nil, 200},
		{"GET", r + "/git/ref/heads/none", nil, 404},
		{"GET", r + "/branches/reprise%2F7", nil, 200},
		{"GET", r + "/branches/main", nil, 200},
		{"GET", r + "/commits?sha=main", nil, 200},
		{"GET", "/repos/acme/files/commits?sha=main&per_page=50", nil, 200},
		{"GET", "/repos/acme/files/commits?sha=none", nil, 404},
		{"GET", "/repos/acme/files/contents/docs/a%20b.md?ref=main", nil, 200},
		{"GET", "/repos/acme/files/contents/large?ref=HEAD", nil, 200},
		{"GET", "/repos/acme/files/contents/docs", nil, 200},
		{"GET", "/repos/acme/files/contents/docs/none.md?ref=main", nil, 404},
		{"GET", "/repos/acme/files/contents/docs?ref=none", nil, 404},
		{"GET", "/repos/acme/files/git/blobs/" + blob, nil, 200},
		{"GET", "/repos/acme/files/git/blobs/" + strings.Repeat("0", 40), nil, 404},
		{"POST", r + "/git/refs", object{"ref": "refs/heads/new", "sha": strings.Repeat("0", 40)}, 422},
		{"POST", "/repos/acme/files/git/commits", object{"message": "more", "tree": tree, "parents": []any{}}, 201},
		{"POST", "/repos/acme/files/git/commits", object{"message": "more", "tree": blob, "parents": []any{}}, 422},
		{"GET", r + "/rules/branches/reprise/issue-7", nil, 200},
		{"GET", r + "/actions/permissions/workflow", nil, 403},
		{"GET", "/repos/ada/own/actions/permissions/workflow", nil, 200},
		{"GET", r + "/actions/runs/5", nil, 200},
		{"GET", r + "/actions/runs/6", nil, 200},
		{"GET", r + "/actions/runs/6/attempts/1/jobs", nil, 200},
		{"GET", r + "/actions/runs/6/attempts/2/jobs", nil, 404},
		{"POST", r + "/actions/workflows/reprise.yml/dispatches", object{"ref": "main", "inputs": object{"issue": "7"}}, 204},
		{"POST", r + "/dispatches", object{"event_type": "reprise", "client_payload": object{"issue": 7}}, 204},
		{"POST", "/graphql", object{"query": "query { viewer { login databaseId } }"}, 200},
	} {
		path := tt.path
		if strings.Contains(path, "{id}") {
			list := strings.TrimSuffix(path, "/{id}")
			_, all := ask(t, s, "ada", "GET", list, nil)
			reactions := all.([]any)
			path = fmt.Sprintf("%s/%.0f", list, reactions[len(reactions)-1].(object)["id"])
		}
		resp, v := ask(t, s, "ada", tt.method, path, tt.input)
		if resp.StatusCode != tt.want {
			t.Errorf("%s %s: %d, want %d: %v", tt.method, path, resp.StatusCode, tt.want, v)
		}
	}
	seen := map[string]bool{}
	for _, r := range s.Requests() {
		seen[r.Route] = true
	}
	for _, route := range Routes() {
		elsewhere := strings.HasSuffix(route, "/actions/runs") // see the tests of those who use checks and reviews
		for _, part := range []string{"/pulls/{pull_number}/", "/assignees", "/commits/{ref}/", "/check-runs/", "/actions/jobs/", "/statuses/"} {
			elsewhere = elsewhere || strings.Contains(route, part)
		}
		if !seen[route] && !elsewhere {
			t.Errorf("%s was not tried", route)
		}
	}
}
