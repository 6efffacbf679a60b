package engine

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-ci/reprise/internal/test/phasestest"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// english puts a reason into words.
func english(r metadata.Reason) string { return r.In(prompts.Words("en")) }

// What both the decisions and the loop are tested with.
var (
	t0       = phasestest.Start
	testPlan = phasestest.Plan
	legal    = phasestest.CheckLegal
	blocker  = phasestest.Blocker
	asksFor  = phasestest.AskingFor
	titles   = phasestest.Titles
)

const anyReport = phasestest.AnyReport

func freshRun(plan *pipelines.Pipeline) metadata.Run {
	return phases.Fresh(plan, phasestest.Run(), t0)
}

func show(d phases.Decision) string {
	if d.Final() {
		return fmt.Sprintf("%s %s", d.Do, d.Code)
	}
	s := d.Phase + " " + string(d.Do)
	if d.Agent != "" {
		s += " " + d.Agent
	}
	if d.Resume > 0 {
		s += fmt.Sprintf(" resume %d", d.Resume)
	}
	if d.Again {
		s += " again"
	}
	if d.Delay > 0 {
		s += " after " + d.Delay.Round(time.Second).String()
	}
	return s
}

const own = ".reprise/issue-7/01_code/"

// promise holds a decision against what may come at all.
func promise(rt *rapid.T, plan *pipelines.Pipeline, run metadata.Run, d phases.Decision) {
	if d != phases.Decide(plan, run) {
		rt.Fatalf("Decide is not a function")
	}
	phasestest.CheckDecided(rt, plan, run, phasestest.Decided{
		Phase: d.Phase, Revises: d.Do == phases.DoRevise, Shown: show(d),
		Waits: d.Do == phases.DoWait && d.Code == metadata.ChangeRefused,
	})
}
