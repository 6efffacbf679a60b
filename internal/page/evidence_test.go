package page

import (
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Whoever reads a page is told what its statements on tests rest on.
func TestRanNothing(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	const said = "Reprise ran nothing by itself"
	for _, tt := range []struct {
		name   string
		phases []pipelines.Phase
		want   bool
	}{
		{"no check", []pipelines.Phase{{Name: "a", Access: pipelines.AccessArtifacts}, {Name: "b", Access: pipelines.AccessTree}}, true},
		{"a check", []pipelines.Phase{{Name: "b", Access: pipelines.AccessTree, Checks: []pipelines.Check{{Name: "unit"}}}, {Name: "c", Access: pipelines.AccessTree}}, false},
		{"nothing to check", []pipelines.Phase{{Name: "a", Access: pipelines.AccessArtifacts}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan := *p.Plan
			plan.Phases, plan.Spare = tt.phases, nil
			for page, text := range map[string]string{
				"comment": Comment(&plan, p.Run, Links{}), "draft": DraftBody(&plan, p.Run, PullFacts{}), "pull request": DoneBody(&plan, p.Run, nil, PullFacts{}),
			} {
				if got := strings.Contains(text, said); got != tt.want {
					t.Errorf("%s: says it is %v, want %v:\n%s", page, got, tt.want, text)
				}
			}
		})
	}
}

// A setup that fails has called nobody: its own words are all that there is to go by.
func TestSetupFailed(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	run := phases.SetUp(p.Run, []metadata.CheckResult{
		{Name: "deps", Run: "npm ci", ExitCode: 1, Output: "npm error one\nnpm error ```two\n"},
	}, time.Unix(0, 0))
	text := Comment(p.Plan, run, Links{})
	for _, want := range []string{"`npm ci`", "````\nnpm error one\nnpm error ```two\n````", "etup deps exited with 1: npm error", "comment `/retry`"} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q:\n%s", want, text)
		}
	}
	run.Status, run.Stop = metadata.Running, nil
	if text := Comment(p.Plan, run, Links{}); strings.Contains(text, "npm error") {
		t.Errorf("a setup that stops nothing any more is still shown:\n%s", text)
	}
}

// What was broken before the work is named to those who are to merge it.
func TestFailedBefore(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	const said = "Failed in the same way before anything was changed"
	for _, known := range []bool{false, true} {
		run := p.Run.Clone()
		run.Phases[0].Checks = &metadata.Checks{Written: run.Phases[0].Written, Results: []metadata.CheckResult{
			{Name: "fine", Pass: true},
			{Name: "old", ExitCode: 1, FailsBefore: known},
			{Name: "tests", ExitCode: 1, FailsBefore: known, FailedTests: []string{"TestOld", "TestOlder"}},
		}}
		for page, text := range map[string]string{
			"comment": Comment(p.Plan, run, Links{}), "draft": DraftBody(p.Plan, run, PullFacts{}), "pull request": DoneBody(p.Plan, run, nil, PullFacts{}),
		} {
			if got := strings.Contains(text, said+", and do not hold the work up: `old`, `tests` (`TestOld`, `TestOlder`)."); got != known {
				t.Errorf("%s: names it is %v, want %v:\n%s", page, got, known, text)
			}
		}
	}
}

// Whoever reads a page is told that a writer was cut off, until the work is another.
func TestTurnsUsedUp(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	const said = "The agent was cut off by its limit of turns in `"
	for _, cut := range []bool{false, true} {
		run := p.Run.Clone()
		if rec := run.Phases[0]; cut {
			run.Attempts[rec.Written-1].Why = metadata.Because("limit_reached", "limit", "turns")
		}
		for page, text := range map[string]string{
			"comment": Comment(p.Plan, run, Links{}), "draft": DraftBody(p.Plan, run, PullFacts{}), "pull request": DoneBody(p.Plan, run, nil, PullFacts{}),
		} {
			if got := strings.Contains(text, said+run.Phases[0].Name+"`, so"); got != cut {
				t.Errorf("%s: says it is %v, want %v:\n%s", page, got, cut, text)
			}
		}
	}
}

// Whoever reads a page is told that a model has reviewed its own work.
func TestOfOneMind(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	const said = "The same model of the same program writes and reviews in `implement`"
	for model, want := range map[string]bool{"opus": true, "sonnet": false} {
		plan := *p.Plan
		plan.Agents = map[string]pipelines.Agent{"one": {Use: "claude"}, "other": {Use: "claude"}}
		plan.Phases = []pipelines.Phase{{Name: "implement", Execute: pipelines.Step{Agent: "one", Model: "opus"}, Review: pipelines.Step{Agent: "other", Model: model}}}
		for page, text := range map[string]string{
			"comment": Comment(&plan, p.Run, Links{}), "draft": DraftBody(&plan, p.Run, PullFacts{}), "pull request": DoneBody(&plan, p.Run, nil, PullFacts{}),
			"/config": ConfigReply("", "en", &plan, ConfigFacts{}),
		} {
			if got := strings.Contains(text, said); got != want {
				t.Errorf("%s with %s: says it is %v, want %v:\n%s", page, model, got, want, text)
			}
		}
	}
}
