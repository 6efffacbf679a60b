package phases

import (
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// State is where a run stands: what its result has besides what was done. Long
// texts are cut, and long lists too, as the result may be the output of a job;
// the record has them whole.
type State struct {
	Phases    []PhaseSummary    `json:"phases"` // also those that have not begun
	Budget    BudgetSummary     `json:"budget"`
	Questions []QuestionSummary `json:"questions"`          // open ones
	Approval  *ApprovalWanted   `json:"approval,omitempty"` // that the run waits for
	Approvals []ApprovalSummary `json:"approvals"`
	Tasks     []TaskSummary     `json:"tasks"`
	Rollbacks []RollbackSummary `json:"rollbacks"` // the newest, in their order; Totals counts all
}

// PhaseSummary is where a phase stands, and what is open against its work.
type PhaseSummary struct {
	Name       string               `json:"name"`
	Status     metadata.PhaseStatus `json:"status"`
	Step       metadata.Step        `json:"step,omitempty"` // to do next
	Round      int                  `json:"round"`          // of review, counts from 1; 0 before it begins
	Calls      int                  `json:"calls"`          // of agents
	USD        float64              `json:"cost_usd"`
	DurationMS int64                `json:"duration_ms"`
	Findings   []FindingSummary     `json:"findings,omitempty"`
	Gates      []metadata.Gate      `json:"failed_gates,omitempty"`
	Checks     []CheckSummary       `json:"failed_checks,omitempty"`
	Violations []Reverted           `json:"violations,omitempty"` // changes that were taken back
}

// Reverted is a change that was taken back.
type Reverted struct {
	Path    string          `json:"path"`
	Rule    string          `json:"rule"`    // what it broke, in English
	Because metadata.Reason `json:"because"` // the same as the record has it
}

// AllReverted gives the changes that violations were.
func AllReverted(all []metadata.Violation) []Reverted {
	var out []Reverted
	for _, v := range all {
		out = append(out, Reverted{v.Path, Say("en", v.Rule), v.Rule})
	}
	return out
}

// FindingSummary is a finding that is not fixed.
type FindingSummary struct {
	ID       string                 `json:"id"`
	Severity metadata.Severity      `json:"severity"`
	Status   metadata.FindingStatus `json:"status"`
	Title    string                 `json:"title"`
	Problem  string                 `json:"problem,omitempty"`
	Solution string                 `json:"solution,omitempty"`
	File     string                 `json:"file,omitempty"`
	Line     int                    `json:"line,omitzero"`
}

// BudgetSummary has the limits of a run; one that is not there does not limit.
type BudgetSummary struct {
	USD      float64        `json:"usd,omitzero"`
	Tokens   int64          `json:"tokens,omitzero"`
	Seconds  int            `json:"seconds,omitzero"`
	Attempts int            `json:"attempts,omitzero"`
	IssueUSD float64        `json:"issue_usd,omitzero"` // over the whole life of the run
	Used     metadata.Spent `json:"used"`               // since a person last said that the run goes on
}

// QuestionSummary is a question that nobody has answered.
type QuestionSummary struct {
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

// ApprovalSummary is what a person has approved.
type ApprovalSummary struct {
	Phase  string    `json:"phase"`
	By     string    `json:"by,omitempty"`
	At     time.Time `json:"at"`
	Stands bool      `json:"stands"` // the phase has not changed since
}

// TaskSummary is a part of the work that a phase has found.
type TaskSummary struct {
	ID    string   `json:"id"`
	Phase string   `json:"phase"`
	Title string   `json:"title"`
	Needs []string `json:"needs"`
}

// RollbackSummary is one time that the run was taken back.
type RollbackSummary struct {
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

// At gives the phase that a run is at: where it stopped, what it works on, or
// what comes next.
func At(plan *pipelines.Pipeline, run metadata.Run) string {
	at := ""
	switch {
	case run.Status != metadata.Running:
		if run.Stop != nil {
			at = run.Stop.Phase
		}
	case underWay(run):
		at = run.Attempts[len(run.Attempts)-1].Phase
	default:
		at = Decide(plan, run).Phase
	}
	if at == "" {
		at = run.CurrentPhase
	}
	return at
}

// underWay reports whether the newest attempt has no end yet.
func underWay(run metadata.Run) bool {
	n := len(run.Attempts)
	return n > 0 && run.Attempts[n-1].Status == metadata.Started
}

func stateOf(plan *pipelines.Pipeline, run metadata.Run) *State {
	s := &State{
		Phases: phasesOf(plan, run), Budget: limitsOf(run),
		Questions: []QuestionSummary{}, Approvals: []ApprovalSummary{}, Tasks: []TaskSummary{}, Rollbacks: []RollbackSummary{},
	}
	for _, q := range head(Questions(run), mostListed) {
		s.Questions = append(s.Questions, QuestionSummary{q.ID, q.Phase, q.Text, append([]string{}, q.Options...), q.AskedAt})
	}
	if phase, role, why, ok := Approval(plan, run); ok {
		s.Approval = &ApprovalWanted{phase, role, Say("en", why)}
	}
	for _, a := range tail(run.Approvals, mostListed) {
		s.Approvals = append(s.Approvals, ApprovalSummary{a.Phase, a.By, a.At, Stands(run, a)})
	}
	for _, t := range head(run.Tasks, mostListed) {
		s.Tasks = append(s.Tasks, TaskSummary{t.ID, t.Phase, limit(t.Title, mostText), append([]string{}, t.Needs...)})
	}
	for _, r := range tail(run.RollbackHistory, mostReturned) {
		s.Rollbacks = append(s.Rollbacks, RollbackSummary{
			r.Timestamp, r.FromPhase, r.FromStep, r.ToPhase, r.ToStep, limit(r.Reason, 2*mostText), r.TriggeredBy, r.By,
		})
	}
	return s
}

func limitsOf(run metadata.Run) BudgetSummary {
	b, s := run.Budget, SpentOf(run)
	return BudgetSummary{
		USD: b.USD, Tokens: b.Tokens, Seconds: b.Seconds, Attempts: b.Attempts, IssueUSD: b.IssueUSD,
		Used: metadata.Spent{
			USD: Rounded(s.USD - b.Since.USD), Tokens: s.Tokens - b.Since.Tokens,
			Seconds: s.Seconds - b.Since.Seconds, Attempts: s.Attempts - b.Since.Attempts,
		},
	}
}

// phasesOf gives the phases of the record, then those that only the plan knows.
func phasesOf(plan *pipelines.Pipeline, run metadata.Run) []PhaseSummary {
	out := []PhaseSummary{}
	for _, rec := range run.Phases {
		out = append(out, phaseOf(run, rec))
	}
	for _, p := range plan.Phases {
		if run.Phase(p.Name) == nil {
			out = append(out, PhaseSummary{Name: p.Name, Status: metadata.PhasePending})
		}
	}
	return out
}

func phaseOf(run metadata.Run, rec metadata.Phase) PhaseSummary {
	s := PhaseSummary{Name: rec.Name, Status: rec.Status, Step: rec.CurrentStep, Round: rec.Round}
	if rec.Status == metadata.PhaseInProgress {
		s.Round++
	}
	for _, a := range run.Attempts {
		if a.Phase != rec.Name {
			continue
		}
		if a.Step != metadata.Check {
			s.Calls++
		}
		s.USD += a.Usage.USD
		s.DurationMS += a.DurationMS
	}
	s.USD = Rounded(s.USD)
	if rec.Status == metadata.PhaseCompleted || rec.Status == metadata.PhaseSkipped {
		return s // what its review has suggested is not open any more
	}
	for _, f := range head(slices.Concat(openBlockers(rec.Verdict), suggestions(rec.Verdict)), mostListed) {
		s.Findings = append(s.Findings, FindingSummary{
			f.ID, f.Severity, f.Status, limit(f.Title, mostText), limit(f.Problem, mostText), limit(f.Solution, mostText), f.File, f.Line,
		})
	}
	for _, g := range head(failedGates(rec.Verdict), mostListed) {
		g.Why = limit(g.Why, mostText)
		s.Gates = append(s.Gates, g)
	}
	if checkFails(&rec) {
		for _, c := range rec.Checks.Results {
			if !c.Pass {
				s.Checks = append(s.Checks, CheckSummary{c.Name, c.Pass, c.ExitCode})
			}
		}
	}
	s.Violations = AllReverted(rec.Violations)
	return s
}

// head gives the first n of a list, or all that there are.
func head[T any](all []T, n int) []T { return all[:min(len(all), n)] }
