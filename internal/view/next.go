package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// ExitCode gives the exit code for how a run ended.
func ExitCode(run metadata.Run) int {
	switch {
	case run.Stop != nil && run.Stop.Code == metadata.BudgetExceeded:
		return exit.Budget
	case run.Status == metadata.Completed, phases.LeftToTasks(run):
		return exit.Done
	case run.Status == metadata.Failed:
		return exit.Failed
	case run.Status == metadata.Cancelled, run.Status == metadata.Interrupted:
		return exit.Cancelled
	}
	return exit.Waiting
}

// needsOf gives for each phase the phases right before it. What follows from others is left out, and a phase that names
// no need follows the one before it.
func needsOf(plan *pipelines.Pipeline) map[string][]string {
	before := map[string][]string{}
	reach := map[string]map[string]bool{} // everything that comes before a phase
	for i, p := range plan.Phases {
		var needs []string
		for _, n := range p.Needs {
			if _, known := reach[n]; known && !slices.Contains(needs, n) {
				needs = append(needs, n)
			}
		}
		if len(needs) == 0 && i > 0 {
			needs = []string{plan.Phases[i-1].Name}
		}
		all := map[string]bool{}
		for _, n := range needs {
			all[n] = true
			maps.Copy(all, reach[n])
		}
		reach[p.Name] = all
		before[p.Name] = slices.DeleteFunc(slices.Clone(needs), func(n string) bool {
			return slices.ContainsFunc(needs, func(m string) bool { return m != n && reach[m][n] })
		})
	}
	return before
}

// asksPeople gives the commands that answer what a run waits for: a question or an
// approval.
func asksPeople(c phases.Course) (lines []string) {
	id := text.Flat(c.Run.IssueNumber)
	for _, q := range phases.Questions(c.Run) {
		lines = append(lines, fmt.Sprintf("reprise answer --issue %s --question %s --text TEXT", id, text.Flat(q.ID)))
	}
	if all := phases.Approvals(c); len(all) > 0 {
		for _, name := range all {
			lines = append(lines, "reprise approve --issue "+id+text.If(len(all) > 1, " --phase "+text.Flat(name)))
		}
		if back, ok := phases.Proposed(c); ok {
			lines = append(lines, fmt.Sprintf("reprise rollback --issue %s --to-phase %s --to-step %s --reason=%s", id, text.Flat(back.To), back.Step, text.QuoteShell(text.Flat(back.Reason))))
		}
		for _, name := range all {
			lines = append(lines, fmt.Sprintf("reprise rollback --issue %s --to-phase %s --reason TEXT", id, text.Flat(name)))
		}
	}
	return lines
}

// NextCommands gives the commands that take a run further, or that it waits for, the likeliest first. For a completed
// run there are none, unless only some of its phases were asked for.
func NextCommands(c phases.Course) []string {
	switch {
	case c.Run.Stop != nil:
		return toStop(c)
	case phases.LeftToTasks(c.Run):
		var tasks []string
		for _, part := range phases.PartsOfWave(c) {
			tasks = append(tasks, "reprise task --issue "+text.Flat(c.Run.IssueNumber)+" "+part)
		}
		return append(tasks, "reprise join --issue "+text.Flat(c.Run.IssueNumber))
	case c.Run.Status == metadata.Completed && Whole(c.Plan).Part.Phases() != "":
		name := c.Run.Pipeline.Name
		if !strings.HasPrefix(c.Run.Pipeline.Source, "builtin:") && !strings.HasPrefix(c.Run.Pipeline.Source, ".github/reprise/") {
			name = "FILE"
		}
		return []string{"reprise run --issue " + text.Flat(c.Run.IssueNumber) + " --refresh --pipeline " + text.Flat(name)}
	case c.Run.Status == metadata.Completed:
		return nil
	}
	if d := doing(c); d.Do == phases.DoWait && d.Code == metadata.AwaitingPerson {
		c.Run.Stop = &metadata.Stop{Code: d.Code, Phase: d.Phase}
		return toStop(c)
	}
	return []string{"reprise run --issue " + text.Flat(c.Run.IssueNumber)}
}

// EndCommands gives the commands for a completed run that nothing takes further.
func EndCommands(run metadata.Run) []string {
	of := " --issue " + text.Flat(run.IssueNumber)
	return []string{"reprise diff" + of, "reprise finish" + of + " --squash", "reprise rollback" + of + " --to-phase PHASE --reason TEXT"}
}

// Cautions says of a run that has stopped before its end what its commands do not.
func Cautions(run metadata.Run) (all []string) {
	c := prompts.Words(run.Language)
	if BrokenSetup(run) != nil {
		all = append(all, c.Shown("change setup", "file", run.Pipeline.Source))
	}
	if run.Status != metadata.Completed {
		all = append(all, c.Shown("not to merge", "folder", phases.Folder(run.IssueNumber)))
	}
	return all
}

// toStop gives the commands that help a stopped run, the likeliest first.
func toStop(c phases.Course) []string {
	id, phase := text.Flat(c.Run.IssueNumber), cmp.Or(text.Flat(c.Run.Stop.Phase), "PHASE")
	again := "reprise run --issue " + id
	retry := "reprise retry --issue " + id
	back := "reprise rollback --issue " + id + " --to-phase " + phase + " --reason TEXT"
	if lines := asksPeople(c); len(lines) > 0 && c.Run.Stop.Code == metadata.AwaitingPerson {
		return lines
	}
	switch {
	case phases.GivenUp(c.Run) != "":
		return []string{back}
	case c.Run.Stop.Why.Code() == "approval_needed": // by a pipeline that is not known
		return []string{"reprise approve --issue " + id, back}
	}
	switch c.Run.Stop.Code {
	case metadata.BudgetExceeded:
		if phases.OfDay(c.Run.Stop) {
			return []string{again}
		}
		return []string{again + " " + phases.LimitOf(c.Run).Flag()}
	case metadata.Stuck, metadata.ReviewFailed, metadata.CheckFailed, metadata.Conflicts:
		return []string{back, retry}
	case metadata.NoProgress, metadata.OutputInvalid:
		return []string{"reprise answer --issue " + id + " --text TEXT", retry, back}
	case metadata.ChangeRefused, metadata.SecretFound:
		return []string{retry, back}
	case metadata.SetupFailed:
		return []string{again, again + " --refresh"}
	}
	return []string{again}
}

// UpdateCommand merges what the base has got since into the branch of a run.
func UpdateCommand(run metadata.Run) string {
	return "reprise update --issue " + text.Flat(run.IssueNumber)
}

// Colour is the status whose colour a phase has: one that waits for a person has that of
// those at work.
func (r Row) Colour() metadata.PhaseStatus {
	if r.Approval {
		return metadata.PhaseInProgress
	}
	return r.Rec.Status
}

// Sign is that of the phase; one that waits for a person has a sign of its own.
func (r Row) Sign() string {
	if r.Approval {
		return "?"
	}
	return Sign(r.Rec.Status)
}

// Standing is where a phase stands, in the words that a record has for it; of one that
// waits for a person, that it waits.
func (r Row) Standing() string {
	if r.Approval {
		return string(metadata.Waiting)
	}
	return string(r.Rec.Status)
}

// Sign is a sign for where a phase stands, one cell wide.
func Sign(s metadata.PhaseStatus) string {
	return cmp.Or(map[metadata.PhaseStatus]string{metadata.PhaseCompleted: "✓", metadata.PhaseInProgress: "▸", metadata.PhaseFailed: "✗", metadata.PhaseSkipped: "–"}[s], "·")
}
