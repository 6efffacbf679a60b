package phases

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// splitPlan is testPlan with a rule that splits its second phase.
func splitPlan() *pipelines.Pipeline {
	plan := testPlan()
	plan.Phases[0].ReportSchema = json.RawMessage(anyReport)
	plan.Rules = []pipelines.Rule{{After: "plan", Then: pipelines.Then{Split: "code"}}}
	return plan
}

// three are tasks of which the second needs the first.
const three = `{"tasks":[
	{"id":"t2","title":"The page","goal":"Show it.","needs":["t1"]},
	{"id":"t1","title":"The parser","goal":"Read it."},
	{"id":"t3","title":"The docs","goal":"Tell it."}]}`

// advance carries a run on until a phase is decided on, or for that many
// decisions.
func advance(t *testing.T, plan *pipelines.Pipeline, run metadata.Run, report, until string) metadata.Run {
	t.Helper()
	for range 50 {
		d := Decide(On(plan, run))
		if d.Phase == until || d.Final() {
			return run
		}
		o := map[Do]Outcome{DoExecute: wrotten(d.Phase), DoRevise: wrotten(d.Phase + "!"), DoIntegrate: wrotten("all"), DoReview: judged(true), DoCheck: checked(true)}[d.Do]
		if d.Phase == "plan" && d.Do != DoReview {
			o.Written.Report = json.RawMessage(report)
		}
		was := run.Phase(d.Phase).Status
		run = play(t, plan, run, d, o)
		if d.Phase == "plan" && was != run.Phase("plan").Status && run.Phase("plan").Status == metadata.PhaseCompleted {
			next, _ := Fire(On(plan, run), 0, nil, run.UpdatedAt)
			next.Revision++
			legal(t, run, next)
			run = next
		}
	}
	t.Fatalf("the run does not come to %s", until)
	return run
}

// standing shows the phases of a run with where each stands.
func standing(run metadata.Run) string {
	var out []string
	for _, rec := range run.Phases {
		out = append(out, rec.Name+" "+map[metadata.PhaseStatus]string{
			metadata.PhasePending: ".", metadata.PhaseInProgress: ">", metadata.PhaseCompleted: "ok", metadata.PhaseFailed: "x", metadata.PhaseSkipped: "-",
		}[rec.Status])
	}
	return strings.Join(out, ", ")
}

// A phase has a part for each task, behind those that it needs; the parts come
// together in the phase, where the whole is judged.
func TestAPhaseIsDoneInParts(t *testing.T) {
	plan := splitPlan()
	run := advance(t, plan, freshRun(plan), three, "code.t1")
	if got, want := standing(run), "plan ok, code.t1 ., code.t2 ., code.t3 ., code ., tell ."; got != want {
		t.Fatalf("split, the phases are %s, want %s", got, want)
	}
	alone := advance(t, plan, freshRun(plan), `{"tasks":[{"id":"t1","title":"A","goal":"G"}]}`, "code")
	testenv.Is(t, "of one task the rule says", alone.Decisions[len(alone.Decisions)-1].Why.Code(), "split_none")
	base := strings.Repeat("b", 40)
	var done []string
	for range 20 {
		d := Decide(On(plan, run))
		if d.Phase == "tell" {
			break
		}
		done = append(done, d.Phase+" "+string(d.Do))
		run = play(t, plan, run, d, map[Do]Outcome{DoExecute: wrotten(d.Phase), DoIntegrate: wrotten("all"), DoReview: judged(true), DoCheck: checked(true)}[d.Do])
	}
	want := "code.t1 execute, code.t1 check, code.t1 review, code.t2 execute, code.t2 check, code.t2 review, code.t3 execute, code.t3 check, code.t3 review, code integrate, code check, code review"
	testenv.Is(t, "decided", strings.Join(done, ", "), want)
	if rec := run.Phase("code"); rec.Base != base || rec.Status != metadata.PhaseCompleted {
		t.Errorf("the whole is %+v", rec)
	}
	testenv.Is(t, "calls that are counted, as no agent brings the parts together:", SpentOf(run).Attempts, 9)

	plan.Phases[1].Split.Review = "whole"
	run = advance(t, plan, freshRun(plan), three, "tell")
	for _, a := range run.Attempts {
		if a.Step == metadata.Review && strings.Contains(a.Phase, ".") {
			t.Errorf("%s was reviewed, and only the whole should be", a.Phase)
		}
	}
	if run.Phase("code").Verdict == nil {
		t.Error("the whole was not reviewed")
	}
}

func TestWhatIsNotSplit(t *testing.T) {
	for name, report := range map[string]string{
		"no task": `{"tasks":[]}`, "one task": `{"tasks":[{"id":"t1","title":"T","goal":"G"}]}`, "no report of tasks": `{}`,
		"an id that no folder can have": `{"tasks":[{"id":"t1","title":"T","goal":"G"},{"id":"t2.","title":"T","goal":"G"}]}`,
	} {
		plan := splitPlan()
		run := advance(t, plan, freshRun(plan), report, "code")
		if got := standing(run); got != "plan ok, code ., tell ." || Decide(On(plan, run)).Do != DoExecute {
			t.Errorf("%s: the phases are %s, and %q is next", name, got, show(Decide(On(plan, run))))
		}
	}
}

// A way back to a part takes back what needs it, and leaves the others alone. The
// reason reaches whoever does the next step.
func TestBackToAPart(t *testing.T) {
	plan := splitPlan()
	run := advance(t, plan, freshRun(plan), three, "tell")
	back := func(to string, step metadata.Step, restore bool) metadata.Run {
		t.Helper()
		r, err := PlanRollback(On(plan, run), Rollback{To: to, Step: step, Restore: restore, Reason: "keep the API", Trigger: metadata.Manual, At: run.UpdatedAt})
		if err != nil {
			t.Fatalf("%s: %v", to, err)
		}
		legal(t, run, r.Run)
		if d := Decide(On(plan, r.Run)); r.Run.Phase(d.Phase).RollbackContext == nil || r.Run.Phase(d.Phase).RollbackContext.Reason != "keep the API" {
			t.Errorf("back to %s: %q is not told why", to, show(d))
		}
		return r.Run
	}
	for _, tt := range []struct {
		to      string
		step    metadata.Step
		restore bool
		want    string
	}{
		{"code.t1", metadata.Revise, false, "plan ok, code.t1 >, code.t2 ., code.t3 ok, code ., tell ."},
		{"code.t1", metadata.Revise, true, "plan ok, code.t1 >, code.t2 ., code.t3 ., code ., tell ."}, // the code of t3 went, too
		{"code.t3", metadata.Execute, false, "plan ok, code.t1 ok, code.t2 ok, code.t3 >, code ., tell ."},
		{"code", metadata.Revise, false, "plan ok, code.t1 ok, code.t2 ok, code.t3 ok, code >, tell ."},
		{"code", metadata.Execute, false, "plan ok, code.t1 ., code.t2 ., code.t3 ., code >, tell ."},
		{"plan", metadata.Revise, false, "plan >, code.t1 -, code.t2 -, code.t3 -, code ., tell ."},
	} {
		next := back(tt.to, tt.step, tt.restore)
		if got := standing(next); got != tt.want {
			t.Errorf("back to %s %s, restored %v: %s, want %s", tt.to, tt.step, tt.restore, got, tt.want)
		}
		if end := advance(t, plan, next, three, "tell"); Decide(On(plan, end)).Phase != "tell" || slices.ContainsFunc(end.Phases, func(p metadata.Phase) bool { return p.RollbackContext != nil }) {
			t.Errorf("back to %s, the run stands at %s: %s", tt.to, show(Decide(On(plan, end))), standing(end))
		}
	}

	// Planned anew into other tasks, the old parts are history.
	run = back("plan", metadata.Execute, false)
	run = advance(t, plan, run, `{"tasks":[{"id":"t1","title":"New","goal":"G"},{"id":"t9","title":"New","goal":"G"}]}`, "tell")
	testenv.Is(t, "planned anew:", standing(run), "plan ok, code.t2 -, code.t3 -, code.t1 ok, code.t9 ok, code ok, tell .")
	for _, gone := range []string{"code.t2", "code.t8"} {
		if _, err := PlanRollback(On(plan, run), Rollback{To: gone, Step: metadata.Revise, Reason: "r", At: run.UpdatedAt}); err == nil {
			t.Errorf("the run was taken back to %s, which does no task", gone)
		}
	}

	// While the parts are at work, the whole can be taken back: all of them are.
	run = advance(t, plan, freshRun(plan), three, "code.t3")
	testenv.Is(t, "back to the whole half way:", standing(back("code", metadata.Revise, false)), "plan ok, code.t1 ., code.t2 ., code.t3 ., code >, tell .")
}

func TestPeopleAndParts(t *testing.T) {
	plan := splitPlan()
	start := advance(t, plan, freshRun(plan), three, "code.t1")
	skip := func(run metadata.Run, phase, want string) metadata.Run {
		t.Helper()
		next, err := Skip(On(plan, run), phase, run.UpdatedAt)
		if got := refused(err); want == "" && err != nil || want != "" && !strings.Contains(got, want) {
			t.Fatalf("skip %s: %q, want %q", phase, got, want)
		}
		if err == nil {
			legal(t, run, next)
		}
		return next
	}
	skip(start, "code.t1", "needed by code.t2")
	run := skip(start, "code.t2", "")
	run = skip(run, "code.t1", "")
	skip(run, "code.t3", "the only part of code that is left")
	run = advance(t, plan, run, three, "tell")
	testenv.Is(t, "two left out:", standing(run), "plan ok, code.t1 -, code.t2 -, code.t3 ok, code ok, tell .")
	half := advance(t, plan, start, three, "code.t3")
	testenv.Is(t, "the rest left out:", standing(skip(half, "code", "")), "plan ok, code.t1 ok, code.t2 ok, code.t3 -, code -, tell .")

	// A part that fails has all its revises again, and one that a person has to
	// look at is approved by itself; the approval of the pipeline is for the whole.
	plan.Phases[1].Revisions, plan.Phases[1].Approve = 0, "maintain"
	run = play(t, plan, start, Decide(On(plan, start)), wrotten("w"))
	run = plays(t, plan, run, checked(false), judged(false, blocker("F1")), Outcome{})
	if run.Stop == nil || run.Stop.Phase != "code.t1" || run.Status != metadata.Failed {
		t.Fatalf("the run is %s, stopped by %+v", run.Status, run.Stop)
	}
	next, err := Retry(On(plan, run), "", Start{At: run.UpdatedAt})
	testenv.Must(t, err)
	legal(t, run, next)
	if d := Decide(On(plan, next)); d.Do != DoRevise || d.Phase != "code.t1" {
		t.Errorf("retried, %q is next", show(d))
	}
	run = advance(t, plan, next, three, "code.t2")
	demand(run.Phase("code.t1"), "maintain", "look")
	if phase, _, _, ok := Approval(On(plan, run), ""); !ok || phase != "code.t1" {
		t.Fatalf("the approval that the run waits for is one of %q", phase)
	}
	both := run.Clone()
	third := both.Phase("code.t3")
	name, task := third.Name, third.Task
	*third = *both.Phase("code.t1")
	third.Name, third.Task = name, task
	if got := Approvals(On(plan, both)); !slices.Equal(got, []string{"code.t1", "code.t3"}) {
		t.Errorf("%q wait for approval", got)
	}
	if _, err := Approve(On(plan, both), Command{At: run.UpdatedAt}); err == nil || prompts.Why(err).Code() != "which_approval" {
		t.Errorf("an approval that does not say of which part: %v", err)
	}
	if run, err = Approve(On(plan, run), Command{Phase: "code.t1", At: run.UpdatedAt}); err != nil {
		t.Fatal(err)
	}
	run = advance(t, plan, run, three, "tell")
	if phase, _, _, ok := Approval(On(plan, run), ""); !ok || phase != "code" {
		t.Errorf("the approval that the run waits for is one of %q, want the whole", phase)
	}
}

// What is taken anew keeps the parts, in the folder in which they lie.
func TestRefreshKeepsParts(t *testing.T) {
	plan := splitPlan()
	run := advance(t, plan, freshRun(plan), three, "code.t2")
	now := splitPlan()
	first := now.Phases[0]
	first.Name, first.Folder = "look", "00_look"
	now.Phases = slices.Insert(now.Phases, 0, first)
	now.Phases[2].Folder, now.Rules = "02_code", nil
	taken, next := Refresh(plan, now, run, run.UpdatedAt)
	legal(t, run, next)
	testenv.Is(t, "taken anew:", standing(next), "look ., plan ok, code.t1 ok, code.t2 ., code.t3 ., code ., tell .")
	testenv.Is(t, "the folder of a part, whose files lie there, is", taken.Phase("code.t1").Folder, "01_code.t1")
}

// Somebody has changed the plan: it is reviewed, revised, and has other tasks. What
// is done or under way stays, and the rest is as planned now.
func TestReplannedWhilePartsAreAtWork(t *testing.T) {
	plan := splitPlan()
	run := advance(t, plan, freshRun(plan), three, "code.t2")
	run = plays(t, plan, run, wrotten("half"))
	run = Changed(run, "plan", "other", run.UpdatedAt)
	run = plays(t, plan, run, judged(false, blocker("F1")))
	run = advance(t, plan, run, `{"tasks":[{"id":"t1","title":"Other","goal":"G"},{"id":"t4","title":"New","goal":"G"}]}`, "tell")
	testenv.Is(t, "it stands:", standing(run), "plan ok, code.t1 ok, code.t2 ok, code.t4 ok, code ok, tell .")
}
