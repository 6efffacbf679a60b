package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// findings are what stands against the work of phases that are not done.
// They are open to view where a person has to read them.
func (c commenter) findings() string {
	var items []string
	most := mostTelling // of the first check; the others have less room on a phone
	for _, r := range c.rows {
		if r.Rec.Status == metadata.PhaseCompleted || r.Rec.Status == metadata.PhaseSkipped {
			continue
		}
		for _, x := range failedChecks(r.Rec) {
			items = append(items, c.check(r.Rec.Name, x, most))
			most = 5
		}
		for _, f := range openFindings(r.Rec.Verdict) {
			items = append(items, c.finding(r.Rec.Name, f))
		}
		for _, g := range failedGates(r.Rec.Verdict) {
			title := "**" + c.more.Gate + "** " + inline(g.Gate, 300) + " (" + inline(r.Rec.Name, 60) + ")"
			items = append(items, item(title, brief(g.Why, 600)))
		}
	}
	if len(items) == 0 {
		return ""
	}
	return details(fmt.Sprintf("%s · %d", c.Findings, len(items)), c.within(20_000, items), c.run.Stop != nil)
}

// finding is an item of a list: the title and the place, then what is wrong
// and what would help.
func (c commenter) finding(phase string, f metadata.Finding) string {
	where := inline(phase, 60)
	if at := place(f); at != "" {
		where += ", " + code(brief(at, 200))
	}
	if f.Status == metadata.StillOpen {
		where += ", " + c.word(c.Changes, string(f.Status))
	}
	title := "**" + c.word(c.Severities, string(f.Severity)) + " " + inline(f.ID, 40) + "** " + inline(f.Title, 300) + " (" + where + ")"
	return item(title, brief(f.Problem, 800), prefixedText("→ ", brief(f.Solution, 800)))
}

// check is an item with what a failed check printed: of much the lines that
// say what failed, and where all of it is.
func (c commenter) check(phase string, x metadata.CheckResult, most int) string {
	title := "**" + c.more.Check + "** " + inline(x.Name, 80) + " (" + inline(phase, 60) + ", " + fmt.Sprintf(c.more.exit, x.ExitCode) + "): " + code(brief(x.Run, 200))
	lines, left := telling(x.Output, most)
	if len(lines) == 0 {
		return item(title)
	}
	out := item(title) + "\n\n" + indented(fenced(strings.Join(lines, "\n")), "  ")
	if left > 0 {
		out += "\n\n  " + fmt.Sprintf(c.more.moreLines, left, c.file(c.checksFile(phase)))
	}
	return out
}

// checksFile is the path of the file that has all that the checks of a phase
// printed.
func (c commenter) checksFile(phase string) string {
	return path.Join(phases.Folder(c.run.IssueNumber), rowOf(c.rows, phase).Folder, phases.ChecksFile)
}

// suggestions are what passing reviews had to say.
func (c commenter) suggestions() string {
	var items []string
	for _, r := range c.rows {
		if r.Rec.Status != metadata.PhaseCompleted {
			continue
		}
		for _, f := range openFindings(r.Rec.Verdict) {
			items = append(items, c.finding(r.Rec.Name, f))
		}
	}
	if len(items) == 0 {
		return ""
	}
	return details(fmt.Sprintf("%s · %d", c.more.Suggestions, len(items)), c.within(6_000, items), false)
}

// rollbacks is the history of rollbacks, the newest first.
func (c commenter) rollbacks() string {
	var items []string
	for _, e := range slices.Backward(c.run.RollbackHistory) {
		items = append(items, item(e.Timestamp.UTC().Format("2006-01-02 15:04 UTC")+" · "+c.back(e), brief(e.Reason, 600)))
		if len(items) == 100 {
			break // as many as there is ever room for
		}
	}
	if len(items) == 0 {
		return ""
	}
	return details(fmt.Sprintf("%s · %d", c.Rollbacks, len(c.run.RollbackHistory)), c.within(10_000, items), false)
}

// machine is the state for programs that read the comment.
func (c commenter) machine() string {
	const most = 60
	s := state{
		Schema: 1, Issue: brief(c.run.IssueNumber, 100), Revision: c.run.Revision, Status: c.run.Status, Pipeline: brief(c.run.Pipeline.Name, 100),
		Phase: brief(c.now.Phase, 100), Step: string(c.now.Step()), Agent: brief(c.now.Agent, 100), Branch: brief(c.run.BranchName, 200), PullRequest: c.run.PRNumber,
		USD: cents(c.run.Cost.USD), BudgetUSD: c.run.Budget.USD, Tokens: allTokens(c.run.Cost), Attempts: phases.SpentOf(c.run).Attempts,
		Rollbacks: len(c.run.RollbackHistory), Updated: c.run.UpdatedAt.UTC().Truncate(time.Second),
	}
	if c.run.Stop != nil {
		s.Code = c.run.Stop.Code
	}
	for _, r := range c.rows[:min(len(c.rows), most)] {
		s.Phases = append(s.Phases, phaseState{
			brief(r.Rec.Name, 100), r.Rec.Status, r.Rec.CurrentStep, r.round(), r.Attempts, cents(r.USD), brief(r.Rec.ReviewResult, 40),
		})
	}
	data, err := json.Marshal(s)
	if err != nil {
		return "" // a time or an amount that JSON cannot hold
	}
	return details("JSON", "```json\n"+string(data)+"\n```", false)
}

// cents drops the digits that adding up leaves behind a hundredth of a cent.
func cents(usd float64) float64 { return math.Round(usd*1e4) / 1e4 }

// state is the machine-readable part of a comment.
type state struct {
	Schema      int             `json:"schema"`
	Issue       string          `json:"issue"`
	Revision    int             `json:"revision"`
	Status      metadata.Status `json:"status"`
	Code        metadata.Code   `json:"reason_code,omitempty"`
	Pipeline    string          `json:"pipeline"`
	Phase       string          `json:"phase"`
	Step        string          `json:"step,omitempty"`
	Agent       string          `json:"agent,omitempty"`
	Branch      string          `json:"branch"`
	PullRequest int             `json:"pull_request,omitzero"`
	USD         float64         `json:"cost_usd"`
	BudgetUSD   float64         `json:"budget_usd,omitzero"`
	Tokens      int64           `json:"tokens"`
	Attempts    int             `json:"attempts"`
	Rollbacks   int             `json:"rollbacks"`
	Updated     time.Time       `json:"updated_at"`
	Phases      []phaseState    `json:"phases"`
}

type phaseState struct {
	Name     string               `json:"name"`
	Status   metadata.PhaseStatus `json:"status"`
	Step     metadata.Step        `json:"step,omitempty"`
	Round    int                  `json:"round,omitzero"`
	Attempts int                  `json:"attempts,omitzero"`
	USD      float64              `json:"cost_usd,omitzero"`
	Verdict  string               `json:"verdict,omitempty"`
}
