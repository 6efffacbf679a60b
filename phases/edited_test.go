package phases

import (
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

// editedPlan is a run at the review of code, whose plan somebody has changed by
// hand after it had passed in its second round.
func editedPlan(t *testing.T) metadata.Run {
	t.Helper()
	plan := testPlan()
	run := plays(t, plan, freshRun(plan), wrotten("p1"), judged(false, blocker("F1")), wrotten("p2"), judged(true), wrotten("c1"), checked(true))
	next := Changed(run, "plan", "by hand", run.UpdatedAt)
	legal(t, run, next)
	return next
}

// An artifact that is not the reviewed one is reviewed again before anything
// follows, with all its revises; what was done after it stays.
func TestAnEditedArtifactIsReviewedAgain(t *testing.T) {
	plan := testPlan()
	after := []string{"code review reviewer", "tell execute writer", "tell review reviewer", "finish completed"}
	tests := map[string]struct {
		outcomes []Outcome
		want     []string
	}{
		"it passes": {
			[]Outcome{judged(true)},
			append([]string{"plan review reviewer"}, after...),
		},
		"it fails for what an earlier round had found, and is revised": {
			[]Outcome{judged(false, blocker("F1")), wrotten("p3"), judged(true)},
			append([]string{"plan review reviewer", "plan revise writer resume 3", "plan review reviewer"}, after...),
		},
		"the call breaks": {
			[]Outcome{errored(metadata.Crash), judged(true)},
			append([]string{"plan review reviewer", "plan review reviewer after 1s"}, after...),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			run := editedPlan(t)
			outcomes := slices.Concat(tt.outcomes, []Outcome{judged(true), wrotten("t1"), judged(true), {}})
			for i, want := range tt.want {
				d := Decide(On(plan, run))
				if got := show(d); got != want {
					t.Fatalf("decision %d is %q (%s), want %q", i+1, got, english(d.Why), want)
				}
				if i == 0 && english(d.Why) != "somebody has changed plan.md on the branch since it was reviewed. Completed phases stay as they are, unless you take one back with rollback" {
					t.Errorf("it is reviewed because %q", english(d.Why))
				}
				run = play(t, plan, run, d, outcomes[i])
			}
			if rec := run.Phase("plan"); rec.Edited() || rec.Round > 2 {
				t.Errorf("in the end the plan is %+v", rec)
			}
		})
	}
}

// Where there is no review, and where the artifact reads again as it did, nothing
// is done again. A phase that was taken back is under way anyway.
func TestWhatIsNotReviewedAgain(t *testing.T) {
	plan := testPlan()
	run := editedPlan(t)
	unreviewed := testPlan()
	unreviewed.Phases[0].NoReview = true
	if d := Decide(On(unreviewed, run)); d.Phase != "code" {
		t.Errorf("without a review decided %q", show(d))
	}
	if d := Decide(On(plan, Changed(run, "plan", "p2", run.UpdatedAt))); d.Phase != "code" {
		t.Errorf("with the artifact as it was decided %q", show(d))
	}
	r := goneBack(t, plan, run, "plan", metadata.Revise, "r")
	legal(t, run, r.Run)
	if d := Decide(On(plan, r.Run)); d.Do != DoRevise || r.Run.Phase("plan").Edited() {
		t.Errorf("taken back it decided %q", show(d))
	}
}

// Nobody approves what is to be reviewed first.
func TestAnEditedArtifactIsNotApproved(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Approve = "maintain"
	run := editedPlan(t)
	if phase, _, _, ok := Approval(On(plan, run), ""); ok {
		t.Errorf("%s waits to be approved", phase)
	}
	if _, err := Approve(On(plan, run), Command{By: "max", At: t0}); !strings.Contains(refused(err), "changed plan.md on the branch since it was reviewed") {
		t.Errorf("approving it: %v", err)
	}
	run = plays(t, plan, run, judged(true))
	if phase, _, _, _ := Approval(On(plan, run), ""); phase != "plan" {
		t.Errorf("reviewed, %q waits to be approved", phase)
	}
}
