package github

import (
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
