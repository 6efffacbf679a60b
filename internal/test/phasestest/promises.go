package phasestest

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// CheckCompleted fails the test if a phase is completed without what that
// takes: a review and checks that pass.
func CheckCompleted(t Tester, plan *pipelines.Pipeline, rec metadata.Phase) {
	t.Helper()
	p := plan.Phase(rec.Name)
	if !p.NoReview && (rec.Verdict == nil || rec.Verdict.Verdict == metadata.Fail) {
		t.Fatalf("%s is completed without a passing verdict", rec.Name)
	}
	if len(p.Checks) > 0 && (rec.Checks == nil || rec.Checks.Written != rec.Written || rec.ChecksFail()) {
		t.Fatalf("%s is completed without passing checks", rec.Name)
	}
}

// Decided is what CheckDecided has to know of a decision.
type Decided struct {
	Phase   string
	Waits   bool // it waits for a person because of what agents changed
	Revises bool
	Shown   string // the decision for a person who reads the failure
}

// CheckDecided fails the test if a decision must not come after a record: one
// that lets an agent break a rule a third time, or that revises too often or
// without a cause.
func CheckDecided(t Tester, plan *pipelines.Pipeline, run metadata.Run, d Decided) {
	t.Helper()
	for _, rule := range []metadata.Rule{metadata.RuleAccess, metadata.RuleProtected, metadata.RuleForm, metadata.RuleSize} {
		if n := broken(run, d.Phase, rule); n > 2 || n == 2 && !d.Waits {
			t.Fatalf("%s was broken %d times, and then %q is decided", rule, n, d.Shown)
		}
	}
	if !d.Revises {
		return
	}
	rec := run.Phase(d.Phase)
	if rec.RetryCount > plan.Phase(d.Phase).Revisions {
		t.Fatalf("%s is revised more often than allowed", d.Phase)
	}
	rolledBack := rec.RollbackContext != nil
	reviewed := rec.Verdict != nil && rec.Verdict.Verdict != metadata.Pass
	if !rolledBack && !reviewed && !rec.ChecksFail() {
		t.Fatalf("%s is revised without a review or a rollback before it", d.Phase)
	}
}

// broken counts the writing steps that broke a rule since a person last gave
// the phase a fresh allowance.
func broken(run metadata.Run, phase string, rule metadata.Rule) int {
	n, rec := 0, run.Phase(phase)
	for _, a := range run.Attempts {
		if rec != nil && a.Phase == phase && a.Generation == rec.Generation && a.N > max(run.AllowanceFrom, rec.AllowanceFrom) && a.Step != metadata.Review &&
			slices.Contains(strings.Split(a.Broke, ","), string(rule)) {
			n++
		}
	}
	return n
}
