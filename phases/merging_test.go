package phases

import (
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

var mergingNoon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// done is a run whose phases are done: two that change code, with checks, and one that
// tells of it.
func done(t *testing.T) (*pipelines.Pipeline, metadata.Run) {
	t.Helper()
	unit := pipelines.Check{Name: "unit", Run: "make test"}
	plan := &pipelines.Pipeline{Name: "own", Phases: []pipelines.Phase{
		{Name: "build", Writes: "build.md", Folder: "00_build", Access: pipelines.AccessTree, NoReview: true, Revisions: 3, Checks: []pipelines.Check{unit, {Name: "lint", Run: "make lint"}}},
		{Name: "test", Writes: "test.md", Folder: "01_test", Access: pipelines.AccessTree, NoReview: true, Revisions: 3, Checks: []pipelines.Check{unit}},
		{Name: "tell", Writes: "tell.md", Folder: "02_tell", NoReview: true, Revisions: 3},
	}}
	run := Fresh(On(plan, metadata.Run{IssueNumber: "7", Language: "en", BaseCommit: strings.Repeat("a", 40)}), mergingNoon)
	for d := Decide(On(plan, run)); !d.Final(); d = Decide(On(plan, run)) {
		run = Begin(run, d, Beginning{At: mergingNoon, Base: run.BaseCommit})
		o := Outcome{At: mergingNoon, Status: metadata.Succeeded, Checks: []metadata.CheckResult{{Name: "unit", Pass: true}}}
		if d.Do != DoCheck {
			o.Checks, o.Written = nil, &Written{Digest: d.Phase}
		}
		run = Apply(On(plan, run), d, o)
	}
	return plan, run
}

func TestDue(t *testing.T) {
	plan, run := done(t)
	end, code := Decision{Do: DoFinish}, Decision{Do: DoExecute, Phase: "build"}
	fresh := Fresh(On(plan, metadata.Run{IssueNumber: "7"}), mergingNoon)
	asks := AskForMerge(run, mergingNoon)
	asks.Decisions = append(asks.Decisions, metadata.Decision{Step: "update", By: "ada"})
	merged := MergeMade(On(plan, asks), metadata.Merge{At: mergingNoon, Commit: strings.Repeat("b", 40)}, "merged")
	for _, tt := range []struct {
		when string
		run  metadata.Run
		d    Decision
		want bool
	}{
		{"", run, end, true},
		{"", run, Decision{Do: DoWait, Code: metadata.AwaitingCI}, true},
		{"", run, Decision{Do: DoWait, Code: metadata.AwaitingPerson}, false},
		{"", fresh, code, false},
		{mergeBeforeCode, fresh, code, true},
		{mergeBeforeCode, run, code, false},
		{mergeBeforeCode, run, end, false},
		{mergeNever, run, end, false},
		{mergeNever, asks, code, true},
		{mergeNever, merged, code, false},
	} {
		p := *plan
		p.Update = tt.when
		if got := MergeDue(On(&p, tt.run), tt.d); got != tt.want {
			t.Errorf("%q, before %s %s: %t", tt.when, tt.d.Do, tt.d.Code, got)
		}
	}
}

// After a merge each check runs once more, in the newest phase that has it, and the run
// goes to its end.
func TestMade(t *testing.T) {
	plan, run := done(t)
	run.Baseline = []metadata.CheckResult{{Name: "unit"}}
	next := MergeMade(On(plan, run), metadata.Merge{At: mergingNoon, Commit: strings.Repeat("b", 40)}, "merged")
	testenv.Must(t, metadata.CheckNext(run, next))
	if next.Baseline != nil {
		t.Error("what failed on the base before counts for the new one")
	}
	for _, phase := range []string{"build", "test"} {
		d := Decide(On(plan, next))
		if d.Do != DoCheck || d.Phase != phase || next.Phase(phase).Base != run.Phase(phase).Base || next.Phase(phase).Upstream != run.BaseCommit {
			t.Fatalf("it decides %+v, from %s with %s", d, next.Phase(phase).Base, next.Phase(phase).Upstream)
		}
		next = Begin(next, d, Beginning{At: mergingNoon})
		next = Apply(On(plan, next), d, Outcome{At: mergingNoon, Status: metadata.Succeeded, Checks: []metadata.CheckResult{{Name: "unit", Pass: true}}})
	}
	if d := Decide(On(plan, next)); d.Do != DoFinish {
		t.Errorf("then it decides %+v", d)
	}
	// Taken back later, a phase has begun where it began, and knows what came in since.
	again := MergeMade(On(plan, next), metadata.Merge{At: mergingNoon, Commit: strings.Repeat("c", 40)}, "merged")
	back := goneBack(t, plan, again, "build", metadata.Execute, "anew")
	for _, phase := range []string{"build", "test"} {
		if was, now := run.Phase(phase), back.Run.Phase(phase); now.Base != was.Base || now.Upstream != run.BaseCommit {
			t.Errorf("%s has begun at %s with %s", phase, now.Base, now.Upstream)
		}
	}
	other := run.Clone()
	other.BaseCommit, other.Revision = strings.Repeat("c", 40), run.Revision+1
	if metadata.CheckNext(run, other) == nil {
		t.Error("the base changes without a merge")
	}
}

// Once conflicts are mended, the checks of the phases before run again, and that once.
func TestMended(t *testing.T) {
	plan, run := done(t)
	if _, ok := ConflictMended(On(plan, run), mergingNoon); ok {
		t.Error("nothing was merged")
	}
	merged := MergeMade(On(plan, run), metadata.Merge{At: mergingNoon, Commit: strings.Repeat("b", 40), Conflicts: []string{"a.go"}}, "merged")
	if _, ok := ConflictMended(On(plan, merged), mergingNoon); ok {
		t.Error("nobody was asked to mend it")
	}
	back, err := MendConflict(On(plan, merged), "mend it", mergingNoon)
	testenv.Must(t, err)
	next := back.Run
	for next.Phase("test").Status != metadata.PhaseCompleted {
		if _, ok := ConflictMended(On(plan, next), mergingNoon); ok {
			t.Fatal("it is not mended yet")
		}
		d := Decide(On(plan, next))
		if d.Phase != "test" {
			t.Fatalf("it decides %+v", d)
		}
		next = Begin(next, d, Beginning{At: mergingNoon})
		o := Outcome{At: mergingNoon, Status: metadata.Succeeded, Checks: []metadata.CheckResult{{Name: "unit", Pass: true}}}
		if d.Do != DoCheck {
			o.Checks, o.Written = nil, &Written{Digest: "mended"}
		}
		next = Apply(On(plan, next), d, o)
	}
	again, ok := ConflictMended(On(plan, next), mergingNoon)
	if d := Decide(On(plan, again)); !ok || d.Do != DoCheck || d.Phase != "build" {
		t.Fatalf("mended: %v, then it decides %+v", ok, d)
	}
	if err := metadata.CheckNext(next, again); err != nil {
		t.Error(err)
	}
	if _, ok := ConflictMended(On(plan, again), mergingNoon); ok {
		t.Error("the checks would run once more")
	}
	plan.Phases[0].Checks = plan.Phases[1].Checks
	if _, ok := ConflictMended(On(plan, next), mergingNoon); ok {
		t.Error("the phase that mended it has all of the checks")
	}
}

// A review that has passed stands while checks pass, and what they find goes back to
// it.
func TestReviewStands(t *testing.T) {
	plan, run := done(t)
	plan.Phases[0].NoReview = false
	rec := run.Phase("build")
	rec.CompletedSteps, rec.Verdict = append(rec.CompletedSteps, metadata.Review), &metadata.Verdict{Verdict: metadata.Pass}
	next := MergeMade(On(plan, run), metadata.Merge{At: mergingNoon, Commit: strings.Repeat("b", 40)}, "merged")
	d := Decide(On(plan, next))
	next = Begin(next, d, Beginning{At: mergingNoon})
	for pass, want := range map[bool]metadata.PhaseStatus{true: metadata.PhaseCompleted, false: metadata.PhaseInProgress} {
		after := Apply(On(plan, next), d, Outcome{At: mergingNoon, Status: metadata.Succeeded, Checks: []metadata.CheckResult{{Name: "unit", Pass: pass, ExitCode: 1}}})
		if got := after.Phase("build"); got.Status != want || !pass && got.CurrentStep != metadata.Revise {
			t.Errorf("with checks that pass, %t, it is %s, %s", pass, got.Status, got.CurrentStep)
		}
	}
}

func TestConflicts(t *testing.T) {
	plan, run := done(t)
	m := metadata.Merge{At: mergingNoon.Add(time.Minute), Commit: strings.Repeat("b", 40), Conflicts: []string{"a.go"}}
	merged := MergeMade(On(plan, run), m, "merged")
	if got := OpenConflicts(merged); len(got) != 1 || !MergedSince(merged, "tell", 0) {
		t.Errorf("open are %q", got)
	}
	back, err := MendConflict(On(plan, merged), "mend it", mergingNoon.Add(time.Hour))
	testenv.Must(t, err)
	if err := metadata.CheckNext(merged, back.Run); err != nil {
		t.Error(err)
	}
	if d := Decide(On(plan, back.Run)); d.Do != DoRevise || d.Phase != "test" || back.Run.Phase("tell").Status != metadata.PhasePending || len(OpenConflicts(back.Run)) > 0 {
		t.Errorf("then it decides %+v", d)
	}
	// Names of files are words of others, so they stand in the output alone, which prompts fence.
	if got := back.Run.Phase("test").Checks.Results[0]; !strings.HasPrefix(got.Output, "a.go:") || !strings.HasSuffix(got.Output, "/01_test/conflicts/1/1") || strings.Contains(got.Name+got.Run, "a.go") {
		t.Errorf("the agent is told %+v", got)
	}
	again := MergeMade(On(plan, back.Run), m, "merged")
	begun := Fresh(On(plan, metadata.Run{IssueNumber: "7"}), mergingNoon)
	for _, tt := range []struct {
		run  metadata.Run
		path string
		want string
	}{
		{run, "a.go", ""},
		{merged, "a.go", ""},
		{again, "a.go", "conflict_again"},
		{run, ".github/workflows/ci.yml", "conflict_protected"},
		{run, "a\n.go", "conflict_protected"},
		{begun, "a.go", "conflict_nobody"},
		{Take(again, again, Command{Name: "retry", By: "ada", At: mergingNoon.Add(2 * time.Hour)}), "a.go", ""},
	} {
		if got := WhyPersonMerges(On(plan, tt.run), []string{tt.path}); got.Code() != tt.want {
			t.Errorf("%s after %d merges: %q", tt.path, len(tt.run.Merges), got)
		}
	}
	if stop := GiveUpMerge(On(plan, merged), "no", mergingNoon); stop.Stop.Code != metadata.Conflicts || stop.Stop.Phase != "test" {
		t.Errorf("it stops with %+v", stop.Stop)
	}
	idle := metadata.Run{CurrentPhase: "design", Phases: []metadata.Phase{{Name: "design"}}}
	idle.Decisions = []metadata.Decision{{Step: "update"}}
	if stop := GiveUpMerge(On(plan, idle), "no", mergingNoon); stop.Stop.Phase != "design" || !MergeRequested(idle) || MergeRequested(stop) {
		t.Errorf("where nobody can mend it, it stops with %+v; asked for again: %v", stop.Stop, MergeRequested(stop))
	}
}
