package phases

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-ci/reprise/internal/phasestest"
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
		run := freshRun(plan)
		people := 6 // how often somebody steps in
		for moves := 0; ; moves++ {
			if moves > 2000 {
				rt.Fatalf("the run does not end: %s", show(Decide(plan, run)))
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
			d := Decide(plan, run)
			promise(rt, plan, run, d)
			run = play(rt, plan, run, d, draw(rt, d, moves))
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
		return Outcome{Status: metadata.Unsuccessful, Code: metadata.NoProgress, Why: "nothing"}
	}
	switch d.Do {
	case DoCheck:
		return checked(rapid.Bool().Draw(rt, "check passes"))
	case DoReview:
		o := verdict(rapid.Bool().Draw(rt, "gate passes"))
		if rapid.Bool().Draw(rt, "finding") {
			f := blocker(fmt.Sprintf("F%d", rapid.IntRange(1, 3).Draw(rt, "id")))
			f.Severity = rapid.SampledFrom([]metadata.Severity{metadata.Blocker, metadata.Suggestion}).Draw(rt, "severity")
			f.Status = rapid.SampledFrom([]metadata.FindingStatus{metadata.NewFinding, metadata.StillOpen, metadata.Fixed}).Draw(rt, "status")
			o.Verdict.Findings = append(o.Verdict.Findings, f)
		}
		o.Work = fmt.Sprint(n)
		return o
	}
	o := wrotten(fmt.Sprint("w", n))
	switch rapid.IntRange(0, 9).Draw(rt, "rule") {
	case 0:
		return breaking(o, metadata.RuleProtected)
	case 1:
		return breaking(o, metadata.RuleAccess, metadata.RuleForm)
	case 2:
		return breaking(Outcome{Status: metadata.Unsuccessful, Code: metadata.PatchTooLarge, Why: "too much"}, metadata.RuleSize)
	}
	return o
}

// stepIn is a person who starts the run again, retries, or takes it back.
func stepIn(rt *rapid.T, plan *pipelines.Pipeline, run metadata.Run) metadata.Run {
	switch rapid.IntRange(0, 2).Draw(rt, "person") {
	case 0:
		next := TakeUp(run, Start{At: run.UpdatedAt})
		legal(rt, run, next)
		return next
	case 1:
		if next, err := Retry(plan, run, "", Start{At: run.UpdatedAt}); err == nil {
			legal(rt, run, next)
			return next
		}
		return run
	}
	to := rapid.SampledFrom(phaseNames(run)).Draw(rt, "to")
	r, err := PlanRollback(plan, run, Rollback{To: to, Step: metadata.Revise, Reason: "why", Trigger: metadata.Manual, At: run.UpdatedAt})
	if err != nil {
		return run
	}
	legal(rt, run, r.Run)
	if len(r.Run.RollbackHistory) != len(run.RollbackHistory)+1 {
		rt.Fatalf("the history did not grow")
	}
	if d := Decide(plan, r.Run); d.Phase != to || r.Run.Phase(d.Phase).RollbackContext == nil {
		rt.Fatalf("after a rollback to %s decided %q: the reason would not arrive", to, show(d))
	}
	return r.Run
}

// promise holds a decision against what may come at all.
func promise(rt *rapid.T, plan *pipelines.Pipeline, run metadata.Run, d Decision) {
	if d != Decide(plan, run) {
		rt.Fatalf("Decide is not a function")
	}
	phasestest.CheckDecided(rt, plan, run, phasestest.Decided{
		Phase: d.Phase, Revises: d.Do == DoRevise, Shown: show(d),
		Waits: d.Do == DoWait && (d.Code == metadata.ProtectedPath || d.Code == metadata.PatchTooLarge),
	})
}
