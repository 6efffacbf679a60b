package phases

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-ci/reprise/internal/test/phasestest"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// TestAnyLifeEnds walks random outcomes, kills, rollbacks and retries, and
// holds the promises of the package after every move.
func TestAnyLifeEnds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := testPlan()
		for i := range plan.Phases {
			plan.Phases[i].Revisions = rapid.IntRange(0, 3).Draw(rt, "revisions")
			plan.Phases[i].NoReview = rapid.IntRange(0, 9).Draw(rt, "no review") == 0
			plan.Phases[i].ReviseAlways = rapid.Bool().Draw(rt, "revise always")
		}
		plan.Phases[0].ReportSchema = json.RawMessage(anyReport)
		plan.Phases[1].Split.Review = rapid.SampledFrom([]string{"", "whole"}).Draw(rt, "review of parts")
		plan.Rules = []pipelines.Rule{{After: "plan", Then: pipelines.Then{Split: "code"}}}
		run := freshRun(plan)
		people := 6 // how often somebody steps in
		for moves := 0; ; moves++ {
			if moves > 2000 {
				rt.Fatalf("the run does not end: %s", show(Decide(On(plan, run))))
			}
			if run.Status == metadata.Completed {
				break
			}
			if run.Status != metadata.Running {
				if people == 0 {
					break
				}
				people--
				run = stepIn(rt, plan, run)
				continue
			}
			d := Decide(On(plan, run))
			promise(rt, plan, run, d)
			inOrder(rt, run, d)
			endsLast(rt, plan, run, d)
			was := run.Phase("plan").Status
			run = play(rt, plan, run, d, draw(rt, d, moves))
			if was != metadata.PhaseCompleted && run.Phase("plan").Status == metadata.PhaseCompleted && rapid.IntRange(0, 3).Draw(rt, "split") > 0 {
				next, _ := Fire(On(plan, run), 0, []byte("{}"), run.UpdatedAt)
				next.Revision++
				legal(rt, run, next)
				run = next
			}
			for _, rec := range run.Phases {
				if rec.Status == metadata.PhaseCompleted {
					phasestest.CheckCompleted(rt, plan, rec)
				}
			}
		}
	})
}

func draw(rt *rapid.T, d Decision, n int) Outcome {
	if d.Final() {
		return Outcome{}
	}
	switch rapid.IntRange(0, 9).Draw(rt, "kind") {
	case 0:
		return errored(rapid.SampledFrom([]metadata.Class{metadata.Crash, metadata.Auth, metadata.RateLimited, metadata.Missing, metadata.Network, metadata.StepTimeout, metadata.IdleTimeout}).Draw(rt, "class"))
	case 1:
		return Outcome{Status: metadata.Cut, Code: metadata.RunCancelled, Class: metadata.Signal, Why: "killed"}
	case 2:
		return without(metadata.Unsuccessful, metadata.NoProgress, "nothing")
	case 3:
		if d.Do == DoExecute || d.Do == DoRevise {
			return asksPerson()
		}
	}
	switch d.Do {
	case DoCheck:
		return checked(rapid.Bool().Draw(rt, "check passes"))
	case DoReview:
		o := judged(rapid.Bool().Draw(rt, "gate passes"))
		if rapid.Bool().Draw(rt, "finding") {
			f := blocker(fmt.Sprintf("F%d", rapid.IntRange(1, 3).Draw(rt, "id")))
			f.Severity = rapid.SampledFrom([]metadata.Severity{metadata.Blocker, metadata.Suggestion}).Draw(rt, "severity")
			f.Status = rapid.SampledFrom([]metadata.FindingStatus{metadata.NewFinding, metadata.StillOpen, metadata.Fixed}).Draw(rt, "status")
			o.Verdict.Findings = append(o.Verdict.Findings, f)
		}
		o.Work = fmt.Sprint(n)
		return o
	}
	if d.Do == DoIntegrate {
		return wrotten(fmt.Sprint("i", n))
	}
	o := wrotten(fmt.Sprint("w", n))
	if d.Phase == "plan" {
		o.Written.Report = drawTasks(rt)
	}
	switch rapid.IntRange(0, 9).Draw(rt, "rule") {
	case 0:
		return breaking(o, metadata.RuleProtected)
	case 1:
		return breaking(o, metadata.RuleAccess, metadata.RuleForm)
	case 2:
		return breaking(without(metadata.Unsuccessful, metadata.ChangeRefused, "too much"), metadata.RuleSize)
	}
	return o
}

// drawTasks is a report with some tasks, each of which may need others.
func drawTasks(rt *rapid.T) json.RawMessage {
	var tasks []map[string]any
	for i := range rapid.IntRange(0, 4).Draw(rt, "tasks") {
		var needs []string
		for j := range i {
			if rapid.IntRange(0, 2).Draw(rt, "needs") == 0 {
				needs = append(needs, fmt.Sprint("t", j))
			}
		}
		tasks = append(tasks, map[string]any{"id": fmt.Sprint("t", i), "title": "T", "goal": "G", "needs": needs})
	}
	if rapid.Bool().Draw(rt, "the other way round") {
		slices.Reverse(tasks)
	}
	data, err := json.Marshal(map[string]any{"tasks": tasks})
	if err != nil {
		rt.Fatalf("%v", err)
	}
	return data
}

// inOrder holds what is decided against the parts that there are: one begins when
// those that it needs are done or left out, and the whole when all are.
func inOrder(rt *rapid.T, run metadata.Run, d Decision) {
	rec := run.Phase(d.Phase)
	if rec == nil || d.Final() {
		return
	}
	for _, other := range PartsOf(&run, "code") {
		waits := rec.Name == "code" || rec.Name == "tell" || PartNeeds(&run, rec, other.Name)
		if waits && other.Status != metadata.PhaseCompleted {
			rt.Fatalf("%q is decided, and %s is %s", show(d), other.Name, other.Status)
		}
	}
	if len(PartsOf(&run, "code")) > 0 && d.Do == DoExecute && rec.Name == "code" {
		rt.Fatalf("an agent does the whole, which is done in parts")
	}
}

// endsLast holds that a run ends for a part that is halted only when no other part
// could begin.
func endsLast(rt *rapid.T, plan *pipelines.Pipeline, run metadata.Run, d Decision) {
	stops := func(d Decision) bool { return !haltsAlone(run.Phase(d.Phase), d) }
	if rec := run.Phase(d.Phase); !d.Final() || rec == nil || rec.Task == "" || slices.ContainsFunc(Halts(On(plan, run)), stops) || d.Code == metadata.BudgetExceeded {
		return
	}
	for _, other := range PartsOf(&run, "code") {
		waits := slices.ContainsFunc(PartsOf(&run, "code"), func(p *metadata.Phase) bool {
			return PartNeeds(&run, other, p.Name) && p.Status != metadata.PhaseCompleted
		})
		if other.Status == metadata.PhasePending && !waits {
			rt.Fatalf("%q is decided, and %s could begin", show(d), other.Name)
		}
	}
}

// stepIn is a person who starts the run again, retries, answers, or takes it back.
func stepIn(rt *rapid.T, plan *pipelines.Pipeline, run metadata.Run) metadata.Run {
	some := rapid.SampledFrom(run.Phases.Names()).Draw(rt, "some phase")
	switch rapid.IntRange(0, 5).Draw(rt, "person") {
	case 5:
		for _, q := range Questions(run) {
			next, err := Answer(run, q.ID, "REST", Command{At: run.UpdatedAt})
			if err != nil {
				rt.Fatalf("%s is open, and cannot be answered: %v", q.ID, err)
			}
			legal(rt, run, next)
			run = next
		}
		return run
	case 3:
		if next, err := Skip(On(plan, run), some, run.UpdatedAt); err == nil {
			next = Take(run, next, Command{Name: "skip", Phase: some, Why: "no need", At: run.UpdatedAt})
			legal(rt, run, next)
			return next
		}
		return run
	case 4:
		less := *plan
		less.Phases = slices.Delete(slices.Clone(plan.Phases), 1, 2)
		less.Rules = nil
		_, gone := Refresh(plan, &less, run, run.UpdatedAt)
		legal(rt, run, gone)
		_, back := Refresh(&less, plan, gone, run.UpdatedAt)
		legal(rt, gone, back)
		return back
	case 0:
		next := TakeUp(run, Start{At: run.UpdatedAt})
		legal(rt, run, next)
		return next
	case 1:
		if next, err := Retry(On(plan, run), "", Start{At: run.UpdatedAt}); err == nil {
			legal(rt, run, next)
			return next
		}
		return run
	}
	to := rapid.SampledFrom(run.Phases.Names()).Draw(rt, "to")
	step := rapid.SampledFrom([]metadata.Step{metadata.Execute, metadata.Review, metadata.Revise}).Draw(rt, "step")
	restore := rapid.Bool().Draw(rt, "restore")
	r, err := PlanRollback(On(plan, run), Rollback{To: to, Step: step, Restore: restore, Reason: "why", Trigger: metadata.Manual, At: run.UpdatedAt})
	if err != nil {
		return run
	}
	legal(rt, run, r.Run)
	if len(r.Run.RollbackHistory) != len(run.RollbackHistory)+1 {
		rt.Fatalf("the history did not grow")
	}
	d, target := Decide(On(plan, r.Run)), r.Run.Phase(to)
	whole := WholeOf(r.Run.Phase(d.Phase))
	before := run.Phase(to)
	again := before.RollbackContext != nil && indexOf(r.Run.Phases, d.Phase) < indexOf(r.Run.Phases, to) // a reason waits there already
	if notYet := before.Status == metadata.PhaseSkipped || again || whole != "" && whole == WholeOf(target); notYet && target.RollbackContext != nil {
		return r.Run // the run has not come to it yet, or another part is under way
	}
	if d.Phase != to && whole != to || r.Run.Phase(d.Phase).RollbackContext == nil {
		rt.Fatalf("after a rollback to %s decided %q: the reason would not arrive", to, show(d))
	}
	return r.Run
}

// promise holds a decision against what may come at all.
func promise(rt *rapid.T, plan *pipelines.Pipeline, run metadata.Run, d Decision) {
	if d != Decide(On(plan, run)) {
		rt.Fatalf("Decide is not a function")
	}
	phasestest.CheckDecided(rt, plan, run, phasestest.Decided{
		Phase: d.Phase, Revises: d.Do == DoRevise, Shown: show(d),
		Waits: d.Do == DoWait && d.Code == metadata.ChangeRefused,
	})
}
