package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
)

// Outline tells a pipeline to people in a line or a few a phase: who works, what is checked, who approves, and
// what a run may cost. Settings has all of it.
func Outline(plan *pipelines.Pipeline) string {
	plan = Whole(plan)
	var out strings.Builder
	line := func(format string, args ...any) {
		out.WriteString(text.Visible(text.Flat(fmt.Sprintf(format, args...))) + "\n")
	}
	if plan.Description != "" {
		line("%s", plan.Description)
	}
	for _, c := range plan.Setup {
		line("first: %s", c.Run)
	}
	for i, p := range slices.Concat(plan.Phases, plan.Spare) {
		number := text.If(i < len(plan.Phases), fmt.Sprint(i+1))
		line("%s %s: %s writes %s%s%s", cmp.Or(number, "+"), p.Name, doer(plan, p.Execute), p.Writes,
			text.If(p.Access == pipelines.AccessTree, " and changes files"), text.If(number == "", ", if a rule inserts it"))
		more := func(format string, args ...any) { out.WriteString("   "); line(format, args...) }
		var checks []string
		for _, c := range p.Checks {
			checks = append(checks, c.Name)
		}
		if len(checks) > 0 {
			more("checks: %s", strings.Join(checks, ", "))
		}
		if p.SkipIf != nil {
			more("left out if %s", p.SkipIf.When)
		}
		if p.Proves != "" {
			more("proof: %s", proofs[p.Proves])
		}
		if !p.NoReview {
			more("%s reviews%s; at most %s", doer(plan, p.Review), text.If(len(p.Gates) > 0, " against "+text.Plural(len(p.Gates), "gate")), text.Plural(p.Revisions, "revision"))
		}
		if p.Approve != "" {
			more("waits for approval by the role %s%s", p.Approve, text.If(p.Approvers > 1, fmt.Sprintf(", %d people", p.Approvers)))
		}
	}
	for _, r := range plan.Rules {
		line("after %s, when %s: %s", r.After, r.When, inYAML(r.Then))
	}
	line("budget: %s", inYAML(plan.Budget))
	return out.String()
}

var proofs = map[pipelines.Proof]string{
	pipelines.ProvesFix:  "a test of the change fails without it",
	pipelines.ProvesNew:  "a test of the change fails without it, or cannot run",
	pipelines.ProvesSame: "the tests from before the change pass",
}

// doer is the program of a step with its model.
func doer(plan *pipelines.Pipeline, s pipelines.Step) string {
	return State{Plan: plan}.Program(s.Agent) + text.If(s.Model != "", " ("+s.Model+")")
}
