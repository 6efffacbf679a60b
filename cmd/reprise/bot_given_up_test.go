package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/github/githubtest"
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
// once, and whoever reopens the issue goes on.
func TestGivenUp(t *testing.T) {
	h := newStage(t, givesUp)
	h.write("home/build-execute", changesCode)
	h.write("home/judge-execute", `echo judged >>"$REPRISE_ARTIFACT"; echo '{"structured": {"abort": "It does this already, @hana: see sum.go"}}'; exit 0`+"\n")
	h.comment("ada", "/run").end(exit.Done).wants("status", "waiting")
	run := h.record()
	has(t, "the live comment", h.ours("progress")[0].Body, "advises to give up, which approving does")
	open := func(number int) (out githubtest.Issue) {
		for _, is := range h.forge.Issues(hubRepo) {
			if is.Number == number {
				out = is
			}
		}
		return out
	}
	small := h.say("ada", "/approve")
	h.heard(small, "ada").end(anyCode)
	h.signs(small, "eyes confused")
	if open(hubIssue).State == "closed" {
		t.Fatal("somebody without the right has closed the issue")
	}
	approved := h.say("max", "/approve")
	h.heard(approved, "max").end(anyCode).wants("status", "cancelled")
	h.signs(approved, "eyes rocket")
	if got := h.record(); got.Status != metadata.Cancelled || got.Stop.Why.Code() != "given_up" {
		t.Errorf("the run is %s: %+v", got.Status, got.Stop)
	}
	for _, number := range []int{hubIssue, run.PRNumber} {
		if is := open(number); is.State != "closed" || number == hubIssue && is.Reason != "not_planned" {
			t.Errorf("number %d is %+v", number, is)
		}
		var said []string
		for _, c := range h.forge.Comments(hubRepo, number) {
			if strings.HasPrefix(c.Body, "<!-- reprise:given-up:") {
				said = append(said, c.Body)
			}
		}
		if len(said) != 1 {
			t.Fatalf("on number %d it is said %d times why", number, len(said))
		}
		has(t, "what is said", said[0], "`max`", "It does this already", "sum.go", "/run")
		if strings.Contains(said[0], " @hana") {
			t.Errorf("somebody is called by what an agent wrote:\n%s", said[0])
		}
	}
	if got := h.calls(); got != "build execute, judge execute" {
		t.Errorf("the agent was called for %s", got)
	}
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.State = "open" })
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
}
