package api

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/github/githubtest/openapi"
	"github.com/reprise-ci/reprise/internal/github/githubtest/shape"
	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// widget is the API of a state with acme/widget, its issue 7, and a token of ann's.
func widget(tb testing.TB) (*API, *state.Repository) {
	tb.Helper()
	data, err := os.ReadFile("../testdata/api.github.com.json")
	if err != nil {
		tb.Fatal(err)
	}
	d, err := openapi.Read(data)
	if err != nil {
		tb.Fatal(err)
	}
	st := state.New()
	st.Tokens["ann"] = &state.Token{Login: "ann"}
	r := st.Repository("acme/widget")
	r.AddIssue(&state.Issue{Number: 7, Title: "T"})
	return New(shape.Objects{State: st, API: "http://api.example.com", Web: "https://github.com"}, d, tb), r
}

// ask sends a request as ann.
func ask(a *API, method, path, body string) Reply {
	in := &Incoming{Method: method, Path: path, Query: url.Values{}, Token: "ann", Body: []byte(body)}
	a.Understand(in)
	return a.Answer(in)
}

// What the server itself gets wrong is noticed, too.
func TestAnswersAreChecked(t *testing.T) {
	a, repo := widget(t)
	at, _ := find(a.routes, "GET", "/repos/acme/widget/issues/7")
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
		is := a.show.Issue(repo, repo.Issues[7])
		tt.change(is)
		body, err := json.Marshal(is)
		if err != nil {
			t.Fatal(err)
		}
		wrong := strings.Join(a.check(at, tt.status, body), "; ")
		if tt.want == "" && wrong != "" || !strings.Contains(wrong, tt.want) {
			t.Errorf("%s: it says %q", tt.name, wrong)
		}
	}
}

// mistakes are what a reporter was told.
type mistakes []string

func (m *mistakes) Errorf(format string, args ...any) { *m = append(*m, fmt.Sprintf(format, args...)) }

// What another package keeps is not there until it says what it does.
func TestExtend(t *testing.T) {
	const reviews = "/pulls/{pull_number}/reviews"
	a, repo := widget(t)
	repo.AddPull(state.Pull{Number: 8, Title: "P", Head: "work"})
	if got := ask(a, "GET", "/repos/acme/widget/pulls/8/reviews", ""); got.Status != 404 {
		t.Errorf("nobody keeps it: %d", got.Status)
	}
	a.Extend("GET", reviews, func(d *Desk) Result {
		if d.Pull(int(d.Param("pull_number"))) == nil || d.Login() != "ann" || d.Association("acme") != "OWNER" {
			t.Error("the desk is not that of the request")
		}
		return d.Page(nil)
	})
	if got := ask(a, "GET", "/repos/acme/widget/pulls/8/reviews", ""); got.Status != 200 || string(got.Body) != "[]" {
		t.Errorf("it answers %d, %s", got.Status, got.Body)
	}
	said := &mistakes{}
	a.report = said
	a.Extend("GET", "/nothing", nil)
	if len(*said) != 1 || !strings.Contains((*said)[0], "there is no operation GET /nothing") {
		t.Errorf("it says %q", *said)
	}
}

// The old place of a moved issue redirects: after 307 a client sends the same request there.
func TestGone(t *testing.T) {
	a, repo := widget(t)
	st := a.show.State
	to := st.Repository("acme/gadget")
	st.Transfer(repo, repo.Issues[7], to)
	repo.AddIssue(&state.Issue{Number: 8, Title: "T"})
	st.DeleteIssue(repo, 8)
	for _, tt := range []struct {
		method, path, body string
		status             int
		leads              string
	}{
		{"GET", "7", "", 301, "1"},
		{"GET", "7/comments", "", 301, "1/comments"},
		{"POST", "7/comments", `{"body":"x"}`, 307, "1/comments"},
		{"GET", "8", "", 410, ""},
		{"GET", "9", "", 404, ""},
	} {
		if tt.leads != "" {
			tt.leads = fmt.Sprintf("http://api.example.com/repositories/%d/issues/%s", to.ID, tt.leads)
		}
		if got := ask(a, tt.method, "/repos/acme/widget/issues/"+tt.path, tt.body); got.Status != tt.status || got.Header["Location"] != tt.leads {
			t.Errorf("%s %s: %d, %s", tt.method, tt.path, got.Status, got.Header["Location"])
		}
	}
}

func TestRouteOf(t *testing.T) {
	all := routes()
	for _, tt := range []struct {
		method, path, route string
		value               string // of the last place
	}{
		{"GET", "/repos/acme/widget", inRepo, "widget"},
		{"GET", "/repos/acme/widget/issues/7", inRepo + "/issues/{issue_number}", "7"},
		{"GET", "/repos/acme/widget/issues/comments/7", inRepo + "/issues/comments/{comment_id}", "7"},
		{"DELETE", "/repos/acme/widget/issues/7/labels/p%3A%201", inRepo + "/issues/{issue_number}/labels/{name}", "p: 1"},
		{"GET", "/repos/acme/widget/contents/docs/a%20b.md", inRepo + "/contents/{path}", "docs/a b.md"},
		{"GET", "/repos/acme/widget/branches/reprise%2F7", inRepo + "/branches/{branch}", "reprise/7"},
		{"GET", "/repos/acme/widget/issues/7/nothing", "", ""},
		{"GET", "/repos/acme//issues", "", ""},
		{"HEAD", "/user", "", ""},
	} {
		r, params := find(all, tt.method, tt.path)
		switch {
		case r == nil && tt.route != "", r != nil && r.path != tt.route:
			t.Errorf("%s %s: %v", tt.method, tt.path, r)
		case r != nil && params[strings.Trim(r.path[strings.LastIndex(r.path, "{"):], "{}")] != tt.value:
			t.Errorf("%s: %v", tt.path, params)
		}
	}
}

func BenchmarkComments(b *testing.B) {
	a, repo := widget(b)
	for range 100 {
		repo.AddComment(repo.Issues[7], state.Comment{Body: "x"})
	}
	in := &Incoming{Method: "GET", Path: "/repos/acme/widget/issues/7/comments", Query: url.Values{"per_page": {"100"}}}
	for b.Loop() {
		a.Understand(in)
		if got := a.Answer(in); got.Status != 200 {
			b.Fatal(got.Status)
		}
	}
}
