//go:build slow || e2e

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// What the token lacks is said at once, before anything is spent; once the
// right is there, the same command goes on.
func TestMissingRights(t *testing.T) {
	all := map[string]string{"issues": "write", "contents": "write", "pull_requests": "write", "actions": "write"}
	with := func(changes ...string) map[string]string {
		out := map[string]string{}
		for name, access := range all {
			out[name] = access
		}
		for i := 0; i < len(changes); i += 2 {
			out[changes[i]] = changes[i+1]
		}
		return out
	}
	for _, tt := range []struct {
		name     string
		may      map[string]string
		settings githubtest.Settings
		lacks    []string
		reply    bool // there is a place to say it
	}{
		{"issues", with("issues", "read"), githubtest.Settings{}, []string{"issues: write"}, false},
		{"contents", with("contents", "read"), githubtest.Settings{}, []string{"contents: write"}, true},
		{"pull requests", with("pull_requests", "none"), githubtest.Settings{}, []string{"pull-requests: write"}, true},
		{"a setting", all, githubtest.Settings{NoActionsPulls: true}, []string{"Allow GitHub Actions to create and approve pull requests"}, true},
		{
			"all of it", with("issues", "read", "contents", "read", "pull_requests", "none"),
			githubtest.Settings{},
			[]string{"issues: write", "contents: write", "pull-requests: write"},
			false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newStage(t, twoSteps)
			h.write("home/build-execute", changesCode)
			h.forge.Allow(hubToken, hubRepo, tt.may)
			h.forge.Configure(hubRepo, tt.settings)
			if tt.may["contents"] == "read" {
				h.write("origin.git/hooks/pre-receive", "#!/bin/sh\necho Permission to acme/widget.git denied >&2\nexit 1\n")
				h.mayRun("origin.git/hooks/pre-receive")
			}
			id := h.say("ada", "/run")
			j := h.heard(id, "ada").end(exit.Failed).wants("reason-code", "credentials_missing")
			testenv.Has(t, "the summary", j.summary, append(tt.lacks, "permissions:")...)
			testenv.Has(t, "the log", j.said.String(), append([]string{"::error::"}, tt.lacks...)...)
			if got := h.replyTo(id); tt.reply {
				testenv.Has(t, "the answer", got, tt.lacks...)
			}
			h.nothing()
			h.called("")
			h.forge.Allow(hubToken, hubRepo, all)
			h.forge.Configure(hubRepo, githubtest.Settings{})
			if tt.may["contents"] == "read" {
				h.remove("origin.git/hooks/pre-receive")
			}
			again := h.say("ada", "/run")
			h.heard(again, "ada").end(exit.Done).wants("status", "completed")
			if tt.reply { // else the first command was never answered, and is the one that is taken
				h.signs(again, "eyes rocket")
			}
			if len(h.forge.Pulls(hubRepo)) != 1 || strings.Count(h.calls(), "build") != 1 {
				t.Errorf("%d pull requests, the agent was called for %s", len(h.forge.Pulls(hubRepo)), h.calls())
			}
		})
	}
}

// Where GitHub knows of no rights of somebody for a moment, the command is carried out. Where
// it says so again, the command is refused, which is seen on it and in the log, and is
// carried out when its job is started again.
func TestRightsAreNotThereForAMoment(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/build-execute", changesCode)
	none := githubtest.Status(404, "Not Found")
	const route = "GET /repos/acme/widget/collaborators/ada/permission"
	h.forge.Fault(route, none)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	h.forge.Fault(route, none, none)
	id := h.say("ada", "/rollback build it is not polite")
	j := h.heard(id, "ada").end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
	testenv.Has(t, "the log", j.said.String(), "::warning::", "ada")
	h.signs(id, "confused")
	h.heard(id, "ada", "GITHUB_RUN_ATTEMPT=2").end(exit.Done).wants("decision", "run", "status", "completed")
	testenv.Is(t, "times that the run was taken back:", len(h.record().RollbackHistory), 1)
}

// remove removes a file of the stand.
func (h *hub) remove(name string) {
	h.t.Helper()
	testenv.Must(h.t, os.Remove(h.path(name)))
}
