package main

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// resultOf gives the result of a run for programs, with the commands that take
// it further.
func resultOf(plan *pipelines.Pipeline, run metadata.Run) phases.Summary {
	s := phases.Summarize(plan, run)
	s.Next = wayOn(plan, run)
	return s
}

// historyOf gives the history of a run for programs, with dollars as Rounded
// gives them. What there is none of is an empty list.
func historyOf(run metadata.Run) map[string]any {
	cost := run.Cost
	cost.USD = phases.Rounded(cost.USD)
	attempts := slices.Clone(run.Attempts)
	for i := range attempts {
		attempts[i].Usage.USD = phases.Rounded(attempts[i].Usage.USD)
	}
	return map[string]any{
		"issue": run.IssueNumber, "pipeline": run.Pipeline, "status": run.Status, "cost": cost,
		"attempts": listed(attempts), "decisions": listed(run.Decisions), "rollbacks": listed(run.RollbackHistory),
		"questions": listed(run.Questions), "approvals": listed(run.Approvals), "tasks": listed(run.Tasks), "children": listed(run.Children),
	}
}

// listed gives a list that is [] in JSON where it has nothing, and never null.
func listed[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// printJSON prints one value for programs, over several lines.
func printJSON(w io.Writer, v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(inertJSON(text.Bytes()))
	return err
}
