package view

import (
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// SummaryState is where a run stands: what its result has besides what was done. Long
// texts are cut, and long lists too, as the result may be the output of a job;
// the record has them whole.
type SummaryState struct {
	Phases    []SummaryPhase    `json:"phases"` // also those that have not begun
	Budget    Budget            `json:"budget"`
	Questions []SummaryQuestion `json:"questions"`          // open ones
	Approval  *ApprovalWanted   `json:"approval,omitempty"` // that the run waits for
	Approvals []Approval        `json:"approvals"`
	Tasks     []Task            `json:"tasks"`
	Rollbacks []SummaryRollback `json:"rollbacks"` // the newest, in their order; Totals counts all
}

// SummaryPhase is where a phase stands, and what is open against its work.
type SummaryPhase struct {
	Name       string               `json:"name"`
	Status     metadata.PhaseStatus `json:"status"`
	Step       metadata.Step        `json:"step,omitempty"` // to do next
	Round      int                  `json:"round"`          // of review, counts from 1; 0 before it begins
	Calls      int                  `json:"calls"`          // of agents
	USD        float64              `json:"cost_usd"`
	DurationMS int64                `json:"duration_ms"`
	Findings   []Finding            `json:"findings,omitempty"`
	Gates      []metadata.Gate      `json:"failed_gates,omitempty"`
	Checks     []SummaryCheck       `json:"failed_checks,omitempty"`
	Violations []Reverted           `json:"violations,omitempty"` // changes that were taken back
	Halt       *Halt                `json:"halt,omitempty"`       // of a part that does not go on
	Waits      string               `json:"waits,omitempty"`      // what a part that has not begun waits for, in English
}

// Reverted is a change that was taken back.
type Reverted struct {
	Path    string          `json:"path"`
	Rule    string          `json:"rule"`    // what it broke, in English
	Because metadata.Reason `json:"because"` // the same as the record has it
}

// AllReverted gives the changes that violations were.
func AllReverted(all []metadata.Violation, words metadata.Words) []Reverted {
	var out []Reverted
	for _, v := range all {
		out = append(out, Reverted{v.Path, v.Rule.In(words), v.Rule})
	}
	return out
}

// Finding is a finding that is not fixed.
type Finding struct {
	ID       string                 `json:"id"`
	Severity metadata.Severity      `json:"severity"`
	Status   metadata.FindingStatus `json:"status"`
	Title    string                 `json:"title"`
	Problem  string                 `json:"problem,omitempty"`
	Solution string                 `json:"solution,omitempty"`
	File     string                 `json:"file,omitempty"`
	Line     int                    `json:"line,omitzero"`
}

// Budget has the limits of a run; one that is not there does not limit.
type Budget struct {
	USD        float64        `json:"usd,omitzero"`
	Tokens     int64          `json:"tokens,omitzero"`
	Seconds    int            `json:"seconds,omitzero"`
	Attempts   int            `json:"attempts,omitzero"`
	IssueUSD   float64        `json:"issue_usd,omitzero"`   // over all runs of the issue
	EarlierUSD float64        `json:"earlier_usd,omitzero"` // spent of that by runs before this one
	Used       metadata.Spent `json:"used"`                 // since a person last said that the run goes on
}

// Halt is why a part of a phase does not go on until somebody does something about
// it. Other parts may.
type Halt struct {
	Code metadata.Code `json:"code"`
	Why  string        `json:"why"` // in English
}

// SummaryQuestion is a question that nobody has answered.
type SummaryQuestion struct {
	ID      string    `json:"id"`
	Phase   string    `json:"phase"`
	Text    string    `json:"question"`
	Options []string  `json:"options"`
	AskedAt time.Time `json:"asked_at"`
}

// ApprovalWanted is what a person has to approve.
type ApprovalWanted struct {
	Phase string `json:"phase"`
	Role  string `json:"role"` // that the person has at least
	Why   string `json:"why"`  // in English
}

// Approval is what a person has approved.
type Approval struct {
	Phase  string    `json:"phase"`
	By     string    `json:"by,omitempty"`
	At     time.Time `json:"at"`
	Stands bool      `json:"stands"` // the phase has not changed since
}

// Task is a part of the work that a phase has found.
type Task struct {
	ID    string   `json:"id"`
	Phase string   `json:"phase"`
	Title string   `json:"title"`
	Needs []string `json:"needs"`
}

// SummaryRollback is one time that the run was taken back.
type SummaryRollback struct {
	At        time.Time        `json:"at"`
	FromPhase string           `json:"from_phase"`
	FromStep  metadata.Step    `json:"from_step,omitempty"`
	ToPhase   string           `json:"to_phase"`
	ToStep    metadata.Step    `json:"to_step"`
	Reason    string           `json:"reason"`
	Trigger   metadata.Trigger `json:"triggered_by"`
	By        string           `json:"by,omitempty"`
}

// The most that a state has of a list, and of a text in Unicode code points.
const (
	mostListed   = 50
	mostReturned = 10 // rollbacks
	mostText     = 500
)

func stateOf(plan *pipelines.Pipeline, run metadata.Run, words metadata.Words) *SummaryState {
	s := &SummaryState{
		Phases: phasesOf(plan, run, words), Budget: limitsOf(run),
		Questions: []SummaryQuestion{}, Approvals: []Approval{}, Tasks: []Task{}, Rollbacks: []SummaryRollback{},
	}
	for _, q := range head(phases.Questions(run), mostListed) {
		s.Questions = append(s.Questions, SummaryQuestion{q.ID, q.Phase, q.Text, append([]string{}, q.Options...), q.AskedAt})
	}
	if phase, role, why, ok := phases.Approval(plan, run); ok {
		s.Approval = &ApprovalWanted{phase, role, why.In(words)}
	}
	for _, a := range tail(run.Approvals, mostListed) {
		s.Approvals = append(s.Approvals, Approval{a.Phase, a.By, a.At, phases.Stands(run, a)})
	}
	for _, t := range head(run.Tasks, mostListed) {
		s.Tasks = append(s.Tasks, Task{t.ID, t.Phase, phases.CutText(t.Title, mostText), append([]string{}, t.Needs...)})
	}
	for _, r := range tail(run.RollbackHistory, mostReturned) {
		s.Rollbacks = append(s.Rollbacks, SummaryRollback{
			r.Timestamp, r.FromPhase, r.FromStep, r.ToPhase, r.ToStep, phases.CutText(r.Reason, 2*mostText), r.TriggeredBy, r.By,
		})
	}
	return s
}

func limitsOf(run metadata.Run) Budget {
	b, s := run.Budget, phases.SpentOf(run)
	return Budget{
		USD: b.USD, Tokens: b.Tokens, Seconds: b.Seconds, Attempts: b.Attempts, IssueUSD: b.IssueUSD, EarlierUSD: b.EarlierUSD,
		Used: metadata.Spent{
			USD: metadata.Rounded(s.USD - b.Since.USD), Tokens: s.Tokens - b.Since.Tokens,
			Seconds: s.Seconds - b.Since.Seconds, Attempts: s.Attempts - b.Since.Attempts,
		},
	}
}

// phasesOf gives the phases of the record, then those that only the plan knows.
func phasesOf(plan *pipelines.Pipeline, run metadata.Run, words metadata.Words) []SummaryPhase {
	out := []SummaryPhase{}
	for _, rec := range run.Phases {
		s := phaseOf(run, rec, words)
		s.Waits = phases.WhyLaneWaits(plan, run, &rec).In(words)
		out = append(out, s)
	}
	for _, p := range plan.Phases {
		if run.Phase(p.Name) == nil {
			out = append(out, SummaryPhase{Name: p.Name, Status: metadata.PhasePending})
		}
	}
	for _, d := range phases.Halts(plan, run) {
		i := slices.IndexFunc(out, func(p SummaryPhase) bool { return p.Name == d.Phase })
		out[i].Halt = &Halt{d.Code, phases.CutText(d.Why.In(words), mostText)}
	}
	return out
}

func phaseOf(run metadata.Run, rec metadata.Phase, words metadata.Words) SummaryPhase {
	s := SummaryPhase{Name: rec.Name, Status: rec.Status, Step: rec.CurrentStep, Round: rec.Round}
	if rec.Status == metadata.PhaseInProgress {
		s.Round++
	}
	for _, a := range run.Attempts {
		if a.Phase != rec.Name {
			continue
		}
		if phases.IsCall(a) {
			s.Calls++
		}
		s.USD += a.Usage.USD
		s.DurationMS += a.DurationMS
	}
	s.USD = metadata.Rounded(s.USD)
	if rec.Status == metadata.PhaseCompleted || rec.Status == metadata.PhaseSkipped {
		return s // what its review has suggested is not open any more
	}
	for _, f := range head(slices.Concat(rec.Verdict.OpenBlockers(), rec.Verdict.OpenSuggestions()), mostListed) {
		s.Findings = append(s.Findings, Finding{
			f.ID, f.Severity, f.Status, phases.CutText(f.Title, mostText), phases.CutText(f.Problem, mostText), phases.CutText(f.Solution, mostText), f.File, f.Line,
		})
	}
	for _, g := range head(rec.Verdict.FailedGates(), mostListed) {
		g.Why = phases.CutText(g.Why, mostText)
		s.Gates = append(s.Gates, g)
	}
	if rec.ChecksFail() {
		for _, c := range rec.Checks.Results {
			if !c.Pass {
				s.Checks = append(s.Checks, SummaryCheck{c.Name, c.Pass, c.ExitCode})
			}
		}
	}
	s.Violations = AllReverted(rec.Violations, words)
	return s
}

// head gives the first n of a list, or all that there are.
func head[T any](all []T, n int) []T { return all[:min(len(all), n)] }

// tail gives the last n of a list, or all that there are.
func tail[T any](all []T, n int) []T { return all[max(len(all)-n, 0):] }
