package view

import (
	"cmp"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// Summary is the result of a run as one JSON value. It is there however the
// run ended.
type Summary struct {
	Status        string        `json:"status"`                // success, partial_success, failed, waiting, cancelled, or running
	Code          metadata.Code `json:"reason_code,omitempty"` // why it stopped
	Issue         string        `json:"issue"`
	Title         string        `json:"title,omitempty"`
	Pipeline      string        `json:"pipeline"`
	Branch        string        `json:"branch"`
	Head          string        `json:"head_sha,omitempty"`        // newest commit of the branch
	Base          string        `json:"base,omitempty"`            // how it stands to its base, in words; empty: it has all of it, or nobody looked
	Near          string        `json:"same_files,omitempty"`      // which open runs of other issues change the same files, in words; empty: none, or nobody looked
	Phase         string        `json:"phase"`                     // where the run stopped, what it works on, or what comes next
	Counts        *Counts       `json:"partial_success,omitempty"` // of a run that is not done
	Steps         []SummaryStep `json:"steps"`
	Totals        Totals        `json:"totals"`
	Start         time.Time     `json:"start"`
	End           time.Time     `json:"end"`
	Error         string        `json:"error,omitempty"` // that ended the job, if there was one
	*SummaryState               // all fields of that; none if there is no record of the run, or if the output of a job would have more than 500,000 bytes
	// Next are the commands that take the run further, the likeliest first, on a command line; the output of a job has none.
	Next []string `json:"next,omitempty"`
}

// Counts says how far a run got.
type Counts struct {
	Completed int `json:"completed"` // phases
	Total     int `json:"total"`
}

// SummaryStep is one step of one phase, all its attempts together.
type SummaryStep struct {
	Phase string        `json:"phase"`
	Step  metadata.Step `json:"step"`
	// Status is success, failed, retried, skipped, waiting for an answer of
	// people, or running. A check is what the commands came to: they all passed,
	// or it failed. It says whether the step was done, not what it found.
	Status string `json:"status"`
	// Verdict is what the newest review, or the checks of the newest work, said
	// of the work: pass, pass_with_suggestions or fail. A review that was done is
	// a success also where its verdict is fail. Empty for other steps, and
	// before there is one.
	Verdict    metadata.Ruling        `json:"verdict,omitempty"`
	Attempts   int                    `json:"attempts"`
	Retries    int                    `json:"retry_count"`      // attempts that failed
	Output     string                 `json:"output,omitempty"` // the artifact, or the verdict
	Usage      metadata.Usage         `json:"usage"`
	DurationMS int64                  `json:"duration_ms"`
	Error      string                 `json:"error,omitempty"`  // why it failed
	Checks     []metadata.CheckResult `json:"checks,omitempty"` // of the check
}

// Totals sums up a run.
type Totals struct {
	metadata.Cost
	Unpriced   int   `json:"unpriced_calls,omitempty"` // calls that are not in the sum, as nobody knows what they cost
	Attempts   int   `json:"attempts"`                 // calls of agents
	Revises    int   `json:"revises"`                  // revisions that were written
	Rollbacks  int   `json:"rollbacks"`
	DurationMS int64 `json:"duration_ms"` // of agents and checks
	// TookMS is how long they have been at work, where what was done at the same time
	// counts once; 0: all was done one after another.
	TookMS int64 `json:"took_ms,omitzero"`
}

// english are the words for programs.
func english() metadata.Words { return prompts.Words("en") }

// Result gives the result of a run. Words are English: programs read it.
func Result(c phases.Course) Summary {
	state := StateOf(c)
	s := Summary{
		Status: cmp.Or(map[metadata.Status]string{
			metadata.Completed: "success", metadata.Failed: "failed", metadata.Cancelled: "cancelled", metadata.Interrupted: "cancelled", metadata.Running: "running",
		}[c.Run.Status], "waiting"),
		Issue: c.Run.IssueNumber, Title: c.Run.IssueTitle, Pipeline: c.Plan.Name, Branch: c.Run.BranchName,
		Phase: phases.At(c), Steps: []SummaryStep{}, Start: c.Run.CreatedAt, End: c.Run.UpdatedAt,
		SummaryState: state.summary(), Code: state.Code(), Next: NextCommands(c), Totals: Totals{Cost: c.Run.Cost, Unpriced: DollarsOf(c.Run).Unpriced, Attempts: phases.SpentOf(c.Run).Attempts, Rollbacks: len(c.Run.RollbackHistory)},
	}
	if c.Run.Stop != nil {
		s.Error = c.Run.Stop.Why.In(english())
	}
	s.Totals.USD = metadata.Rounded(s.Totals.USD)
	took, _ := phases.TimeTogether(c.Run)
	s.Totals.TookMS = took.Milliseconds()
	done := 0
	for _, rec := range c.Run.Phases {
		done += text.Count(rec.Status == metadata.PhaseCompleted)
		s.Steps = append(s.Steps, stepsOf(c.Run, rec)...)
	}
	if s.Status == "failed" && done > 0 {
		s.Status = "partial_success"
	}
	if s.Status != "success" {
		s.Counts = &Counts{Completed: done, Total: len(c.Run.Phases)}
	}
	for _, a := range c.Run.Attempts {
		s.Totals.DurationMS += a.DurationMS
		s.Totals.Revises += text.Count(a.Step == metadata.Revise && a.Status == metadata.Succeeded)
	}
	return s
}

func stepsOf(run metadata.Run, rec metadata.Phase) (out []SummaryStep) {
	if rec.Status == metadata.PhaseSkipped {
		return []SummaryStep{{Phase: rec.Name, Step: metadata.Execute, Status: "skipped"}}
	}
	for _, step := range []metadata.Step{metadata.Execute, metadata.Check, metadata.Review, metadata.Revise} {
		s := SummaryStep{Phase: rec.Name, Step: step}
		for _, a := range run.Attempts {
			if a.Phase == rec.Name && a.Step == step {
				s.add(a)
			}
		}
		if s.Attempts == 0 {
			continue
		}
		if s.Status == "success" && s.Retries > 0 {
			s.Status = "retried"
		}
		switch {
		case step == metadata.Check:
			s.checked(rec)
		case step == metadata.Review:
			s.Output, s.Verdict = rec.ReviewResult, metadata.Ruling(rec.ReviewResult)
		case len(rec.OutputFiles) > 0:
			s.Output = rec.OutputFiles[0]
		}
		s.Usage.USD = metadata.Rounded(s.Usage.USD)
		out = append(out, s)
	}
	return out
}

// add takes the next attempt in. One that asked people something, or is still
// at work, has not failed; checks that ran and did not pass have.
func (s *SummaryStep) add(a metadata.Attempt) {
	s.Attempts++
	s.DurationMS += a.DurationMS
	s.Usage = s.Usage.Plus(a.Usage)
	s.Status, s.Error = "success", ""
	switch {
	case a.Status == metadata.Started:
		s.Status = "running"
	case a.Status == metadata.Blocked && a.Code == metadata.AwaitingPerson:
		s.Status = "waiting"
	case a.Status != metadata.Succeeded:
		s.Retries++
		s.Status, s.Error = "failed", a.Why.In(english())
	case a.Step == metadata.Check && a.Why != "" && a.Verdict != metadata.Pass:
		s.Status, s.Error = "failed", a.Why.In(english())
	}
}

// checked names the checks of the newest work, and all that failed.
func (s *SummaryStep) checked(rec metadata.Phase) {
	if rec.Checks == nil || rec.Checks.Written != rec.Written {
		return
	}
	s.Checks = rec.Checks.Results
	if len(rec.Checks.Results) > 0 {
		s.Verdict = phases.RulingOf(rec.Checks.Results)
	}
	if wrong := phases.WhyChecksFailed(rec.Checks.Results); wrong != "" && s.Status != "running" {
		s.Status, s.Error = "failed", wrong.In(english())
	}
}

// SummaryState is where a run stands: what its result has besides what was done, as the
// record has it.
type SummaryState struct {
	Phases    []SummaryPhase      `json:"phases"` // also those that have not begun
	Proven    []Proof             `json:"proven"` // of the phases of which something was
	Budget    Budget              `json:"budget"`
	Questions []metadata.Question `json:"questions"`          // open ones
	Approval  *ApprovalWanted     `json:"approval,omitempty"` // that the run waits for
	Approvals []Approval          `json:"approvals"`          // those of the record
	Tasks     []metadata.Task     `json:"tasks"`              // those of the record
	Rollbacks []metadata.Rollback `json:"rollbacks"`          // those of the record
}

// SummaryPhase is where a phase stands, and what is open against its work.
type SummaryPhase struct {
	Name       string                 `json:"name"`
	Status     metadata.PhaseStatus   `json:"status"`
	Step       metadata.Step          `json:"step,omitempty"` // to do next
	Round      int                    `json:"round"`          // of review, counts from 1; 0 before it begins
	Calls      int                    `json:"calls"`          // of agents
	USD        float64                `json:"cost_usd"`
	Unpriced   int                    `json:"unpriced_calls,omitempty"` // that are not in it
	DurationMS int64                  `json:"duration_ms"`
	Verdict    string                 `json:"verdict,omitempty"`  // of the newest review
	Findings   []metadata.Finding     `json:"findings,omitempty"` // open ones
	Gates      []metadata.Gate        `json:"failed_gates,omitempty"`
	Checks     []metadata.CheckResult `json:"failed_checks,omitempty"`
	Violations []Reverted             `json:"violations,omitempty"` // changes that were taken back
	Halt       *Halt                  `json:"halt,omitempty"`       // of a part that does not go on
	Waits      string                 `json:"waits,omitempty"`      // what a part that has not begun waits for, in English
}

// Reverted is a change that was taken back.
type Reverted struct {
	Path    string          `json:"path"`
	Rule    string          `json:"rule"`    // what it broke, in English
	Because metadata.Reason `json:"because"` // the same as the record has it
}

// AllReverted gives the changes that violations were.
func AllReverted(all []metadata.Violation) (out []Reverted) {
	for _, v := range all {
		out = append(out, Reverted{v.Path, v.Rule.In(english()), v.Rule})
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

// Wanted gives what a person has to approve before the run goes on, or nil.
func Wanted(c phases.Course) *ApprovalWanted {
	phase, role, why, ok := phases.Approval(c, "")
	if !ok {
		return nil
	}
	return &ApprovalWanted{phase, role, why.In(english())}
}

// Approval is what a person has approved.
type Approval struct {
	metadata.Approval
	Stands bool `json:"stands"` // the phase has not changed since
}

func (s State) summary() *SummaryState {
	spent, since := phases.SpentOf(s.Run), s.Run.Budget.Since
	used := metadata.Spent{USD: metadata.Rounded(spent.USD - since.USD), Tokens: spent.Tokens - since.Tokens, Seconds: spent.Seconds - since.Seconds, Attempts: spent.Attempts - since.Attempts}
	out := &SummaryState{
		s.phases(), append([]Proof{}, s.Proven()...),
		Budget{s.Run.Budget, used},
		append([]metadata.Question{}, phases.Questions(s.Run)...), Wanted(s.Course),
		[]Approval{},
		append([]metadata.Task{}, s.Run.Tasks...), append([]metadata.Rollback{}, s.Run.RollbackHistory...),
	}
	for _, a := range s.Run.Approvals {
		out.Approvals = append(out.Approvals, Approval{a, phases.Stands(s.Run, a)})
	}
	return out
}

func (s State) phases() []SummaryPhase {
	out, halts := []SummaryPhase{}, map[string]*Halt{}
	for _, d := range phases.Halts(s.Course) {
		halts[d.Phase] = &Halt{d.Code, d.Why.In(english())}
	}
	for _, r := range s.Rows {
		out = append(out, SummaryPhase{
			r.Rec.Name, r.Rec.Status, r.Rec.CurrentStep, r.Round(), r.Attempts, r.USD, r.Unpriced, r.Took.Milliseconds(), r.Rec.ReviewResult,
			r.Findings, r.Gates, r.Checks, AllReverted(r.Violations), halts[r.Rec.Name], r.Waits.In(english()),
		})
	}
	return out
}
