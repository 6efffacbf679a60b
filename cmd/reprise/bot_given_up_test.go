//go:build slow || e2e

package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

const givesUp = `
name: "own"
agents: own: {use: "command", command: ["worker"]}
phases: [
	{name: "build", goal: "Build.", access: "tree", review: false},
	{name: "judge", goal: "Judge.", review: false, report: abort?: string},
	{name: "tell", goal: "Tell.", review: false},
]
`

// A person who approves that a run is given up closes issue and pull request with it,
// once, and whoever takes the run back goes on.
func TestGivenUp(t *testing.T) {
	h := newStage(t, givesUp)
	h.write("home/build-execute", changesCode)
	h.write("home/judge-execute", `echo judged >>"$REPRISE_ARTIFACT"; echo '{"structured": {"abort": "It does this already, @hana: see sum.go"}}'; exit 0`+"\n")
	h.comment("ada", "/run").end(exit.Done).wants("status", "waiting")
	run := h.record()
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "advises giving up; approving the phase ends the run")
	small := h.say("ada", "/approve")
	h.heard(small, "ada").end(anyCode)
	h.signs(small, "eyes confused")
	if h.thread(hubIssue).State == "closed" {
		t.Fatal("somebody without the right has closed the issue")
	}
	approved := h.say("max", "/approve")
	h.heard(approved, "max").end(anyCode).wants("status", "cancelled")
	h.signs(approved, "eyes rocket")
	if got := h.record(); got.Status != metadata.Cancelled || got.Stop.Why.Code() != "given_up" {
		t.Errorf("the run is %s: %+v", got.Status, got.Stop)
	}
	h.closedOnce(run.PRNumber)
	h.called("build execute, judge execute")
	reopen := func() {
		h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.State = "open" })
	}
	reopen()
	h.comment("ada", "/run").end(anyCode).wants("status", "cancelled") // which is no decision, so it is closed once more
	reopen()
	h.write("home/judge-execute", `echo judged >>"$REPRISE_ARTIFACT"; echo '{"structured": {}}'; exit 0`+"\n")
	h.comment("ada", "/rollback build because it is wanted").end(exit.Done).wants("status", "completed")
}

// thread is the issue or the pull request of that number.
func (h *hub) thread(number int) (out githubtest.Issue) {
	for _, is := range h.forge.Issues(hubRepo) {
		if is.Number == number {
			out = is
		}
	}
	return out
}

// closedOnce says that the issue and its pull request are closed, each with one comment
// that says why.
func (h *hub) closedOnce(pull int) {
	h.t.Helper()
	for _, number := range []int{hubIssue, pull} {
		if is := h.thread(number); is.State != "closed" || number == hubIssue && is.Reason != "not_planned" {
			h.t.Errorf("number %d is %+v", number, is)
		}
		var said []string
		for _, c := range h.forge.Comments(hubRepo, number) {
			if strings.HasPrefix(c.Body, "<!-- reprise:given-up:") {
				said = append(said, c.Body)
			}
		}
		if len(said) != 1 {
			h.t.Fatalf("on number %d it is said %d times why", number, len(said))
		}
		testenv.Has(h.t, "what is said", said[0], "`max`", "It does this already", "sum.go", "/rollback")
		testenv.Lacks(h.t, "what an agent wrote", said[0], " @hana")
	}
}
