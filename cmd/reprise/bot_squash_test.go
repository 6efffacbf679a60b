//go:build slow || e2e

package main

import (
	"net/http"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// A run whose branch was made one commit, by a comment on its pull request, can be taken
// back: it goes on from that commit with all of its record.
func TestRollbackAfterSquash(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/build-execute", changesCode)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed", "pr-number", "8")
	h.forge.Permit(hubRepo, "mia", "maintain")
	before, squash := h.tip(), h.sayOn(8, "mia", "/finish --squash")
	gh, err := github.New(github.Options{APIURL: h.forge.URL, Token: hubToken})
	if err == nil {
		_, err = gh.In("acme/widget").Ask(t.Context(), github.Request{What: "rename it", Method: http.MethodPatch, Path: "/pulls/8", Body: map[string]any{"title": "Say hello [skip ci]"}}, nil)
	}
	testenv.Must(t, err)
	h.heard(squash, "mia").end(exit.Done).wants("decision", "run", "status", "completed")
	h.signs(squash, "eyes rocket")
	squashed := h.tip()
	if got, err := testenv.Git(h.path("origin.git"), "log", "-1", "--format=%s", squashed); err != nil || got != "Say hello (skip ci)\n" {
		t.Errorf("the commit is %q (%v), the pull request %q", got, err, h.forge.Pulls(hubRepo)[0].Title)
	}
	h.comment("ada", "/rollback build because it is not polite").end(exit.Done).wants("status", "completed")
	if run := h.record(); len(run.RollbackHistory) != 1 {
		t.Errorf("the record has the rollbacks %+v", run.RollbackHistory)
	}
	for _, commit := range []string{before, squashed} {
		if _, err := testenv.Git(h.path("origin.git"), "merge-base", "--is-ancestor", commit, "reprise/issue-7"); err != nil {
			t.Errorf("commit %s is not in the history of the branch: %v", commit, err)
		}
	}
}
