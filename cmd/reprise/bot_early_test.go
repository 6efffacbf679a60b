//go:build slow || e2e

package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/metadata"
)

// beforeReview is a pipeline whose second phase begins while the first one is reviewed.
const beforeReview = `
name: "own"
speculate: true
agents: own: {use: "command", command: ["worker"]}
defaults: retry: {max: 1, initial: "10ms"}
phases: [
	{name: "build", goal: "Build.", access: "tree", gates: ["It is there"]},
	{name: "test", goal: "Test.", access: "tree", needs: ["build"], gates: ["It is there"]},
]
`

// earlyAtWork starts a run in which the first phase is reviewed and the second one is at work.
// Both hang, until home/reviewed and home/tested are there.
func earlyAtWork(t *testing.T, more string) (*hub, *hubJob) {
	t.Helper()
	h := newStage(t, beforeReview+more)
	const passes = `{"structured": {"verdict": "pass", "gates": [{"gate": "It is there", "pass": true, "why": "w"}], "findings": []}}`
	h.write("home/build-execute", `echo "$REPRISE_STEP" >>"$REPRISE_DIR/code"`)
	h.write("home/build-revise", `echo "$REPRISE_STEP" >>"$REPRISE_DIR/code"`)
	h.write("home/build-review", `
touch "$HOME/working-review"
while ! [ -e "$HOME/reviewed" ]; do sleep 0.02; done
echo '`+passes+`'
exit
`)
	h.write("home/test-execute", `
echo half >"$REPRISE_DIR/tested"
touch "$HOME/working-test"
while ! [ -e "$HOME/tested" ]; do sleep 0.02; done
cp "$REPRISE_DIR/code" "$REPRISE_DIR/tested"
echo '{"usage": {"cost_usd": 0.25}}'
`)
	h.write("home/test-revise", h.read("home/test-execute"))
	h.write("home/test-review", "echo '"+passes+"'; exit\n")
	j := h.heard(h.say("ada", "/run"), "ada")
	h.await(j.life, "home/working-review")
	h.await(j.life, "home/working-test")
	return h, j
}

// goOn lets calls go on that hang.
func (h *hub) goOn() {
	h.t.Helper()
	h.write("home/reviewed", "")
	h.write("home/tested", "")
}

// What people ask for while a phase is at work before the one before it is accepted.
func TestCommandsWhileAPhaseIsEarly(t *testing.T) {
	for _, more := range []string{"", "parallel: true\n"} {
		for _, tt := range []struct {
			name, command  string
			ends           string // the call that ends after it
			code, tested   string // at the end
			builds, others int    // calls of the first phase that write, and of the second
			resumes        bool   // the run stops, and is gone on with
			refused        bool   // nothing waits for that
		}{
			{name: "what it builds on is taken back", command: "/rollback build think of tabs", code: "execute\nrevise\n", tested: "execute\nrevise\n", builds: 2, others: 2},
			{name: "it is taken back", command: "/rollback test:execute think of tabs", code: "execute\n", tested: "execute\n", builds: 1, others: 2},
			{name: "what it builds on is to be approved", command: "/approve build", refused: true, code: "execute\n", tested: "execute\n", builds: 1, others: 1},
			{name: "all is cancelled", command: "/cancel no", code: "execute\n", tested: "execute\n", builds: 1, others: 2, resumes: true},
			{name: "it is left out", command: "/skip test nobody needs it", ends: "reviewed", code: "execute\n", builds: 1, others: 1},
		} {
			t.Run(strings.TrimSpace(more+tt.name), func(t *testing.T) {
				h, j := earlyAtWork(t, more)
				id := h.say("max", tt.command)
				if tt.ends != "" { // what ends no call is taken when one ends
					h.looks(2)
					h.write("home/"+tt.ends, "")
				}
				if !tt.refused {
					h.until("the command", func() bool { return strings.Contains(h.reactions(id), "rocket") })
				}
				if tt.resumes {
					j.end(exit.Cancelled).wants("status", "cancelled")
					h.goOn()
					h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
				} else {
					h.goOn()
					j.end(exit.Done).wants("status", "completed")
				}
				if tt.refused {
					h.signs(id, "eyes confused")
				}
				h.whole(map[string]string{"code": tt.code, "tested": tt.tested})
				calls := h.calls()
				if builds := strings.Count(calls, "build execute") + strings.Count(calls, "build revise"); builds != tt.builds {
					t.Errorf("the first phase was written %d times, want %d: %s", builds, tt.builds, calls)
				}
				if others := strings.Count(calls, "test execute") + strings.Count(calls, "test revise"); others != tt.others {
					t.Errorf("the second phase was written %d times, want %d: %s", others, tt.others, calls)
				}
			})
		}
	}
}

// A job that is killed while a phase is at work early has spent its calls, and nothing else.
func TestJobKilledWhileAPhaseIsEarly(t *testing.T) {
	h, j := earlyAtWork(t, "")
	j.kill(true)
	h.goOn()
	h.lapse()
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	h.whole(map[string]string{"code": "execute\n", "tested": "execute\n"})
	for _, a := range h.record().Attempts {
		if a.Status == metadata.Started {
			t.Errorf("attempt %d has no end: %+v", a.N, a)
		}
	}
}
