package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
)

// forge adds comments that pretend to be ours.
func (s *stand) forge() {
	for _, body := range []string{marker + "\nforged", marker, marker + "\r\nforged"} {
		s.AddComment(widget, 7, githubtest.Comment{Author: "mallory", Body: body})
	}
	for _, body := range []string{"> " + marker + "\nquoted", " " + marker + "\nx", "x\n" + marker, marker + " x"} {
		s.AddComment(widget, 7, githubtest.Comment{Author: "ada", Body: body}) // ours, with another first line
	}
}

// untouched holds the comments of others against what they wrote.
func (s *stand) untouched(t *testing.T) {
	t.Helper()
	for _, c := range s.Comments(widget, 7) {
		if c.Author == "mallory" && !c.Updated.Equal(c.Created) {
			t.Errorf("a comment of somebody else was changed: %+v", c)
		}
	}
}

// However many markers others write, before, between and after: ours is found,
// and there is one.
func TestPostAmongForgeries(t *testing.T) {
	for _, tt := range []struct{ name, login, token string }{{"person", "ada", canary}, {"app", "github-actions[bot]", "ghs_job"}} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStand(t)
			if tt.login != "ada" {
				s.AddInstallation(tt.token, tt.login)
			}
			var id int64
			for range 3 {
				s.forge()
				gh, _ := clientWithin(t, s.Server, tt.token, quick) // each one a new process
				c, err := gh.In("acme/widget").Thread(7).Post(t.Context(), marker, "hello", time.Time{})
				if err != nil || c.Author.Login != tt.login || id != 0 && c.ID != id {
					t.Fatalf("comment %+v, error %v, want %d", c, err, id)
				}
				id = c.ID
			}
			s.untouched(t)
		})
	}
}

// Since leaves out what is older, ours too.
func TestPostSince(t *testing.T) {
	s := newStand(t)
	var ids []int64
	for range 2 {
		c, err := s.thread.Post(t.Context(), marker, "x", s.clock.now())
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, c.ID)
		s.clock.at = s.clock.at.Add(time.Minute)
	}
	if ids[0] == ids[1] {
		t.Error("the older comment was found")
	}
}

// A forge that does not say who we are: no marker is trusted, until an answer
// to something that we wrote ourselves says it.
func TestPostByNobody(t *testing.T) {
	unknown := func(s *stand) {
		for range 5 {
			s.Fault("GET /user", githubtest.Status(404, "Not Found"))
			s.Fault("POST /graphql", githubtest.Status(404, "Not Found"))
		}
	}
	t.Run("learns", func(t *testing.T) {
		s := newStand(t)
		unknown(s)
		s.forge()
		if _, err := s.thread.React(t.Context(), s.comment, Eyes); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := s.thread.Post(t.Context(), marker, "x", time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		if n := s.ours(); n != 1 {
			t.Errorf("%d comments", n)
		}
	})
	t.Run("learns by the comment itself", func(t *testing.T) {
		s := newStand(t)
		unknown(s)
		s.forge()
		for range 3 {
			if c, err := s.thread.Post(t.Context(), marker, "x", time.Time{}); err != nil || c.Author.Login != "ada" {
				t.Fatalf("comment %+v, error %v", c, err)
			}
		}
		if n := s.ours(); n != 1 {
			t.Errorf("%d comments", n)
		}
	})
	t.Run("does not guess", func(t *testing.T) {
		s := newStand(t)
		unknown(s)
		s.AddComment(widget, 7, githubtest.Comment{Author: "mallory", Body: marker + "\nforged"})
		s.Fault("POST /repos/acme/widget/issues/7/comments", githubtest.After(githubtest.Status(502, "x")))
		_, err := s.thread.Post(t.Context(), marker, "x", time.Time{})
		checkError(t, err, Unavailable, "whether it was done all the same could not be seen: it is not known who the token belongs to")
		if n := s.ours(); n != 1 {
			t.Errorf("%d comments", n)
		}
	})
}

// A call that ends with its context says why, and leaves one comment.
func TestPostCancelled(t *testing.T) {
	why := errors.New("told to stop")
	s := newStand(t)
	gh, err := New(Options{Token: canary, APIURL: s.URL, Now: s.clock.now, Sleep: s.clock.sleep, HTTP: &http.Client{}}) // it waits until it is told to stop
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	s.Fault("POST /repos/acme/widget/issues/7/comments", githubtest.After(githubtest.Fault{Hang: true}))
	go func() {
		for s.Hung() == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel(why)
	}()
	if _, err := gh.In("acme/widget").Thread(7).Post(ctx, marker, "x", time.Time{}); !errors.Is(err, why) {
		t.Errorf("the error is %v", err)
	}
	if _, err := s.thread.Post(t.Context(), marker, "x", time.Time{}); err != nil {
		t.Error(err)
	}
	if n := s.ours(); n != 1 {
		t.Errorf("%d comments", n)
	}
}

// What GitHub refuses for a reason of its own comes with what a person can do.
func TestSaysWhatToDo(t *testing.T) {
	const job = "ghs_job"
	for _, tt := range []struct {
		name string
		set  func(s *stand)
		do   func(ctx context.Context, gh *Client) error
		kind Kind
		says string
	}{
		{
			"no permission", func(s *stand) { s.Allow(job, widget, map[string]string{"issues": "read"}) }, post, Forbidden,
			`comment on issue 7 of acme/widget: HOST does not allow it (403 Forbidden, "Resource not accessible by integration"): the token needs issues: write or pull-requests: write`,
		},
		{
			"no permission for pulls", func(s *stand) { s.Allow(job, widget, map[string]string{"issues": "write", "pull_requests": "read"}) }, open, Forbidden,
			`open a pull request of work to main in acme/widget: HOST does not allow it (403 Forbidden, "Resource not accessible by integration"): the token needs pull-requests: write`,
		},
		{"full", func(s *stand) {
			s.Fault("POST /repos/acme/widget/issues/7/comments", githubtest.Status(403, "Commenting is disabled on issues with more than 2500 comments"))
		}, post, Forbidden, `2500 comments"): go on in a new issue`},
		{"archived", func(s *stand) { s.Configure(widget, githubtest.Settings{Archived: true}) }, post, Forbidden, `take the repository out of the archive`},
		{
			"no pull requests by jobs", func(s *stand) { s.Configure(widget, githubtest.Settings{NoActionsPulls: true}) }, open, Forbidden,
			"switch on `Allow GitHub Actions to create and approve pull requests` in Settings > Actions > General",
		},
		{"deleted issue", func(s *stand) { s.DeleteIssue(widget, 7) }, post, Gone, `This issue was deleted`},
		{"no issues", func(s *stand) { s.Configure(widget, githubtest.Settings{NoIssues: true}) }, func(ctx context.Context, gh *Client) error {
			_, err := gh.In("acme/widget").OpenIssue(ctx, marker, NewIssue{Title: "T"})
			return err
		}, Gone, `issues are switched off in this repository`},
		{"branch that is not there", func(*stand) {}, func(ctx context.Context, gh *Client) error {
			_, err := gh.In("acme/widget").OpenPull(ctx, Pull{Title: "T", Head: "nowhere", Base: "main"})
			return err
		}, Refused, `(422 Unprocessable Entity, "Validation Failed: head invalid")`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStand(t)
			s.AddInstallation(job, "github-actions[bot]")
			gh, _ := clientWithin(t, s.Server, job, quick)
			tt.set(s)
			err := tt.do(t.Context(), gh)
			checkError(t, err, tt.kind, strings.ReplaceAll(tt.says, "HOST", strings.TrimPrefix(s.URL, "http://")))
		})
	}
}

func post(ctx context.Context, gh *Client) error {
	_, err := gh.In("acme/widget").Thread(7).Post(ctx, marker, "x", time.Time{})
	return err
}

func open(ctx context.Context, gh *Client) error {
	_, err := gh.In("acme/widget").OpenPull(ctx, Pull{Title: "T", Head: "work", Base: "main"})
	return err
}

// A redirect on the same host is followed with everything that was sent; one
// that would make a GET of it is not.
func TestRedirectedPost(t *testing.T) {
	for status, good := range map[int]bool{301: false, 302: false, 303: false, 307: true, 308: true} {
		s := newStand(t)
		s.AddIssue("acme/gadget", githubtest.Issue{Number: 7, Title: "Renamed"})
		s.Fault("POST /repos/acme/widget/issues/7/comments", with(githubtest.Fault{Status: status, Body: "{}"}, "Location", s.URL+"/repos/acme/gadget/issues/7/comments"))
		_, err := s.thread.create(t.Context(), "hello")
		if n := len(s.Comments("acme/gadget", 7)); good && (err != nil || n != 1) || !good && n != 0 {
			t.Errorf("%d: %d comments, error %v", status, n, err)
		}
		if !good {
			checkError(t, err, redirected, "redirects to another place")
		}
	}
}

// The token of a job goes through GraphQL to learn its name, on every host.
func TestSelf(t *testing.T) {
	for _, prefix := range []string{"", "/api/v3"} {
		s := newStand(t)
		s.AddInstallation("ghs_job", "github-actions[bot]")
		gh := clientOf(t, Options{Token: "ghs_job", APIURL: s.URL + prefix})
		for range 2 {
			u, err := gh.Self(t.Context())
			if want := (User{Login: "github-actions[bot]", ID: 41898282, Type: "Bot"}); err != nil || u != want {
				t.Errorf("%s: %+v, error %v", prefix, u, err)
			}
		}
		if n := len(s.Requests()); n != 2 {
			t.Errorf("%s: %d requests", prefix, n)
		}
	}
}

// Errors of GraphQL come with a 200.
func TestQueryErrors(t *testing.T) {
	start := newClock().at
	for _, tt := range []struct {
		name, body string
		kind       Kind
		says       string
	}{
		{"forbidden", `{"data":null,"errors":[{"type":"FORBIDDEN","message":"Resource not accessible by integration"}]}`, Forbidden, `"Resource not accessible by integration"): the token needs pull-requests: write`},
		{"not found", `{"errors":[{"type":"NOT_FOUND","message":"Could not resolve to a node"}]}`, NotFound, `mark it ready for review by hand: https://github.com/acme/widget/pull/20`},
		{"other", `{"errors":[{"message":"Something ` + canary + `"}]}`, Refused, `"Something [token]"`},
		{"no data", `{}`, unreadable, "it is not what was asked for"},
		{"strange", `{"errors":"no"}`, unreadable, "its errors is a string"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStand(t)
			for range 5 {
				s.Fault("POST /graphql", githubtest.Fault{Body: tt.body})
			}
			checkError(t, s.gh.In("acme/widget").ReadyPull(t.Context(), s.draft), tt.kind, tt.says)
		})
	}
	t.Run("limit", func(t *testing.T) {
		s := newStand(t)
		limited := with(githubtest.Fault{Body: `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`}, "X-Ratelimit-Reset", "")
		limited.Header.Set("X-Ratelimit-Reset", "1772625630") // 30 s after the start
		s.Fault("POST /graphql", limited)
		if err := s.gh.In("acme/widget").ReadyPull(t.Context(), s.draft); err != nil {
			t.Error(err)
		}
		if took := s.clock.now().Sub(start); took != 31*time.Second {
			t.Errorf("it waited %s", took)
		}
	})
}

// Nothing was sent where nobody listens, so even what must not be done twice
// is tried again.
func TestNobodyListens(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	clock := newClock()
	gh := clientOf(t, Options{APIURL: dead.URL, Now: clock.now, Sleep: clock.sleep})
	_, err := gh.In("acme/widget").Ask(t.Context(), Request{What: "start", Method: http.MethodPost, Path: "/actions/workflows/ci.yml/dispatches"}, nil)
	checkError(t, err, Unavailable, "tried 4 times")
	if isUnclear(err) {
		t.Error("it may have been done")
	}
}

// Looking and asking again comes to an end.
func TestPostGivesUp(t *testing.T) {
	s := newStand(t)
	s.Fault("POST /repos/acme/widget/issues/7/comments", times(20, githubtest.Page(502))...)
	checkError(t, post(t.Context(), s.gh), Unavailable, "comment on issue 7 of acme/widget: ")
	if n := s.Counts().Content; n != maxPosts || maxPosts > 4 {
		t.Errorf("%d writes", n)
	}
	if took := s.clock.now().Sub(newClock().at); took != 7*time.Second {
		t.Errorf("it took %s", took)
	}
}

// An answer that is not what was asked for leaves open whether it was done.
func TestStrangeAnswer(t *testing.T) {
	s := newStand(t)
	for _, kind := range []string{"issues/7/comments", "pulls", "issues"} {
		s.Fault("POST /repos/acme/widget/"+kind, githubtest.After(githubtest.Fault{Status: 201, Body: `{"id":"x"}`}), githubtest.After(githubtest.Fault{Status: 201, Body: "{}"}))
	}
	_, err := s.gh.In("acme/widget").OpenIssue(t.Context(), marker, NewIssue{Title: "T"})
	for _, err := range []error{post(t.Context(), s.gh), open(t.Context(), s.gh), err} {
		if err != nil {
			t.Error(err)
		}
	}
	if c, p, i := s.ours(), len(s.Pulls(widget)), len(s.Issues(widget)); c != 1 || p != 2 || i != 5 {
		t.Errorf("%d comments, %d pull requests, %d issues", c, p, i)
	}
}

// Who writes more than the patience allows is told when to come back, and
// nothing is sent.
func TestTooMuch(t *testing.T) {
	s := newStand(t)
	gh := clientOf(t, Options{Token: canary, APIURL: s.URL, Patience: 5 * time.Second, Now: s.clock.now, Sleep: s.clock.sleep})
	for i := range writeBurst + 2 {
		_, err := gh.In("acme/widget").Thread(7).React(t.Context(), s.comment, Eyes)
		if i < writeBurst && err != nil {
			t.Fatal(err)
		}
		if i >= writeBurst {
			checkError(t, err, RateLimited, "is left alone until 2026-03-04 12:00:10 UTC, because much was written there in a short time")
		}
	}
	if n := s.Counts().Content; n != writeBurst {
		t.Errorf("%d writes", n)
	}
}

// A wait that outlasts the time that there is for a call is not begun.
func TestWaitOutlastsTheCall(t *testing.T) {
	s := newStand(t)
	s.Fault(fmt.Sprintf("POST /repos/acme/widget/issues/comments/%d/reactions", s.comment), githubtest.Status(403, "You have exceeded a secondary rate limit"))
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	before := s.clock.now()
	if _, err := s.thread.React(ctx, s.comment, Eyes); !IsKind(err, RateLimited) || s.clock.now() != before {
		t.Errorf("error %v after %s", err, s.clock.now().Sub(before))
	}
}

// Many writes at once are spaced, before GitHub has to say so.
func TestSpaced(t *testing.T) {
	s := newStand(t)
	s.LimitContent(14, time.Minute)
	var waited []time.Duration
	for range 14 {
		before := s.clock.now()
		s.comment = s.AddComment(widget, 7, githubtest.Comment{Body: "x"})
		if _, err := s.thread.React(t.Context(), s.comment, Eyes); err != nil {
			t.Fatal(err)
		}
		waited = append(waited, s.clock.now().Sub(before))
	}
	for i, d := range waited {
		if want := map[bool]time.Duration{true: 0, false: writeEvery}[i < writeBurst]; d != want {
			t.Errorf("write %d waited %s, want %s", i+1, d, want)
		}
	}
}
