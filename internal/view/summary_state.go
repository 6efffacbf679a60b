package view

import (
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// SummaryState is where a run stands: what its result has besides what was done, as the
// record has it.
type SummaryState struct {
	Phases    []SummaryPhase      `json:"phases"` // also those that have not begun
	Budget    Budget              `json:"budget"`
	Questions []metadata.Question `json:"questions"`          // open ones
	Approval  *ApprovalWanted     `json:"approval,omitempty"` // that the run waits for
	Approvals []Approval          `json:"approvals"`
	Tasks     []metadata.Task     `json:"tasks"`
	Rollbacks []metadata.Rollback `json:"rollbacks"`
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
	Verdict    string               `json:"verdict,omitempty"` // of the newest review
	Findings   []metadata.Finding   `json:"findings,omitempty"`
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

// Budget has the limits of a run, of which 0 is none.
type Budget struct {
	metadata.Budget
	Used metadata.Spent `json:"used"` // since a person last said that the run goes on
}

// Halt is why a part of a phase does not go on until somebody does something about
// it. Other parts may.
type Halt struct {
	Code metadata.Code `json:"code"`
	Why  string        `json:"why"` // in English
}

// ApprovalWanted is what a person has to approve.
type ApprovalWanted struct {
	Phase string `json:"phase"`
	Role  string `json:"role"` // that the person has at least
	Why   string `json:"why"`  // in English
}

// Approval is what a person has approved.
type Approval struct {
	metadata.Approval
	Stands bool `json:"stands"` // the phase has not changed since
}

func (s State) summary(words metadata.Words) *SummaryState {
	spent, since := phases.SpentOf(s.Run), s.Run.Budget.Since
	used := metadata.Spent{USD: metadata.Rounded(spent.USD - since.USD), Tokens: spent.Tokens - since.Tokens, Seconds: spent.Seconds - since.Seconds, Attempts: spent.Attempts - since.Attempts}
	out := &SummaryState{
		s.phases(words),
		Budget{s.Run.Budget, used},
		append([]metadata.Question{}, phases.Questions(s.Run)...), nil,
		[]Approval{},
		append([]metadata.Task{}, s.Run.Tasks...), append([]metadata.Rollback{}, s.Run.RollbackHistory...),
	}
	if phase, role, why, ok := phases.Approval(s.Plan, s.Run); ok {
		out.Approval = &ApprovalWanted{phase, role, why.In(words)}
	}
	for _, a := range s.Run.Approvals {
		out.Approvals = append(out.Approvals, Approval{a, phases.Stands(s.Run, a)})
	}
	return out
}

func (s State) phases(words metadata.Words) []SummaryPhase {
	out, halts := []SummaryPhase{}, map[string]*Halt{}
	for _, d := range phases.Halts(s.Plan, s.Run) {
		halts[d.Phase] = &Halt{d.Code, d.Why.In(words)}
	}
	for _, r := range s.Rows {
		out = append(out, SummaryPhase{
			r.Rec.Name, r.Rec.Status, r.Rec.CurrentStep, r.Round(), r.Attempts, metadata.Rounded(r.USD), r.Took.Milliseconds(), r.Rec.ReviewResult,
			r.Findings, r.Gates, checksOf(r.Checks), AllReverted(r.Violations, words), halts[r.Rec.Name], r.Waits.In(words),
		})
	}
	return out
}

// checksOf says how checks ended.
func checksOf(all []metadata.CheckResult) (out []SummaryCheck) {
	for _, c := range all {
		out = append(out, SummaryCheck{c.Name, c.Pass, c.ExitCode})
	}
	return out
}
