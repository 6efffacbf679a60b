package github

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// reason is what GitHub says is wrong with what was sent.
func reason(v object) string {
	list, _ := v["errors"].([]any)
	if len(list) == 0 {
		return fmt.Sprint(v["message"])
	}
	first := list[0].(object)
	if first["message"] != nil {
		return fmt.Sprint(first["message"])
	}
	return fmt.Sprint(first["field"], " ", first["code"])
}

func TestCreatePull(t *testing.T) {
	for _, tt := range []struct {
		name, token string
		settings    Settings
		change      object // of what is sent
		want        int
		says        string
	}{
		{"works", "write", Settings{}, nil, 201, ""},
		{"works as a job", "job", Settings{}, nil, 201, ""},
		{"with the owner", "write", Settings{}, object{"head": "acme:work"}, 201, ""},
		{"no commits", "write", Settings{}, object{"head": "main"}, 422, "No commits between main and main"},
		{"same commit", "write", Settings{}, object{"head": "same"}, 422, "No commits between main and same"},
		{"no such branch", "write", Settings{}, object{"head": "none"}, 422, "head invalid"},
		{"no such owner", "write", Settings{}, object{"head": "none:work"}, 422, "head invalid"},
		{"no such base", "write", Settings{}, object{"base": "none"}, 422, "base invalid"},
		{"is there", "write", Settings{}, object{"head": "old"}, 422, "A pull request already exists for acme:old."},
		{"no title", "write", Settings{}, object{"title": ""}, 422, "title missing_field"},
		{"long title", "write", Settings{}, object{"title": strings.Repeat("ü", 257)}, 422, "title is too long (maximum is 256 characters)"},
		{"long body", "write", Settings{}, object{"body": strings.Repeat("x", 65537)}, 422, "body is too long (maximum is 65536 characters)"},
		{"no drafts", "write", Settings{NoDrafts: true}, nil, 422, "Draft pull requests are not supported in this repository."},
		{"jobs may not", "job", Settings{NoActionsPulls: true}, nil, 403, "GitHub Actions is not permitted to create or approve pull requests."},
		{"people may", "write", Settings{NoActionsPulls: true}, nil, 201, ""},
	} {
		s := people(t)
		s.Configure("acme/widget", tt.settings)
		s.SetBranch("acme/widget", "main", "1")
		s.SetBranch("acme/widget", "same", "1")
		s.SetBranch("acme/widget", "work", "2")
		s.SetBranch("acme/widget", "old", "3")
		s.AddPull("acme/widget", Pull{Title: "Old", Head: "old"})
		s.AddPull("acme/widget", Pull{Title: "Closed", Head: "work", State: "closed"})
		input := object{"title": "P", "head": "work", "base": "main", "draft": true, "body": "B"}
		for name, value := range tt.change {
			input[name] = value
		}
		got := asks(t, s, tt.token, "POST", repo+"/pulls", input, tt.want)
		if said := reason(got); tt.says != "" && said != tt.says {
			t.Errorf("%s: it says %q", tt.name, said)
		}
		if n := len(s.Pulls("acme/widget")); n != 2+map[int]int{201: 1}[tt.want] {
			t.Errorf("%s: %d pull requests", tt.name, n)
		}
	}
}

func TestMarkReady(t *testing.T) {
	s := people(t)
	n := s.AddPull("acme/widget", Pull{Title: "P", Head: "work", Author: "github-actions[bot]", Draft: true})
	pull := s.Pulls("acme/widget")[0]
	const ready = `mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft number } } }`
	send := func(token, query, id string) object {
		t.Helper()
		return asks(t, s, token, "POST", "/graphql", object{"query": query, "variables": object{"id": id}}, 200)
	}
	wrong := func(answer object) string { return fmt.Sprint(answer["errors"]) }
	for _, tt := range []struct{ token, query, id, says string }{
		{"job", ready, "PR_none", "NOT_FOUND"},
		{"read", ready, pull.NodeID(), "FORBIDDEN"},
		{"job", strings.Replace(ready, "isDraft", "draft", 1), pull.NodeID(), "Field 'draft' doesn't exist"},
		{"job", "{ nothing }", "", "Field 'nothing' doesn't exist"},
		{"job", "{ viewer { login }", "", "Parse error"},
		{"job", strings.ReplaceAll(ready, "$id", "$other"), pull.NodeID(), "$other was not given"},
		{"job", "{ viewer }", "", "must have selections"},
	} {
		if got := wrong(send(tt.token, tt.query, tt.id)); !strings.Contains(got, tt.says) {
			t.Errorf("%s: %s", tt.says, got)
		}
	}
	s.AddPull("acme/widget", Pull{Number: n, Title: "P", Head: "work", Draft: true})
	pull = s.Pulls("acme/widget")[0]
	if got := send("job", ready, pull.NodeID()); got["errors"] != nil || s.Pulls("acme/widget")[0].Draft {
		t.Errorf("it is no ready pull request: %v", got)
	}
	s.Allow("job", "acme/widget", map[string]string{"pull_requests": "read"})
	if got := wrong(send("job", ready, pull.NodeID())); !strings.Contains(got, "Resource not accessible by integration") {
		t.Errorf("a job without the right: %s", got)
	}
	asks(t, s, "", "POST", "/graphql", object{"query": "{viewer{login}}"}, 401)
	viewer := send("job", "query { viewer { login databaseId } }", "")["data"].(object)["viewer"].(object)
	if viewer["login"] != "github-actions[bot]" || viewer["databaseId"] != 41898282.0 {
		t.Errorf("the viewer is %v", viewer)
	}
}

// With a repository on disk, branches are what git has.
func TestBare(t *testing.T) {
	dir := t.TempDir()
	bare, work := filepath.Join(dir, "bare.git"), filepath.Join(dir, "work")
	git := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=M", "-c", "user.email=m@example.com"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git(dir, "init", "-q", "-b", "main", work)
	git(work, "commit", "-q", "--allow-empty", "-m", "a")
	git(work, "branch", "behind")
	git(work, "commit", "-q", "--allow-empty", "-m", "b")
	git(dir, "clone", "-q", "--bare", work, bare)
	s := people(t)
	s.Bare("acme/widget", bare)
	send := func(head string, want int, says string) {
		t.Helper()
		got := asks(t, s, "write", "POST", repo+"/pulls", object{"title": "P", "head": head, "base": "main"}, want)
		if says != "" && reason(got) != says {
			t.Errorf("%s: it says %q", head, reason(got))
		}
	}
	send("behind", 422, "No commits between main and behind")
	send("reprise/7", 422, "head invalid")
	git(work, "checkout", "-q", "-b", "reprise/7")
	git(work, "commit", "-q", "--allow-empty", "-m", "c")
	git(work, "push", "-q", bare, "reprise/7")
	send("reprise/7", 201, "")
	head := git(work, "rev-parse", "HEAD")
	if got := asks(t, s, "ann", "GET", repo+"/git/ref/heads/reprise/7", nil, 200)["object"].(object)["sha"]; got != head {
		t.Errorf("the branch is at %v, want %s", got, head)
	}
	asks(t, s, "write", "POST", repo+"/actions/workflows/none.yml/dispatches", object{"ref": "main"}, 404)
	if err := os.MkdirAll(filepath.Join(work, ".github/workflows"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, ".github/workflows/ci.yml"), []byte("on: workflow_dispatch\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(work, "add", ".")
	git(work, "commit", "-q", "-m", "d")
	git(work, "push", "-q", bare, "HEAD:main")
	asks(t, s, "write", "POST", repo+"/actions/workflows/ci.yml/dispatches", object{"ref": "main"}, 204)
}
