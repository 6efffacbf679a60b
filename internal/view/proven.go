package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Proof is what is known of the newest work of a phase by more than the word of its writer.
type Proof struct {
	Phase    string                 `json:"phase"`
	Title    string                 `json:"-"`
	Checks   []metadata.CheckResult `json:"checks"`              // without what they printed
	OwnSetup bool                   `json:"own_setup,omitempty"` // see metadata.Checks
	Verdict  metadata.Ruling        `json:"verdict,omitempty"`   // of the reviewer, whatever the checks say; empty: nobody has reviewed that work
	Reviewer string                 `json:"reviewer,omitempty"`  // program and model
	Unbound  bool                   `json:"unbound,omitempty"`   // only the reviewer's program knows whether its model said so
	Gates    []metadata.Gate        `json:"failed_gates,omitempty"`
	Late     []metadata.Finding     `json:"late_findings,omitempty"` // blockers that came late, and do not count
}

// Proven gives what was proven of the phases of a run. Those of which nothing was are left out.
func (s State) Proven() (all []Proof) {
	for _, r := range s.Rows {
		p, rec := Proof{Phase: r.Rec.Name, Title: r.Title, Checks: []metadata.CheckResult{}}, r.Rec
		if rec.Checks != nil && rec.Checks.Written == rec.Written {
			p.Checks, p.OwnSetup = slices.Clone(rec.Checks.Results), rec.Checks.OwnSetup
		}
		for i := range p.Checks {
			p.Checks[i].Output = ""
		}
		if rec.Verdict != nil && slices.Contains(rec.CompletedSteps, metadata.Review) {
			p.Verdict, p.Unbound, p.Gates, p.Late = rec.Verdict.Own(), rec.Verdict.Unbound, rec.Verdict.FailedGates(), rec.Verdict.Open(metadata.Late)
		}
		for _, a := range s.Run.Attempts {
			if p.Verdict != "" && a.Phase == p.Phase && a.Step == metadata.Review && a.Status == metadata.Succeeded {
				p.Reviewer = WithModel(s.Program(a.Agent), text.If(a.Model != s.Program(a.Agent), a.Model))
			}
		}
		if rec.Status != metadata.PhasePending && (len(p.Checks) > 0 || p.Verdict != "") {
			all = append(all, p)
		}
	}
	return all
}

// Program is the program of an agent, which more people know than its name in the pipeline. A program of the
// repository's own has that name alone.
func (s State) Program(agent string) string {
	return cmp.Or(text.If(!pipelines.TakesCommand(s.Plan.Agents[agent].Use), s.Plan.Agents[agent].Use), agent)
}

// WithModel is an agent, or its program, with the model that it asks.
func WithModel(agent, model string) string {
	return text.Join(" ", agent, text.If(model != "", "("+model+")"))
}

// Line is what was proven of a phase, on one line: "vet ✓ · test ✓ (38) · review ✓ codex".
func (p Proof) Line(c prompts.Catalogue) string {
	var all []string
	for _, k := range p.Checks {
		all = append(all, CheckLine(c, k))
	}
	if p.OwnSetup {
		all = append(all, c.Shown("proven setup"))
	}
	if p.Verdict != "" {
		said := text.Join(" ", c.Word("steps", string(metadata.Review)), text.If(p.Verdict == metadata.Fail, "✗"), text.If(p.Verdict != metadata.Fail, "✓"), p.Reviewer, text.If(p.Unbound, c.Shown("proven unbound")))
		for _, g := range p.Gates {
			said += ": " + c.Logged("gate", "gate", g.Gate)
		}
		all = append(all, said)
		for _, f := range p.Late {
			all = append(all, text.Join(" ", c.Word("severities", metadata.Late), f.ID, f.Title))
		}
	}
	return text.Flat(strings.Join(all, " · "))
}

// CheckLine is how a check ended, in a few words.
func CheckLine(c prompts.Catalogue, k metadata.CheckResult) string {
	sign := "✗ " + c.Shown("page exit", "code", k.ExitCode)
	switch {
	case k.Flaky:
		sign = "✓ " + c.Shown("proven flaky")
	case k.Pass && len(k.FailedTests) > 0:
		sign = "✓ " + c.Shown("proven lost")
	case k.Pass && k.Failed > 0: // as where its command is the end of a pipe
		sign = "✓ " + c.Shown("proven says failed", "n", k.Failed)
	case k.Pass:
		sign = "✓"
	case k.FailsBefore:
		sign = "– " + c.Shown("proven red")
	}
	failed := strings.Join(k.FailedTests[:min(3, len(k.FailedTests))], ", ") + text.If(len(k.FailedTests) > 3, ", …")
	return text.Join(" ", k.Name, sign, text.If(k.Ran > 0, fmt.Sprintf("(%d)", k.Ran)), text.If(failed != "", "["+failed+"]"))
}
