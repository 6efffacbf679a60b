package runs

import (
	"slices"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// History gives the history of a run for programs, with dollars as Rounded gives them.
func History(run metadata.Run) map[string]any {
	cost := run.Cost
	cost.USD = metadata.Rounded(cost.USD)
	attempts := slices.Clone(run.Attempts)
	for i := range attempts {
		attempts[i].Usage.USD = metadata.Rounded(attempts[i].Usage.USD)
	}
	return map[string]any{
		"issue": run.IssueNumber, "pipeline": run.Pipeline, "status": run.Status, "cost": cost,
		"attempts": text.List(attempts), "decisions": text.List(run.Decisions), "rollbacks": text.List(run.RollbackHistory),
		"questions": text.List(run.Questions), "approvals": text.List(run.Approvals), "tasks": text.List(run.Tasks), "children": text.List(run.Children),
	}
}
