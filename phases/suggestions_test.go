package phases

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// TestRevisesForSuggestions says when a phase with revise: always is revised although its review
// has passed. Each word is a step and its outcome; the phase has a check.
func TestRevisesForSuggestions(t *testing.T) {
	tests := map[string]struct {
		steps string
		as    func(*pipelines.Phase)
	}{
		"once":                                      {steps: "execute review:suggestion revise review:suggestion"},
		"not if there are none":                     {steps: "execute review:pass"},
		"not if all are done":                       {steps: "execute review:suggestion revise review:pass"},
		"not by default":                            {"execute review:suggestion", func(p *pipelines.Phase) { p.ReviseAlways = false }},
		"after a review that failed":                {steps: "execute review:fail revise review:suggestion revise review:suggestion"},
		"after two that failed":                     {steps: "execute review:fail revise review:fail revise review:suggestion revise review:suggestion"},
		"after a check that failed":                 {steps: "execute-broken review:suggestion revise review:suggestion revise review:suggestion"},
		"once, also with a fail after it":           {steps: "execute review:suggestion revise review:fail revise review:suggestion"},
		"once, also with a failing check after it":  {steps: "execute review:suggestion revise-broken review:suggestion revise review:suggestion"},
		"once, also after a retry":                  {steps: "execute review:suggestion revise review:fail revise review:fail revise review:fail retry revise review:suggestion"},
		"not with the last revise spent":            {"execute review:fail revise review:suggestion", func(p *pipelines.Phase) { p.Revisions = 1 }},
		"not without revises":                       {"execute review:suggestion", func(p *pipelines.Phase) { p.Revisions = 0 }},
		"with the last revise":                      {"execute review:fail revise review:suggestion revise review:suggestion", func(p *pipelines.Phase) { p.Revisions = 2 }},
		"not if that would be a circle":             {steps: "execute-as=1 review:fail revise-as=2 review:fail revise-as=1 review:suggestion"},
		"again where the phase was taken back":      {steps: "execute review:suggestion revise review:suggestion back revise review:suggestion revise review:suggestion"},
		"again where somebody has edited the work":  {steps: "execute review:suggestion revise review:suggestion edit review:suggestion revise review:suggestion"},
		"when a revise that was cut is done":        {steps: "execute review:suggestion cut revise review:suggestion"},
		"once, also if that revise was interrupted": {steps: "execute review:fail revise review:suggestion cut revise review:suggestion"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			plan := testPlan()
			plan.Phases = plan.Phases[1:2]
			p := &plan.Phases[0]
			p.ReviseAlways = true
			if tt.as != nil {
				tt.as(p)
			}
			run, n, broken := freshRun(plan), 0, false
			for i, word := range strings.Fields(tt.steps) {
				n++
				switch word {
				case "retry":
					run = plays(t, plan, run, Outcome{}) // it fails
					run = retried(t, plan, run)
					continue
				case "back":
					r := goneBack(t, plan, run, "code", metadata.Revise, "why")
					run = r.Run
					continue
				case "edit":
					run = Changed(run, "code", "by hand", run.UpdatedAt)
					continue
				case "cut":
					run = plays(t, plan, run, without(metadata.Cut, metadata.RunCancelled, "told to stop"))
					run = TakeUp(run, Start{At: run.UpdatedAt})
					continue
				}
				d := Decide(On(plan, run))
				if d.Do == DoCheck {
					run = play(t, plan, run, d, checked(!broken))
					d = Decide(On(plan, run))
				}
				step, how, _ := strings.Cut(word, ":")
				step, as, _ := strings.Cut(step, "-")
				if string(d.Do) != step {
					t.Fatalf("word %d: decided %q (%s), want %s", i+1, show(d), english(d.Why), word)
				}
				o := wrotten(fmt.Sprint(n))
				switch {
				case step != "review":
					broken = as == "broken"
				case how == "suggestion":
					s := blocker("S1")
					s.Severity = metadata.Suggestion
					o = judged(true, s)
				default:
					o = judged(how == "pass", slices.Repeat([]metadata.Finding{blocker(fmt.Sprint("F", n))}, map[bool]int{false: 1}[how == "pass"])...)
				}
				if step == "review" {
					o.Work = run.Phase("code").Digest
				} else if work, ok := strings.CutPrefix(as, "as="); ok {
					o.Written.Digest = work
				}
				run = play(t, plan, run, d, o)
			}
			if rec := run.Phase("code"); rec.Status != metadata.PhaseCompleted || show(Decide(On(plan, run))) != "finish completed" {
				t.Errorf("the phase is %s, and %q is decided", rec.Status, show(Decide(On(plan, run))))
			}
		})
	}
}

// What is told of such a revise is that it is for suggestions.
func TestWhyItIsRevisedForSuggestions(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].ReviseAlways = true
	run := toRevise(t, plan)
	run = plays(t, plan, run, wrotten("p2"))
	s := blocker("S1")
	s.Severity = metadata.Suggestion
	run = plays(t, plan, run, judged(true, s))
	if d := Decide(On(plan, run)); show(d) != "plan revise writer resume 3" || english(d.Why) != "the pipeline acts on suggestions once" {
		t.Errorf("decided %q: %s", show(d), english(d.Why))
	}
}

// retried is a run that has failed, after a person has said /retry.
func retried(t *testing.T, plan *pipelines.Pipeline, run metadata.Run) metadata.Run {
	t.Helper()
	next, err := Retry(On(plan, run), "", Start{At: run.UpdatedAt})
	testenv.Must(t, err)
	legal(t, run, next)
	return next
}
