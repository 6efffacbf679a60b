package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// canary is a token that must be seen nowhere but in requests.
const canary = "ghp_canary0123456789abcdef"

const route = "GET /repos/acme/widget/issues/7"

// clock is a time that goes on only when somebody waits.
type clock struct {
	mu    sync.Mutex
	at    time.Time
	waits []time.Duration
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.waits = c.at.Add(d), append(c.waits, d)
	return ctx.Err()
}

// client is one with a token, for a server with issue 7 of acme/widget.
func client(t *testing.T, s *githubtest.Server, token string) (*Client, *clock) {
	t.Helper()
	return clientWithin(t, s, token, 20*time.Second)
}

// clientWithin is a client that waits that long for one answer.
func clientWithin(t *testing.T, s *githubtest.Server, token string, answer time.Duration) (*Client, *clock) {
	t.Helper()
	s.AddToken(canary, "ada")
	s.AddIssue("acme/widget", githubtest.Issue{Number: 7, Title: "Say hello", Body: "Please.", Labels: []string{"bug"}})
	c := newClock()
	gh := clientOf(t, Options{
		Token: token, APIURL: s.URL, UserAgent: "reprise/test", Now: c.now, Sleep: c.sleep,
		HTTP: &http.Client{Timeout: answer, Transport: impatient{s}},
	})
	return gh, c
}

func TestIssue(t *testing.T) {
	s := githubtest.New(t)
	updated := time.Date(2026, 3, 1, 2, 3, 4, 0, time.UTC)
	s.AddIssue("acme/widget", githubtest.Issue{Number: 8, Title: "Ünï <b>", Body: "a\r\nb", Author: "bob", Labels: []string{"bug", "p: 1"}, Type: "Bug", State: "closed", Locked: true, Updated: updated})
	s.AddIssue("acme/widget", githubtest.Issue{Number: 9, Title: "Change", Pull: true, Updated: updated})
	gh, _ := client(t, s, "")
	for _, want := range []Issue{
		{Number: 8, Title: "Ünï <b>", Body: "a\r\nb", URL: "https://github.com/acme/widget/issues/8", Author: "bob", Labels: []string{"bug", "p: 1"}, Type: "Bug", State: "closed", Locked: true, UpdatedAt: updated},
		{Number: 9, Title: "Change", URL: "https://github.com/acme/widget/pull/9", Author: "octocat", State: "open", IsPull: true, UpdatedAt: updated},
	} {
		got, err := gh.In("Acme/widget").Issue(t.Context(), want.Number)
		testenv.Must(t, err)
		if got.ID == 0 {
			t.Errorf("issue %d has no id", got.Number)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Issue{}, "ID")); diff != "" {
			t.Errorf("issue (-want +got):\n%s", diff)
		}
	}
	r := s.Requests()[0]
	if r.Header.Get("User-Agent") != "reprise/test" || r.Token != "" || r.Header.Get("X-Github-Api-Version") == "" {
		t.Errorf("the request was %+v", r)
	}
}

// Forges that speak the same API leave things out, and name some otherwise.
func TestIssueOfOtherForges(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       Issue
	}{
		{"nothing", `{"number":7,"title":"T","body":null,"user":null,"labels":null,"pull_request":null,"updated_at":null,"new":[1]}`, Issue{Number: 7, Title: "T"}},
		{"gitea", `{"number":7,"title":"T","is_locked":true,"user":{"login":"ada","username":"ada"},"pull_request":{"merged":false}}`, Issue{Number: 7, Title: "T", Author: "ada", Locked: true, IsPull: true}},
		{"address with a password", `{"number":7,"title":"T","html_url":"https://a:b@github.com/x"}`, Issue{Number: 7, Title: "T"}},
		{"address with more than a path", `{"number":7,"title":"T","html_url":"https://x.example/a b?token=x#y"}`, Issue{Number: 7, Title: "T", URL: "https://x.example/a%20b"}},
		{"address that is none", `{"number":7,"title":"T","html_url":"javascript:alert(1)"}`, Issue{Number: 7, Title: "T"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := githubtest.New(t)
			gh, _ := client(t, s, "")
			s.Fault(route, githubtest.Fault{Body: tt.body})
			got, err := gh.In("acme/widget").Issue(t.Context(), 7)
			testenv.Must(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("issue (-want +got):\n%s", diff)
			}
		})
	}
}

func with(f githubtest.Fault, headers ...string) githubtest.Fault {
	f.Header = http.Header{}
	for i := 0; i < len(headers); i += 2 {
		f.Header.Set(headers[i], headers[i+1])
	}
	return f
}

func times(n int, f githubtest.Fault) []githubtest.Fault {
	var out []githubtest.Fault
	for range n {
		out = append(out, f)
	}
	return out
}

// What goes wrong: how often it is tried, how long is waited, and what is said
// in the end. Waits may be longer by a quarter where jobs should not come back
// together.
func TestFaults(t *testing.T) {
	const s = time.Second
	start := newClock().at
	secondary := "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
	for _, tt := range []struct {
		name   string
		token  string
		faults []githubtest.Fault
		waits  []time.Duration
		kind   Kind // empty: it goes well in the end
		says   string
	}{
		{"not there", canary, times(2, githubtest.Status(404, "Not Found")), []time.Duration{s}, NotFound, `read issue 7 of acme/widget: HOST does not have it, or does not show it (404 Not Found, "Not Found", tried 2 times): check owner, name and number; the token needs issues: read`},
		{"not there, no token", "", times(2, githubtest.Status(404, "Not Found")), []time.Duration{s}, NotFound, `a private repository needs a token in GITHUB_TOKEN`},
		{"deleted", canary, times(1, githubtest.Status(410, "This issue was deleted")), nil, Gone, `(410 Gone, "This issue was deleted")`},
		{"bad token", canary, times(1, githubtest.Status(401, "Bad credentials")), nil, BadToken, `HOST does not take the token (401 Unauthorized, "Bad credentials"): set GITHUB_TOKEN to one that is valid`},
		{"token needed", "", times(1, githubtest.Status(401, "Requires authentication")), nil, BadToken, `HOST asks for a token`},
		{"forbidden", canary, times(1, githubtest.Status(403, "Resource not accessible by integration")), nil, Forbidden, `"Resource not accessible by integration"`},
		{"address not allowed", canary, times(1, githubtest.Status(403, "Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.")), nil, Forbidden, `to access this resource."): put the address of this machine on that list`},
		{"no single sign-on", canary, times(1, githubtest.Status(403, "Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.")), nil, Forbidden, `authorize the token for the single sign-on`},
		{"token too long", canary, times(1, githubtest.Status(403, "The 'acme' organization forbids access via a fine-grained personal access tokens if the token's lifetime is greater than 90 days. Please adjust your token's lifetime at the following URL: https://github.com/settings/personal-access-tokens/12885303")), nil, Forbidden, `personal-access-tokens/12885303"): give a token of a kind that the organization takes`},
		{"other refusal", canary, times(1, githubtest.Status(422, "Validation Failed")), nil, Refused, `422 Unprocessable Entity`},
		{"limit, far reset", "", times(1, githubtest.LimitReached(start.Add(50*time.Minute))), nil, RateLimited, `takes no more requests until 2026-03-04 12:50:01 UTC (403 Forbidden, "API rate limit exceeded for 192.0.2.1."): try again after that, or set GITHUB_TOKEN`},
		{"limit, near reset", "", times(1, githubtest.LimitReached(start.Add(20*s))), []time.Duration{21 * s}, "", ""},
		{"limit, reset is past", "", times(1, githubtest.LimitReached(start.Add(-20*s))), []time.Duration{s}, "", ""},
		{"403 with Retry-After", canary, times(2, with(githubtest.Status(403, "x"), "Retry-After", "30")), []time.Duration{30 * s, 30 * s}, "", ""},
		{"429", canary, times(1, with(githubtest.Status(429, "x"), "Retry-After", start.Add(40*s).Format(http.TimeFormat))), []time.Duration{40 * s}, "", ""},
		{"429, no hint", canary, times(1, githubtest.Status(429, "x")), []time.Duration{60 * s}, "", ""},
		{"429, far too long", canary, times(1, with(githubtest.Status(429, "x"), "Retry-After", "99999999999")), nil, RateLimited, "until 2027-03-04"},
		{"429, nonsense", canary, times(1, with(githubtest.Status(429, "x"), "Retry-After", "-5")), []time.Duration{60 * s}, "", ""},
		{"secondary limit", canary, times(1, githubtest.Status(403, secondary)), []time.Duration{60 * s}, "", ""},
		{"secondary limit stays", canary, times(9, githubtest.Status(403, secondary)), []time.Duration{60 * s}, RateLimited, "tried 2 times"},
		{"502 once", canary, times(1, githubtest.Page(502)), []time.Duration{s}, "", ""},
		{"502 stays", canary, times(9, githubtest.Page(502)), []time.Duration{s, 2 * s, 4 * s}, Unavailable, "HOST does not work at the moment (502 Bad Gateway, tried 4 times): try again later"},
		{"503 with Retry-After", canary, times(1, with(githubtest.Status(503, "x"), "Retry-After", "7")), []time.Duration{7 * s}, "", ""},
		{"503 for an hour", canary, times(1, with(githubtest.Status(503, "x"), "Retry-After", "3600")), nil, Unavailable, "503"},
		{"page", canary, times(1, githubtest.Page(200)), nil, unreadable, "HOST gives no usable answer: answered with a web page instead of JSON: check that this is the address of an API"},
		{"page 404", canary, times(1, githubtest.Page(404)), nil, unreadable, "answered with a web page"},
		{"page that calls itself JSON", canary, times(1, githubtest.Fault{Body: " <html>"}), nil, unreadable, "a web page"},
		{"half of the JSON, once", canary, times(1, githubtest.Fault{Body: `{"number":7,"tit`}), []time.Duration{s}, "", ""},
		{"half of the JSON", canary, times(9, githubtest.Fault{Body: `{"number":7,"tit`}), []time.Duration{s, 2 * s, 4 * s}, unreadable, "cut off"},
		{"cut", canary, times(1, githubtest.Fault{Body: `{"number":7`, Cut: true}), []time.Duration{s}, "", ""},
		{"cut after what looks whole", canary, times(9, githubtest.Fault{Body: `{"number":7,"title":"T"}`, Cut: true}), []time.Duration{s, 2 * s, 4 * s}, unreadable, "its answer is cut off (tried 4 times)"},
		{"empty", canary, times(9, githubtest.Fault{}), []time.Duration{s, 2 * s, 4 * s}, unreadable, "cut off"},
		{"too long", canary, times(1, githubtest.Fault{Body: `"` + strings.Repeat("x", maxAnswer) + `"`}), nil, unreadable, "more than 32 MB"},
		{"something else", canary, times(1, githubtest.Fault{Body: `{"hello":1}`}), nil, unreadable, "what it sent is no issue"},
		{"a list", canary, times(1, githubtest.Fault{Body: `[]`}), nil, unreadable, "it is not what was asked for"},
		{"number as text", canary, times(1, githubtest.Fault{Body: `{"number":"7"}`}), nil, unreadable, "its number is a string"},
		{"dropped once", canary, times(1, githubtest.Fault{Drop: true}), []time.Duration{s}, "", ""},
		{"dropped", canary, times(9, githubtest.Fault{Drop: true}), []time.Duration{s, 2 * s, 4 * s}, Unavailable, "HOST cannot be reached: EOF (tried 4 times): check the network"},
		{"hangs once", canary, times(1, githubtest.Fault{Hang: true}), []time.Duration{s}, "", ""},
		{"hangs", canary, times(9, githubtest.Fault{Hang: true}), []time.Duration{s}, Silent, "did not answer within 1m0s (tried 2 times)"},
		{"message for a terminal", canary, times(1, githubtest.Fault{Status: 403, Body: `{"message":"a\u001b[31m\nb\u202e ` + canary + ` ` + strings.Repeat("x", 900) + `"}`}), nil, Forbidden, `"a [31m b [token] xxx`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := githubtest.New(t)
			gh, clock := clientWithin(t, server, tt.token, quick)
			server.Fault(route, tt.faults...)
			is, err := gh.In("acme/widget").Issue(t.Context(), 7)
			jitter := cmp.Comparer(func(a, b time.Duration) bool { return max(a, b)-min(a, b) <= min(a, b)/4 })
			if diff := cmp.Diff(tt.waits, clock.waits, jitter, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if n := len(server.Requests()); n != len(tt.waits)+1 {
				t.Errorf("%d requests, %d waits", n, len(tt.waits))
			}
			if tt.kind == "" {
				if err != nil || is.Title != "Say hello" {
					t.Errorf("issue %+v, error %v", is, err)
				}
				return
			}
			checkError(t, err, tt.kind, strings.ReplaceAll(tt.says, "HOST", strings.TrimPrefix(server.URL, "http://")))
		})
	}
}

// checkError holds an error against its kind and words, and against the token.
func checkError(t *testing.T, err error, kind Kind, says string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("the error is %v, want kind %s", err, kind)
	}
	if e.Kind != kind || !strings.Contains(err.Error(), says) {
		t.Errorf("the error is\n%v\nwant kind %s, with\n%s", err, kind, says)
	}
	if all := fmt.Sprintf("%v %+v %#v", err, e, e); strings.Contains(all, canary) {
		t.Errorf("the token is in %s", all)
	}
	if text := err.Error(); strings.ContainsAny(text, "\n\x1b\u202e") || len(text) > 600 {
		t.Errorf("%q is not fit for a terminal", text)
	}
}

// After a limit that was reached, the next call asks again instead of
// answering from memory by another clock.
func TestAsksAgainAfterLimit(t *testing.T) {
	s := githubtest.New(t)
	gh, _ := client(t, s, canary)
	for _, f := range []githubtest.Fault{
		githubtest.LimitReached(time.Now().Add(time.Hour)),
		with(githubtest.Status(403, "You have exceeded a secondary rate limit"), "Retry-After", "900"),
	} {
		s.Fault(route, f)
		_, err := gh.In("acme/widget").Issue(t.Context(), 7)
		checkError(t, err, RateLimited, "takes no more requests")
		if _, err := gh.In("acme/widget").Issue(t.Context(), 7); err != nil {
			t.Errorf("the next call: %v", err)
		}
	}
}

// A redirect is followed on the host of the API, and nowhere else.
func TestRedirects(t *testing.T) {
	var elsewhere []*http.Request
	evil := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere = append(elsewhere, r) }))
	defer evil.Close()
	s := githubtest.New(t)
	s.AddIssue("acme/gadget", githubtest.Issue{Number: 7, Title: "Renamed"})
	s.AddIssue("acme/gadget", githubtest.Issue{Number: 9, Title: "Moved"})
	gh, _ := client(t, s, canary)
	for _, status := range []int{301, 302, 307, 308} {
		s.Fault(route, with(githubtest.Fault{Status: status, Body: "{}"}, "Location", s.URL+"/repos/acme/gadget/issues/7"))
		is, err := gh.In("acme/widget").Issue(t.Context(), 7)
		if err != nil || is.Title != "Renamed" {
			t.Errorf("%d on the same host: %+v, %v", status, is, err)
		}
		s.Fault(route, with(githubtest.Fault{Status: status, Body: "{}"}, "Location", evil.URL+"/repos/acme/widget/issues/7"))
		_, err = gh.In("acme/widget").Issue(t.Context(), 7)
		checkError(t, err, redirected, "redirects to another place")
	}
	s.Fault(route, with(githubtest.Fault{Status: 301, Body: "{}"}, "Location", s.URL+"/repos/acme/gadget/issues/9"))
	_, err := gh.In("acme/widget").Issue(t.Context(), 7)
	checkError(t, err, Gone, "moved it to number 9 of another repository: use that one: https://github.com/acme/gadget/issues/9")
	s.Fault(route, times(9, with(githubtest.Fault{Status: 302, Body: "{}"}, "Location", s.URL+"/repos/acme/widget/issues/7"))...)
	_, err = gh.In("acme/widget").Issue(t.Context(), 7)
	checkError(t, err, redirected, "302")
	if len(elsewhere) > 0 {
		t.Errorf("the other host got %d requests, the first: %v", len(elsewhere), elsewhere[0].Header)
	}
}

// What is private is seen with the right token only.
func TestPrivate(t *testing.T) {
	s := githubtest.New(t)
	gh, _ := client(t, s, canary)
	anonymous, _ := client(t, s, "")
	s.AddRepository("acme/widget", true)
	for _, c := range []*Client{gh, anonymous} {
		_, err := c.In("acme/widget").Issue(t.Context(), 7)
		checkError(t, err, NotFound, "404")
	}
	s.Permit("acme/widget", "ada", "read")
	if _, err := gh.In("acme/widget").Issue(t.Context(), 7); err != nil {
		t.Error(err)
	}
	wrong, _ := client(t, s, "wrong")
	_, err := wrong.In("acme/widget").Issue(t.Context(), 7)
	checkError(t, err, BadToken, "Bad credentials")
}

// A call ends with its context, in a request and in a wait, and nothing goes
// to standard error about it.
func TestCancelled(t *testing.T) {
	var logged bytes.Buffer
	log.SetOutput(&logged)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	why := errors.New("told to stop")
	for _, f := range []githubtest.Fault{{Hang: true}, with(githubtest.Status(429, "x"), "Retry-After", "60")} {
		s := githubtest.New(t)
		s.Fault(route, f)
		gh := clientOf(t, Options{APIURL: s.URL})
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
		began := time.Now()
		if _, err := gh.In("acme/widget").Issue(ctx, 7); !errors.Is(err, why) {
			t.Errorf("error %v, want %v", err, why)
		}
		if took := time.Since(began); took > 50*time.Second {
			t.Errorf("it took %s", took)
		}
	}
	if logged.Len() > 0 {
		t.Errorf("it was logged: %s", &logged)
	}
}

func TestNew(t *testing.T) {
	for _, tt := range []struct{ api, token, base, wrong string }{
		{"", "", "https://api.github.com/", ""},
		{" https://ghe.example.com/api/v3/ ", canary + "\n", "https://ghe.example.com/api/v3/", ""},
		{"http://127.0.0.1:8080/api/v1", canary, "http://127.0.0.1:8080/api/v1/", ""},
		{"http://[::1]:8080", canary, "http://[::1]:8080/", ""},
		{"http://ghe.example.com", "", "http://ghe.example.com/", ""},
		{"http://ghe.example.com", canary, "", "http://ghe.example.com/ is not encrypted"},
		{"ghe.example.com", "", "", "is no http address"},
		{"file:///etc/passwd", "", "", "is no http address"},
		{"https://ada:" + canary + "@ghe.example.com", "", "", "has a user or a password in it"},
		{"https://ghe.example.com/?x=1", "", "", "has more than a path"},
		{"", "two words", "", "spaces"},
		{"", "a\r\nX-Evil: 1", "", "spaces"},
	} {
		c, err := New(Options{APIURL: tt.api, Token: tt.token})
		if tt.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), tt.wrong) || strings.Contains(err.Error(), canary) {
				t.Errorf("New(%q): error %v, want %q", tt.api, err, tt.wrong)
			}
			continue
		}
		if err != nil {
			t.Fatalf("New(%q): %v", tt.api, err)
		}
		if got := c.base.String(); got != tt.base {
			t.Errorf("New(%q) asks at %s, want %s", tt.api, got, tt.base)
		}
	}
}

func TestNoIssue(t *testing.T) {
	s := githubtest.New(t)
	gh, _ := client(t, s, "")
	for _, tt := range []struct {
		owner, repo string
		number      int
	}{{"acme", "widget", 0}, {"acme", "widget", -7}, {"acme", "..", 7}, {"a/b", "widget", 7}, {"", "widget", 7}, {"acme", "wid get", 7}} {
		if _, err := gh.In(tt.owner+"/"+tt.repo).Issue(t.Context(), tt.number); err == nil {
			t.Errorf("issue %d of %q/%q is read", tt.number, tt.owner, tt.repo)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// clientOf is a client with these options.
func clientOf(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	testenv.Must(t, err)
	return c
}
