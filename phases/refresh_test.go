package phases

import (
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// An agent that has to revise goes on in its session, but for one that knows
// another text of the issue than the run has now.
func TestIssueTakenAnewEndsSessions(t *testing.T) {
	plan := testPlan()
	run := plays(t, plan, freshRun(plan), wrotten("p1"), judged(false, blocker("F1")))
	if d := Decide(On(plan, run)); d.Do != DoRevise || d.Resume != 1 {
		t.Fatalf("decided %q, resume %d; want the session to go on", show(d), d.Resume)
	}
	now := run.Issue
	now.Title = "Another title"
	run = TakeIssue(run, now, "title", "ada", run.UpdatedAt.Add(time.Second))
	if d := Decide(On(plan, run)); d.Do != DoRevise || d.Resume != 0 {
		t.Errorf("decided %q, resume %d; want a fresh session", show(d), d.Resume)
	}
	testenv.Is(t, "the title is", run.IssueTitle, "Another title")
}

// An agent that made no progress is called again once the issue says more.
func TestIssueTakenAnewAfterNoProgress(t *testing.T) {
	plan := testPlan()
	run := freshRun(plan)
	nothing := without(metadata.Unsuccessful, metadata.NoProgress, "x.md was not written")
	for range 2 {
		run = plays(t, plan, run, nothing)
	}
	d := Decide(On(plan, run))
	if d.Do != DoWait || d.Code != metadata.NoProgress {
		t.Fatalf("decided %q, want to wait for a person", show(d))
	}
	run = play(t, plan, run, d, Outcome{})
	if next, err := Answer(run, "", "In docs/.", Command{At: run.UpdatedAt}); err != nil || show(Decide(On(plan, next))) != "plan execute writer" {
		t.Errorf("answered, the run decides %q, error %v", show(Decide(On(plan, next))), err)
	}
	renamed := testPlan()
	renamed.Phases[0].Name = "design"
	if _, next := Refresh(plan, renamed, run, run.UpdatedAt); next.Status != metadata.Running || Decide(On(renamed, next)).Phase != "design" {
		t.Errorf("with its phase renamed the run is %s and decides %q", next.Status, show(Decide(On(renamed, next))))
	}
	for _, issue := range []bool{false, true} {
		next := TakeUp(run, Start{At: run.UpdatedAt, Issue: issue})
		if d := Decide(On(plan, next)); (next.Status == metadata.Running && d.Do == DoExecute) != issue {
			t.Errorf("issue %v: the run is %s, decided %q", issue, next.Status, show(d))
		}
	}
}
