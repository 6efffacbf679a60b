package command

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// standing is a run as it may stand when somebody gives a command.
type standing struct {
	name string
	busy bool // this process works on it
	run  metadata.Run
}

// standings are all the ways in which a run can stand. Its plan has a design
// that a maintainer has to approve, and code after it.
func standings(t *testing.T) (*pipelines.Pipeline, []standing) {
	t.Helper()
	plan := &pipelines.Pipeline{Name: "p", Language: "en", Agents: map[string]pipelines.Agent{"a": {Use: agents.Rehearsal}}}
	step := pipelines.Step{Agent: "a"}
	for i, name := range []string{"design", "code"} {
		plan.Phases = append(plan.Phases, pipelines.Phase{
			Name: name, Folder: fmt.Sprintf("%02d_%s", i, name), Writes: name + ".md", Revisions: 3, Execute: step, Review: step, Revise: step,
			ReportSchema: []byte(`{"properties": {"questions": {}}}`),
		})
	}
	plan.Phases[0].Approve, plan.Phases[1].Needs = "maintain", []string{"design"}
	begun := phases.Fresh(phases.On(plan, metadata.Run{
		IssueNumber: "7", BranchName: "reprise/issue-7", BaseCommit: strings.Repeat("a", 40), Language: "en", WorkflowVersion: "1",
		Pipeline:  metadata.Pipeline{Name: "p", Digest: "sha256:" + strings.Repeat("0", 64), Definition: "sha256:" + strings.Repeat("1", 64), Source: "builtin:p"},
		Execution: metadata.Execution{ID: "run-1"},
	}), progresstest.Nine)
	end := progresstest.Nine.Add(time.Minute)
	did := func(phase string, s metadata.Step, code metadata.Code, status metadata.AttemptStatus) metadata.Attempt {
		return metadata.Attempt{N: 1, Phase: phase, Step: s, Agent: "a", Status: status, Code: code, StartedAt: progresstest.Nine, EndedAt: &end}
	}
	change := func(from metadata.Run, change func(r *metadata.Run, design, code *metadata.Phase)) metadata.Run {
		r := from.Clone()
		change(&r, r.Phase("design"), r.Phase("code"))
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		return r
	}
	stop := func(r *metadata.Run, status metadata.Status, code metadata.Code, phase string) {
		r.Status, r.Stop = status, &metadata.Stop{Code: code, Why: "it stopped", Phase: phase, At: end}
	}
	writing := change(begun, func(r *metadata.Run, design, _ *metadata.Phase) {
		r.Attempts = []metadata.Attempt{did("design", metadata.Execute, "", metadata.Succeeded)}
		design.Status, design.CurrentStep, design.StartedAt, design.Written, design.Digest = metadata.PhaseInProgress, metadata.Review, &progresstest.Nine, 1, "0a"
	})
	designed := change(writing, func(_ *metadata.Run, design, _ *metadata.Phase) {
		design.Status, design.CurrentStep, design.CompletedAt = metadata.PhaseCompleted, "", &end
	})
	approved := change(designed, func(r *metadata.Run, _, code *metadata.Phase) {
		r.Approvals = []metadata.Approval{{Phase: "design", Attempt: 1, Digest: "0a", By: "max", At: end}}
		code.Status, code.CurrentStep, code.StartedAt = metadata.PhaseInProgress, metadata.Execute, &end
		r.CurrentPhase = "code"
	})
	all := []standing{
		{"running in this job", true, writing},
		{"running, its job is gone", false, writing},
		{"interrupted", false, change(writing, func(r *metadata.Run, _, _ *metadata.Phase) {
			stop(r, metadata.Interrupted, metadata.RunCancelled, "design")
		})},
		{"paused", false, change(writing, func(r *metadata.Run, _, _ *metadata.Phase) {
			stop(r, metadata.Waiting, metadata.AwaitingPerson, "design")
		})},
		{"waiting for approval", false, change(designed, func(r *metadata.Run, _, _ *metadata.Phase) {
			stop(r, metadata.Waiting, metadata.AwaitingPerson, "design")
		})},
		{"waiting for an answer", false, change(writing, func(r *metadata.Run, _, _ *metadata.Phase) {
			r.Questions = []metadata.Question{{ID: "q1", Phase: "design", Attempt: 1, Text: "REST?", AskedAt: end}}
			stop(r, metadata.Waiting, metadata.AwaitingPerson, "design")
		})},
		{"stuck", false, change(approved, func(r *metadata.Run, _, _ *metadata.Phase) { stop(r, metadata.Waiting, metadata.Stuck, "code") })},
		{"at its budget", false, change(approved, func(r *metadata.Run, _, _ *metadata.Phase) {
			r.Budget.USD, r.Cost.USD = 1, 1
			stop(r, metadata.Waiting, metadata.BudgetExceeded, "code")
		})},
		{"failed", false, change(approved, func(r *metadata.Run, _, code *metadata.Phase) {
			code.Status, code.CurrentStep = metadata.PhaseFailed, ""
			stop(r, metadata.Failed, metadata.ReviewFailed, "code")
		})},
		{"completed", false, change(approved, func(r *metadata.Run, _, code *metadata.Phase) {
			code.Status, code.CurrentStep, code.CompletedAt = metadata.PhaseCompleted, "", &end
			r.Status = metadata.Completed
		})},
		{"waiting for CI", false, change(approved, func(r *metadata.Run, _, code *metadata.Phase) {
			code.Status, code.CurrentStep, code.CompletedAt, r.CI = metadata.PhaseCompleted, "", &end, &metadata.CI{}
			stop(r, metadata.Waiting, metadata.AwaitingCI, "code")
		})},
		{"failed at CI", false, change(approved, func(r *metadata.Run, _, code *metadata.Phase) {
			code.Status, code.CurrentStep, code.CompletedAt, r.CI = metadata.PhaseCompleted, "", &end, &metadata.CI{}
			stop(r, metadata.Failed, metadata.CIFailed, "code")
		})},
		{"cancelled", false, change(approved, func(r *metadata.Run, _, _ *metadata.Phase) {
			stop(r, metadata.Cancelled, metadata.RunCancelled, "code")
		})},
	}
	return plan, all
}

// asking are the commands of the table, as somebody gives them.
func asking() []string {
	return []string{
		"/run", "/run --more usd=5", "/rollback design because", "/rollback --auto", "/rollback --auto it is slow", "/retry", "/update", "/pause", "/cancel", "/approve",
		"/answer yes", "/skip code because", "/finish", "/finish --squash",
	}
}

// outcome says what a command does to a run, or why it does nothing.
func outcome(t *testing.T, plan *pipelines.Pipeline, s standing, text string) string {
	t.Helper()
	asked := Parse(text, false)
	if asked.Outcome != Understood {
		t.Fatalf("%q is no command: %+v", text, asked)
	}
	o := Request{Command: asked.Command, By: "max", Comment: 12, At: progresstest.Nine.Add(time.Hour)}
	x, err := o.Apply(phases.On(plan, s.run), s.busy)
	var no *Refusal
	switch {
	case errors.As(err, &no):
		return fmt.Sprintf("no, `%s`: %s", no.Code, err)
	case err != nil:
		t.Fatal(err)
	}
	next := phases.Take(s.run, x.Run, phases.Command{Name: o.Name, By: o.By, Comment: o.Comment, Phase: x.Phase, Why: x.Why, At: o.At})
	if err := errors.Join(next.Check(), metadata.CheckNext(s.run, next)); err != nil {
		t.Errorf("%s, %s: %v", s.name, text, err)
	}
	if !phases.Taken(next, 12) {
		t.Errorf("%s, %s: it was not taken", s.name, text)
	}
	if next.Status == metadata.Running {
		return x.Why.In(prompts.Words("en")) + "; next: " + decided(phases.Decide(phases.On(plan, next)))
	}
	return x.Why.In(prompts.Words("en")) + "; the run is " + string(next.Status)
}

// decided is a decision as one line of the page.
func decided(d phases.Decision) string {
	return text.Join(": ", text.Join(" ", string(d.Do), d.Phase), d.Why.In(prompts.Words("en")))
}

// TestStatesPage makes the page of the reference: each cell of its tables is what came of that command.
func TestStatesPage(t *testing.T) {
	plan, all := standings(t)
	var b strings.Builder
	b.WriteString("# What a command does\n\n" +
		"Each [command](../commands.md) was given to a run in each state. The run has two phases: `design`, which a maintainer has\n" +
		"to approve, and `code`, which needs it. `a` is the agent that reviews, and `max` gives the commands. \"No\" means that the\n" +
		"command is refused for that [reason](reason-codes.md).\n")
	for _, s := range all {
		fmt.Fprintf(&b, "\n## %s\n\n| command | what happens |\n|---|---|\n", text.Capitalize(s.name))
		for _, text := range asking() {
			fmt.Fprintf(&b, "| `%s` | %s |\n", text, strings.ReplaceAll(outcome(t, plan, s, text), "|", "\\|"))
		}
	}
	progresstest.Golden(t, "../../../docs/reference/states.md", b.String())
}

// Each command of the table that changes a run has a row in the page.
func TestStatesPageHasEveryCommand(t *testing.T) {
	shown := strings.Join(asking(), "\n") + "\n"
	for _, s := range Table() {
		if !s.Now && !strings.Contains(shown, "/"+s.Name+" ") && !strings.Contains(shown, "/"+s.Name+"\n") {
			t.Errorf("/%s has no row", s.Name)
		}
	}
}
