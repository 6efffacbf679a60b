package github

import (
	"errors"
	"testing"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/prompts"
)

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
			"contents: write": gh.In("acme/widget").MayPush(t.Context()), "issues: write": gh.In("acme/widget").MayWriteIssues(t.Context()),
		} {
			var e *Error
			if got := err == nil; got != tt.want || err != nil && (!errors.As(err, &e) || e.Kind != Forbidden || e.Do.In(prompts.Words("en")) != "the token needs "+needs) {
				t.Errorf("%s, %s: error %v", tt.token, needs, err)
			}
		}
	}
	gh, _ := client(t, s, "ghs_all")
	s.Fault("POST /repos/acme/widget/git/refs", githubtest.Status(404, "Not Found"))
	if err := gh.In("acme/widget").MayPush(t.Context()); err != nil {
		t.Errorf("a forge that cannot tell: error %v", err)
	}
	s.Fault("POST /repos/acme/widget/git/refs", githubtest.Fault{Status: 201, Body: `{}`})
	if err := gh.In("acme/widget").MayPush(t.Context()); !IsKind(err, unreadable) {
		t.Errorf("a forge that takes everything: error %v", err)
	}
	for _, r := range s.Requests() {
		if r.Effect {
			t.Errorf("%s %s changed something", r.Method, r.Path)
		}
	}
}
