package githubtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// program is a host that is no test. It keeps what it is told.
type program struct {
	mu       sync.Mutex
	said     []string
	cleanups []func()
}

func (p *program) Helper()          {}
func (p *program) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }
func (p *program) Errorf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, fmt.Sprintf(format, args...))
}

func (p *program) end() string {
	for _, f := range p.cleanups {
		f()
	}
	return strings.Join(p.said, "\n")
}

// What a client gets wrong is reported, and refused.
func TestRequestsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		method, path string
		input        any
		status       int
		want         string
	}{
		{"GET", "/nothing", nil, 404, "no such route"},
		{"PUT", issue, nil, 404, "no such route"},
		{"GET", repo + "/issues/seven", nil, 404, `issue_number is the text "seven", and no integer`},
		{"GET", issue + "/comments?perpage=100", nil, 422, "perpage is unknown"},
		{"GET", issue + "/comments?per_page=many", nil, 422, "per_page"},
		{"GET", issue + "/comments?since=yesterday", nil, 422, "since"},
		{"GET", repo + "/issues?state=opened", nil, 422, "state is opened, and not one of"},
		{"POST", issue + "/comments", nil, 422, "it has no body"},
		{"POST", issue + "/comments", object{}, 422, "body.body is missing"},
		{"POST", issue + "/comments", object{"body": 1}, 422, "body.body is 1, and no text"},
		{"POST", issue + "/comments", object{"body": "x", "text": "y"}, 422, "body.text is unknown"},
		{"POST", issue + "/reactions", object{"content": "thumbsup"}, 422, "body.content is thumbsup"},
		{"POST", issue + "/labels", object{"labels": []string{}}, 422, "needs 1"},
		{"POST", repo + "/dispatches", object{"event_type": strings.Repeat("x", 101)}, 422, "has 101 characters"},
		{"POST", issue + "/sub_issues", object{"sub_issue_id": 1.5}, 422, "no integer"},
		{"POST", repo + "/issues", []string{"x"}, 422, "no object"},
		{"PATCH", issue, object{"state": "gone"}, 422, "body.state"},
	} {
		p := &program{}
		s := New(p)
		s.AddToken("ada", "ada")
		s.Permit("acme/widget", "ada", "admin")
		s.AddIssue("acme/widget", Issue{Number: 7, Title: "T"})
		asks(t, s, "ada", tt.method, tt.path, tt.input, tt.status)
		if said := p.end(); !strings.Contains(said, tt.want) {
			t.Errorf("%s %s %v: it says %q, and not %q", tt.method, tt.path, tt.input, said, tt.want)
		}
	}
}

// What the server itself gets wrong is noticed, too.
func TestAnswersAreChecked(t *testing.T) {
	s := people(t)
	at, _ := find(s.routes, "GET", issue)
	for _, tt := range []struct {
		name   string
		status int
		change func(object)
		want   string
	}{
		{"right", 200, func(object) {}, ""},
		{"missing", 200, func(v object) { delete(v, "events_url") }, "answer.events_url is missing"},
		{"wrong", 200, func(v object) { v["number"] = "7" }, `answer.number is the text "7", and no integer`},
		{"unknown", 200, func(v object) { v["titel"] = "T" }, "answer.titel is unknown"},
		{"missing below", 200, func(v object) { delete(v["user"].(object), "login") }, "answer.user.login is missing"},
		{"no time", 200, func(v object) { v["created_at"] = "today" }, "answer.created_at"},
		{"no address", 200, func(v object) { v["url"] = "issues/7" }, "answer.url"},
		{"null", 200, func(v object) { v["title"] = nil }, "answer.title is null, and no text"},
		{"no such status", 204, func(object) {}, "no such status"},
	} {
		is := s.issueObject(s.repos["acme/widget"], s.repos["acme/widget"].issues[7])
		tt.change(is)
		body, err := json.Marshal(is)
		if err != nil {
			t.Fatal(err)
		}
		wrong := strings.Join(checkAnswer(s.api, at, tt.status, body), "; ")
		if tt.want == "" && wrong != "" || !strings.Contains(wrong, tt.want) {
			t.Errorf("%s: it says %q", tt.name, wrong)
		}
	}
}

// A mistake in a test is said, and breaks nothing.
func TestMistakes(t *testing.T) {
	p := &program{}
	s := New(p)
	s.AddRepository("acme", false)
	s.AddComment("acme/widget", 7, Comment{Body: "x"})
	s.ChangeIssue("acme/widget", 7, func(is *Issue) { is.Locked = true })
	s.EditComment("acme/widget", 1, "x")
	s.DeleteComment("acme/widget", 1)
	s.Allow("none", "acme/widget", nil)
	if got := s.CommentPayload("acme/widget", 1, "created", ""); got != nil {
		t.Errorf("there is a payload: %s", got)
	}
	said := p.end()
	if n := strings.Count(said, "githubtest: "); n != 7 {
		t.Errorf("%d mistakes are said:\n%s", n, said)
	}
}

func BenchmarkComments(b *testing.B) {
	s := New(b)
	s.AddIssue("acme/widget", Issue{Number: 7, Title: "T"})
	for range 100 {
		s.AddComment("acme/widget", 7, Comment{Body: "x"})
	}
	in := &incoming{method: "GET", path: issue + "/comments", query: map[string][]string{"per_page": {"100"}}}
	for b.Loop() {
		s.understand(in)
		if a := s.answer(in); a.status != 200 {
			b.Fatal(a.status)
		}
	}
}
