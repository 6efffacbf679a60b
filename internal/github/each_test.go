package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
)

const (
	widget = "acme/widget"
	marker = "<!-- reprise:test:v1 -->"
)

// stand is a GitHub with something of everything, and a client for it.
type stand struct {
	*githubtest.Server
	gh      *Client
	clock   *clock
	thread  *Thread
	comment int64 // by bob, on issue 7
	draft   Pull  // number 20
	child   Issue // number 30
	job     int64 // that has a log
}

func newStand(t *testing.T) *stand {
	t.Helper()
	s := &stand{Server: githubtest.New(t)}
	s.gh, s.clock = clientWithin(t, s.Server, canary, quick)
	s.SetClock(s.clock.now)
	s.Permit(widget, "ada", "write")
	s.AddIssue(widget, githubtest.Issue{Number: 30, Title: "Follow-up", Author: "ada"})
	s.AddPull(widget, githubtest.Pull{Number: 20, Title: "Draft", Head: "draft", Draft: true, Author: "ada"})
	s.SetBranch(widget, "draft", strings.Repeat("a", 40))
	s.SetBranch(widget, "work", strings.Repeat("b", 40))
	s.job = githubtest.NewChecks(s.Server, widget, t.Cleanup).Set("c0ffee", githubtest.Check{Name: "test", Workflow: "ci.yml", Conclusion: "failure", Log: "The test is red.\n"})
	s.comment = s.AddComment(widget, 7, githubtest.Comment{Author: "bob", Body: "/run"})
	s.draft = Pull{Number: 20, NodeID: s.Pulls(widget)[0].NodeID(), Draft: true, URL: "https://github.com/acme/widget/pull/20"}
	for _, is := range s.Issues(widget) {
		if is.Number == 30 {
			s.child = Issue{ID: is.ID, Number: 30}
		}
	}
	s.thread = s.gh.In("acme/widget").Thread(7)
	return s
}

// ours counts the comments that begin with the marker and are by ada.
func (s *stand) ours() int {
	n := 0
	for _, c := range s.Comments(widget, 7) {
		if c.Author == "ada" && firstLine(c.Body) == marker {
			n++
		}
	}
	return n
}

// act is one thing that a client can do.
type act struct {
	name    string
	what    string // how its errors begin, or one of them
	do      func(ctx context.Context, s *stand) error
	effects func(s *stand) int // how often it was done; nil: it changes nothing
	once    bool               // what is not clear is not asked for again
	answers []string           // the troubles that are an answer, not an error
}

func acts() []act {
	newest := func(s *stand) []githubtest.Pull { return s.Pulls(widget)[1:] }
	return []act{
		{name: "Self", what: "read who the token belongs to: ", do: func(ctx context.Context, s *stand) error {
			u, err := s.gh.Self(ctx)
			return expect(err, u.Login == "ada" && u.ID == githubtest.UserID("ada"), u)
		}},
		{name: "Repository", what: "read the repository acme/widget: ", do: func(ctx context.Context, s *stand) error {
			r, err := s.gh.In("acme/widget").Repository(ctx)
			return expect(err, r == Repository{FullName: widget, DefaultBranch: "main", HasIssues: true, Role: RoleWrite}, r)
		}},
		{name: "Role", what: "read what ada may do in acme/widget: ", answers: []string{"404"}, do: func(ctx context.Context, s *stand) error {
			r, err := s.gh.In("acme/widget").Role(ctx, "ada")
			return expect(err, r == RoleWrite || r == roleNone, r)
		}},
		{name: "Comments", what: "read the comments of issue 7 of acme/widget: ", do: func(ctx context.Context, s *stand) error {
			list, changed, err := s.thread.Comments(ctx, time.Time{})
			return expect(err, changed && len(list) == 1 && list[0].ID == s.comment && !list[0].Edited(), list)
		}},
		{name: "Comment", what: "read comment ", answers: []string{"404"}, do: func(ctx context.Context, s *stand) error {
			c, err := s.thread.Comment(ctx, s.comment)
			return expect(err, c.Body == "/run" && c.Author.Login == "bob", c)
		}},
		{name: "React", what: "react to comment ", do: func(ctx context.Context, s *stand) error {
			fresh, err := s.thread.React(ctx, s.comment, Eyes)
			return expect(err, fresh, s.gh.self.user)
		}, effects: func(s *stand) int { return len(s.Reactions(widget, s.comment)) }},
		{name: "Reacted", what: "read ", do: func(ctx context.Context, s *stand) error {
			if _, err := s.gh.Self(ctx); err != nil {
				return err
			}
			ours, whole, err := s.thread.Reacted(ctx, s.comment)
			return expect(err, whole && len(ours) == 0, ours)
		}},
		{name: "RemoveLabel", what: "take the label \"bug\" off issue 7 of acme/widget: ", answers: []string{"404"}, do: func(ctx context.Context, s *stand) error {
			return s.thread.RemoveLabel(ctx, "bug")
		}, effects: func(s *stand) int { return 1 - len(s.Labels(widget, 7)) }},
		{name: "Post", what: "comment on issue 7 of acme/widget: ", do: func(ctx context.Context, s *stand) error {
			c, err := s.thread.Post(ctx, marker, "hello", time.Time{})
			return expect(err, c.Body == marker+"\nhello" && c.ID != 0, c)
		}, effects: (*stand).ours},
		{name: "Live", what: "comment on issue 7 of acme/widget: ", do: func(ctx context.Context, s *stand) error {
			l := s.thread.Live(marker, 0)
			if err := l.Show(ctx, "hello"); err != nil {
				return err
			}
			id, url := l.Comment()
			return expect(nil, id != 0 && strings.HasSuffix(url, fmt.Sprint("#issuecomment-", id)), url)
		}, effects: (*stand).ours},
		{name: "OpenPull", what: "open a pull request of work to main in acme/widget: ", do: func(ctx context.Context, s *stand) error {
			p, err := s.gh.In("acme/widget").OpenPull(ctx, Pull{Title: "T", Body: "B", Head: "work", Base: "main", Draft: true})
			return expect(err, p.Number > 30 && p.Draft && p.State == "open" && p.NodeID != "" && p.HeadRepository == widget, p)
		}, effects: func(s *stand) int { return len(newest(s)) }},
		{name: "Pull", what: "read pull request 20 of acme/widget: ", do: func(ctx context.Context, s *stand) error {
			p, err := s.gh.In("acme/widget").Pull(ctx, 20)
			return expect(err, p.Title == "Draft" && p.Draft && p.Head == "draft" && p.Base == "main", p)
		}},
		{name: "UpdatePull", what: "edit pull request 20 of acme/widget: ", do: func(ctx context.Context, s *stand) error {
			return s.gh.In("acme/widget").UpdatePull(ctx, 20, "Done.")
		}, effects: func(s *stand) int { return strings.Count(s.Pulls(widget)[0].Body, "Done.") }},
		{name: "ReadyPull", what: "mark pull request 20 of acme/widget as ready: ", do: func(ctx context.Context, s *stand) error {
			return s.gh.In("acme/widget").ReadyPull(ctx, s.draft)
		}, effects: func(s *stand) int {
			if s.Pulls(widget)[0].Draft {
				return 0
			}
			return 1
		}},
		{name: "MayOpenPull", what: "ask whether pull requests may be opened in acme/widget: ", answers: []string{"422"}, do: func(ctx context.Context, s *stand) error {
			return s.gh.In("acme/widget").MayOpenPull(ctx, "main")
		}},
		{name: "OpenIssue", what: "open an issue in acme/widget: ", do: func(ctx context.Context, s *stand) error {
			is, err := s.gh.In("acme/widget").OpenIssue(ctx, marker, NewIssue{Title: "Later", Body: "x", Labels: []string{"follow-up"}})
			return expect(err, is.Number > 30 && is.ID != 0 && is.Body == marker+"\nx" && len(is.Labels) == 1, is)
		}, effects: func(s *stand) int { return len(s.Issues(widget)) - 3 }},
		{name: "AddSubIssue", what: "add a sub-issue to issue 7 of acme/widget: ", do: func(ctx context.Context, s *stand) error {
			return s.gh.In("acme/widget").AddSubIssue(ctx, 7, s.child.ID)
		}, effects: func(s *stand) int { return len(s.SubIssues(widget, 7)) }},
		{name: "Tail", what: "read the log: ", do: func(ctx context.Context, s *stand) error {
			log, err := s.gh.In("acme/widget").tail(ctx, Request{What: "read the log", Needs: "actions: read", Method: http.MethodGet, Path: fmt.Sprintf("/actions/jobs/%d/logs", s.job)}, 5)
			return expect(err, string(log) == "red.\n", string(log))
		}},
	}
}

// expect is err, or an error if the answer is not what it should be.
func expect(err error, good bool, got any) error {
	if err == nil && !good {
		return fmt.Errorf("it answers %+v", got)
	}
	return err
}

// trouble is one way in which a call can go wrong.
type trouble struct {
	name  string
	fault githubtest.Fault
	kind  Kind // of the error; empty: another try helps
	lost  bool // only the answer is missing for sure
}

func troubles() []trouble {
	later := with(githubtest.Status(403, "You have exceeded a secondary rate limit"), "Retry-After", "30")
	half := githubtest.Fault{Status: 201, Body: `{"id":7,"nu`, Cut: true}
	out := []trouble{
		{"401", githubtest.Status(401, "Bad credentials"), BadToken, false},
		{"403", githubtest.Status(403, "Resource not accessible by integration"), Forbidden, false},
		{"404", githubtest.Status(404, "Not Found"), NotFound, false},
		{"410", githubtest.Status(410, "Gone"), Gone, false},
		{"422", githubtest.Status(422, "Validation Failed"), Refused, false},
		{"451", githubtest.Status(451, "Repository access blocked"), Forbidden, false},
		{"404 as a page", githubtest.Page(404), unreadable, false},
		{"elsewhere", with(githubtest.Fault{Status: 307, Body: "{}"}, "Location", "https://evil.example/"), redirected, false},
		{"no GET of it", with(githubtest.Fault{Status: 301, Body: "{}"}, "Location", "https://evil.example/"), redirected, false},
	}
	for _, w := range []trouble{
		{"429", with(githubtest.Status(429, "slow down"), "Retry-After", "7"), "", true},
		{"secondary limit", later, "", true},
		{"hang", githubtest.Fault{Hang: true}, "", true},
		{"502", githubtest.Status(502, "Server Error"), "", true},
		{"502 as a page", githubtest.Page(502), "", true},
		{"reset", githubtest.Fault{Drop: true}, "", true},
		{"half answer", half, "", true},
	} {
		out = append(out, w, trouble{w.name + " after the effect", githubtest.After(w.fault), "", true})
	}
	return out
}

// everyTrouble tests all of them.
func everyTrouble(t *testing.T, test func(*testing.T, *stand, trouble)) {
	for _, w := range troubles() {
		t.Run(w.name, func(t *testing.T) { test(t, newStand(t), w) })
	}
}

// Whatever goes wrong in whatever request of whatever is to be done: it is
// done once at the most, and it is done if nothing is said.
func TestEverythingGoesWrongOnce(t *testing.T) {
	t.Parallel()
	var waiting sync.WaitGroup
	defer waiting.Wait()
	for _, a := range acts() {
		waiting.Go(func() { t.Run(a.name, a.goesWrongOnce) })
	}
}

func (a act) goesWrongOnce(t *testing.T) {
	s := newStand(t)
	if err := a.do(t.Context(), s); err != nil {
		t.Fatalf("nothing is wrong, and it says: %v", err)
	}
	a.check(t, s, nil)
	for n, r := range s.Requests() {
		everyTrouble(t, func(t *testing.T, s *stand, w trouble) {
			s.FaultAt(n+1, w.fault)
			err := a.do(t.Context(), s)
			if !slices.Contains(a.answers, w.name) {
				a.check(t, s, err)
			}
			a.classify(t, w, r, err)
		})
	}
}

// check holds what became of it against what was said.
func (a act) check(t *testing.T, s *stand, err error) {
	t.Helper()
	if a.effects == nil {
		return
	}
	n := a.effects(s)
	if n > 1 || err == nil && n != 1 {
		t.Errorf("it was done %d times, and it says: %v", n, err)
	}
}

// classify holds an error against what went wrong.
func (a act) classify(t *testing.T, w trouble, r githubtest.Request, err error) {
	t.Helper()
	write := r.Method != http.MethodGet && !strings.HasSuffix(r.Path, "/graphql")
	helps := w.kind == "" && !(w.lost && a.once)
	switch {
	case helps || slices.Contains(a.answers, w.name):
		if err != nil {
			t.Errorf("it says: %v", err)
		}
	case err == nil && r.Path != "/user": // there are other ways to learn that
		t.Error("it says nothing")
	case err != nil:
		checkError(t, err, cmp.Or(w.kind, w.becomes()), ": ")
		if (write || a.effects == nil) && !strings.HasPrefix(err.Error(), a.what) {
			t.Errorf("it says %q, which does not begin with %q", err, a.what)
		}
	}
}

// becomes is the kind of an error after which nobody asked again.
func (w trouble) becomes() Kind {
	switch {
	case strings.HasPrefix(w.name, "hang"):
		return Silent
	case strings.HasPrefix(w.name, "half"):
		return unreadable
	case strings.HasPrefix(w.name, "429"), strings.HasPrefix(w.name, "secondary"):
		return RateLimited
	}
	return Unavailable
}

// What stays wrong ends, with a few requests and without a second effect.
func TestEverythingStaysWrong(t *testing.T) {
	t.Parallel()
	var waiting sync.WaitGroup
	defer waiting.Wait()
	for _, a := range acts() {
		waiting.Go(func() {
			t.Run(a.name, func(t *testing.T) {
				everyTrouble(t, a.staysWrong)
			})
		})
	}
}

func (a act) staysWrong(t *testing.T, s *stand, w trouble) {
	for n := range 60 {
		s.FaultAt(n+1, w.fault)
	}
	began := s.clock.now()
	err := a.do(t.Context(), s)
	var e *Error
	if !errors.As(err, &e) && !slices.Contains(a.answers, w.name) {
		t.Errorf("it says %v", err)
	}
	if a.effects != nil && a.effects(s) > 1 {
		t.Errorf("it was done %d times", a.effects(s))
	}
	if n, took := len(s.Requests()), s.clock.now().Sub(began); n > 20 || took > 6*time.Minute {
		t.Errorf("%d requests in %s", n, took)
	}
}
