//go:build slow || e2e

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// Two hundred reviews by strangers call no agent, and GitHub is asked about each once or twice.
func TestFloodOfReviews(t *testing.T) {
	h, reviews := newReviewed(t, judged)
	calls := h.calls()
	var last githubtest.Review
	for i := range 200 {
		last = reviews.Submit(8, twoComments(fmt.Sprintf("stranger%d", i)))
	}
	before := len(h.forge.Requests())
	h.inputs["command"] = "gate"
	h.reviewed(reviews, last).end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
	if n := len(h.forge.Requests()) - before; n > 2 {
		t.Errorf("the gate asked GitHub %d times", n)
	}
	h.inputs["command"] = ""
	before = len(h.forge.Requests())
	h.comment("ada", "/pause for today", "REPRISE_LISTEN_EVERY=2s").end(anyCode)
	if n := len(h.forge.Requests()) - before; n > 2*200+50 {
		t.Errorf("a job asked GitHub %d times", n)
	}
	if got := h.calls(); got != calls || len(h.record().RollbackHistory) != 0 {
		t.Errorf("the agent was called for %s", got)
	}
	// Among them somebody with the right is heard.
	h.write("home/build-revise", "echo better >\"$REPRISE_DIR/code.txt\"\n")
	h.write("home/build-review", verdictOf(finding("R1", "blocker", "fixed", "")+","+finding("R2", "blocker", "fixed", "")))
	h.reviewed(reviews, reviews.Submit(8, twoComments("ada"))).end(exit.Done).wants("status", "completed")
	testenv.Same(t, "for another review were asked", []string{"ada"}, reviews.Asked(8))
}

// Programs that may are heard, but not more than twice in a row.
func TestTwoReviewsByPrograms(t *testing.T) {
	h, reviews := newReviewed(t, twoSteps)
	h.inputs["allowed-bots"] = "lint[bot]"
	h.write("home/build-revise", "date +%N >\"$REPRISE_DIR/code.txt\"\n")
	for i, want := range []int{1, 2, 2, 3} {
		if i == 3 {
			h.comment("ada", "/rollback build go on").end(exit.Done)
			want++
		}
		v := reviews.Submit(8, githubtest.Review{Author: "lint[bot]", State: "CHANGES_REQUESTED", Body: "Not clean."})
		h.reviewed(reviews, v).end(anyCode)
		if got := len(h.record().RollbackHistory); got != want {
			t.Errorf("after review %d the run was taken back %d times, want %d", i+1, got, want)
		}
	}
	if got := h.record().Reviews[2]; !strings.Contains(string(got.Refused), "bots_in_a_row") || !got.Answered {
		t.Errorf("the third review is %+v", got)
	}
	if all := h.forge.Comments(hubRepo, 8); len(all) != 0 || len(reviews.Asked(8)) != 0 {
		t.Errorf("programs were answered: %+v, %q", all, reviews.Asked(8))
	}
}

// A program that answers each stop with a command is obeyed twice, until a person says how to
// go on. It gets no answer that it could answer; it may always stop a run.
func TestTwoCommandsByPrograms(t *testing.T) {
	h := newStage(t, twoSteps)
	h.inputs["allowed-bots"] = "driver[bot]"
	h.write("home/build-execute", changesCode)
	h.write("home/build-revise", "date +%N >\"$REPRISE_DIR/code.txt\"\n")
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	for i, want := range []int{1, 2, 2, 4} {
		if i == 3 {
			h.comment("ada", "/rollback build go on").end(exit.Done)
		}
		id := h.say("driver[bot]", "/rollback build again")
		h.heard(id, "driver[bot]").end(anyCode)
		if got := len(h.record().RollbackHistory); got != want {
			t.Errorf("after command %d the run was taken back %d times, want %d", i+1, got, want)
		}
		if i == 2 {
			h.signs(id, "eyes confused")
			testenv.Is(t, "the program is answered:", h.replyTo(id), "")
			run := h.record()
			testenv.Has(t, "the decision", string(run.Decisions[len(run.Decisions)-1].Why), "bots_in_a_row")
		}
	}
	again := h.comment("driver[bot]", "/rollback build again")
	h.comment("driver[bot]", "/pause").end(anyCode)
	again.finish()
	run := h.record()
	if d := run.Decisions[len(run.Decisions)-1]; strings.Contains(string(d.Why), "bots_in_a_row") {
		t.Errorf("the program may not stop the run: %+v", d)
	}
}
