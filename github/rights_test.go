package github

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/github/githubtest"
)

func TestRightsIn(t *testing.T) {
	at := time.Date(2026, 4, 5, 6, 7, 8, 0, time.UTC)
	for _, tt := range []struct {
		name   string
		header map[string]string
		want   Rights
	}{
		{"nothing", nil, Rights{}},
		{"classic", map[string]string{"X-OAuth-Scopes": "repo, workflow"}, Rights{Classic: true, Scopes: []string{"repo", "workflow"}}},
		{"classic without scopes", map[string]string{"X-OAuth-Scopes": ""}, Rights{Classic: true, Scopes: []string{}}},
		{"expires", map[string]string{"GitHub-Authentication-Token-Expiration": "2026-04-05 06:07:08 UTC"}, Rights{Expires: at}},
		{"expires elsewhere", map[string]string{"GitHub-Authentication-Token-Expiration": "2026-04-05 08:07:08 +0200"}, Rights{Expires: at}},
		{"expires some day", map[string]string{"GitHub-Authentication-Token-Expiration": "soon"}, Rights{}},
		{"limit", map[string]string{"X-RateLimit-Limit": "5000", "X-RateLimit-Used": "4990"}, Rights{Limit: 5000, Left: 10}},
		{"over the limit", map[string]string{"X-RateLimit-Limit": "60", "X-RateLimit-Used": "61"}, Rights{Limit: 60}},
		{"half a limit", map[string]string{"X-RateLimit-Limit": "60"}, Rights{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			for name, value := range tt.header {
				h.Set(name, value)
			}
			if diff := cmp.Diff(tt.want, rightsIn(h)); diff != "" {
				t.Errorf("rights (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRights(t *testing.T) {
	s := githubtest.New(t)
	gh, _ := client(t, s, canary)
	r, err := gh.Rights(t.Context(), "acme", "widget")
	if err != nil || r.Limit != 5000 || r.Left < 4990 || r.Left > 4999 {
		t.Errorf("rights %+v, error %v", r, err)
	}
	if _, err := gh.Rights(t.Context(), "acme", "gone"); !isKind(err, NotFound) {
		t.Errorf("a repository that is not there: error %v", err)
	}
}

// What a token may do is found out without doing it.
func TestMayWrite(t *testing.T) {
	s := githubtest.New(t)
	s.AddInstallation("ghs_all", "github-actions[bot]")
	s.AddInstallation("ghs_some", "github-actions[bot]")
	s.Allow("ghs_some", "acme/widget", map[string]string{"issues": "read", "contents": "read"})
	for _, tt := range []struct {
		token string
		want  bool
	}{{"ghs_all", true}, {"ghs_some", false}} {
		gh, _ := client(t, s, tt.token)
		for needs, err := range map[string]error{
			"contents: write": gh.MayPush(t.Context(), "acme", "widget"), "issues: write": gh.MayWriteIssues(t.Context(), "acme", "widget"),
		} {
			var e *Error
			if got := err == nil; got != tt.want || err != nil && (!errors.As(err, &e) || e.Kind != Forbidden || e.Do != "the token needs "+needs) {
				t.Errorf("%s, %s: error %v", tt.token, needs, err)
			}
		}
	}
	gh, _ := client(t, s, "ghs_all")
	s.Fault("POST /repos/acme/widget/git/refs", githubtest.Status(404, "Not Found"))
	if err := gh.MayPush(t.Context(), "acme", "widget"); err != nil {
		t.Errorf("a forge that cannot tell: error %v", err)
	}
	s.Fault("POST /repos/acme/widget/git/refs", githubtest.Fault{Status: 201, Body: `{}`})
	if err := gh.MayPush(t.Context(), "acme", "widget"); !isKind(err, Unreadable) {
		t.Errorf("a forge that takes everything: error %v", err)
	}
	for _, r := range s.Requests() {
		if r.Effect {
			t.Errorf("%s %s changed something", r.Method, r.Path)
		}
	}
}

func TestActionsMayOpenPulls(t *testing.T) {
	s := githubtest.New(t)
	gh, _ := client(t, s, canary)
	const settings = "GET /repos/acme/widget/actions/permissions/workflow"
	s.Permit("acme/widget", "ada", "admin")
	for _, may := range []bool{true, false} {
		s.Configure("acme/widget", githubtest.Settings{NoActionsPulls: !may})
		if got, err := gh.ActionsMayOpenPulls(t.Context(), "acme", "widget"); err != nil || got != may {
			t.Errorf("%v, want %v; error %v", got, may, err)
		}
	}
	s.Permit("acme/widget", "ada", "write")
	s.Fault(settings, githubtest.Fault{Body: `{}`})
	if _, err := gh.ActionsMayOpenPulls(t.Context(), "acme", "widget"); !isKind(err, Unreadable) {
		t.Errorf("an answer that does not say: error %v", err)
	}
	if _, err := gh.ActionsMayOpenPulls(t.Context(), "acme", "widget"); !isKind(err, Forbidden) {
		t.Errorf("who is no administrator: error %v", err)
	}
}
