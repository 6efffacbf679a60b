package phases

import (
	"math"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Summary is the result of a run as one JSON value. It is there however the
// run ended.
type Summary struct {
	Status   string        `json:"status"` // success, partial_success, failed, waiting, cancelled, or running
	Code     metadata.Code `json:"reason_code,omitempty"`
	Issue    string        `json:"issue"`
	Title    string        `json:"title,omitempty"`
	Pipeline string        `json:"pipeline"`
	Branch   string        `json:"branch"`
	Head     string        `json:"head_sha,omitempty"`
	Phase    string        `json:"phase"` // where the run is, see At
	Counts   *Counts       `json:"partial_success,omitempty"`
	Steps    []StepSummary `json:"steps"`
	Totals   Totals        `json:"totals"`
	Start    time.Time     `json:"start"`
	End      time.Time     `json:"end"`
	Error    string        `json:"error,omitempty"`
	*State                 // nil if there is no record of the run
	// Next are the commands that take the run further, the likeliest first.
	// They are those of a command line, so whoever has one fills them in.
	Next []string `json:"next,omitempty"`
}

// Counts says how far a run got.
type Counts struct {
	Completed int `json:"completed"`
	Total     int `json:"total"`
}

// StepSummary is one step of one phase, all its attempts together.
type StepSummary struct {
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
	Verdict    metadata.Ruling `json:"verdict,omitempty"`
	Attempts   int             `json:"attempts"`
	Retries    int             `json:"retry_count"`
	Output     string          `json:"output,omitempty"` // the artifact, or the verdict
	Usage      metadata.Usage  `json:"usage"`
	DurationMS int64           `json:"duration_ms"`
	Error      string          `json:"error,omitempty"`
	Checks     []CheckSummary  `json:"checks,omitempty"` // of the check
}

// CheckSummary is how one check ended, without its output.
type CheckSummary struct {
	Name     string `json:"name"`
	Pass     bool   `json:"pass"`
	ExitCode int    `json:"exit_code"`
}

// Totals sums up a run.
type Totals struct {
	metadata.Cost
	Attempts   int   `json:"attempts"`
	Revises    int   `json:"revises"`
	Rollbacks  int   `json:"rollbacks"`
	DurationMS int64 `json:"duration_ms"` // of agents and checks
}

// Summarize gives the result of a run.
func Summarize(plan *pipelines.Pipeline, run metadata.Run) Summary {
	s := Summary{
		Status: statusOf(run), Issue: run.IssueNumber, Title: limit(run.IssueTitle, 300), Pipeline: plan.Name, Branch: run.BranchName,
		Phase: At(plan, run), Steps: []StepSummary{}, Start: run.CreatedAt, End: run.UpdatedAt,
		State: stateOf(plan, run), Totals: Totals{Cost: run.Cost, Attempts: len(run.Attempts), Rollbacks: len(run.RollbackHistory)},
	}
	if run.Status == metadata.Completed {
		s.Code = metadata.Done
	}
	if run.Stop != nil {
		s.Code, s.Error = run.Stop.Code, Say("en", run.Stop.Why)
	}
	s.Totals.USD = Rounded(s.Totals.USD)
	done := 0
	for _, rec := range run.Phases {
		if rec.Status == metadata.PhaseCompleted {
			done++
		}
		s.Steps = append(s.Steps, stepsOf(run, rec)...)
	}
	if s.Status == "failed" && done > 0 {
		s.Status = "partial_success"
	}
	if s.Status != "success" {
		s.Counts = &Counts{Completed: done, Total: len(run.Phases)}
	}
	for _, a := range run.Attempts {
		s.Totals.DurationMS += a.DurationMS
		if a.Step == metadata.Revise && a.Status == metadata.Succeeded {
			s.Totals.Revises++
		}
	}
	return s
}

func statusOf(run metadata.Run) string {
	switch run.Status {
	case metadata.Completed:
		return "success"
	case metadata.Failed:
		return "failed"
	case metadata.Cancelled, metadata.Interrupted:
		return "cancelled"
	case metadata.Running:
		return "running"
	}
	return "waiting"
}

func stepsOf(run metadata.Run, rec metadata.Phase) []StepSummary {
	if rec.Status == metadata.PhaseSkipped {
		return []StepSummary{{Phase: rec.Name, Step: metadata.Execute, Status: "skipped"}}
	}
	var out []StepSummary
	for _, step := range []metadata.Step{metadata.Execute, metadata.Check, metadata.Review, metadata.Revise} {
		s := StepSummary{Phase: rec.Name, Step: step}
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
		s.Usage.USD = Rounded(s.Usage.USD)
		out = append(out, s)
	}
	return out
}

// add takes the next attempt in. One that asked people something, or is still
// at work, has not failed; checks that ran and did not pass have.
func (s *StepSummary) add(a metadata.Attempt) {
	s.Attempts++
	s.DurationMS += a.DurationMS
	s.Usage = sum(s.Usage, a.Usage)
	s.Status, s.Error = "success", ""
	switch {
	case a.Status == metadata.Started:
		s.Status = "running"
	case a.Status == metadata.Blocked && a.Code == metadata.AwaitingPerson:
		s.Status = "waiting"
	case a.Status != metadata.Succeeded:
		s.Retries++
		s.Status, s.Error = "failed", Say("en", a.Why)
	case a.Step == metadata.Check && a.Why != "":
		s.Status, s.Error = "failed", Say("en", a.Why)
	}
}

// checked names the checks of the newest work, and all that failed.
func (s *StepSummary) checked(rec metadata.Phase) {
	if rec.Checks == nil || rec.Checks.Written != rec.Written {
		return
	}
	var wrong []metadata.Reason
	for _, c := range rec.Checks.Results {
		s.Checks = append(s.Checks, CheckSummary{c.Name, c.Pass, c.ExitCode})
		if !c.Pass {
			wrong = append(wrong, exited(c))
		}
	}
	if len(rec.Checks.Results) > 0 {
		s.Verdict = rulingOf(rec.Checks.Results)
	}
	if len(wrong) > 0 && s.Status != "running" {
		s.Status, s.Error = "failed", Say("en", metadata.All(wrong...))
	}
}

// exited says how a check ended that did not pass.
func exited(c metadata.CheckResult) metadata.Reason {
	return metadata.Because("check_exited", "check", c.Name, "code", c.ExitCode)
}

func sum(a, b metadata.Usage) metadata.Usage {
	a.InputTokens += b.InputTokens
	a.OutputTokens += b.OutputTokens
	a.CachedTokens += b.CachedTokens
	a.Turns += b.Turns
	a.USD += b.USD
	a.Estimated = a.Estimated || b.Estimated
	return a
}

// Rounded drops the digits that adding up leaves behind a millionth of a dollar.
func Rounded(usd float64) float64 {
	if math.Abs(usd) > 1e9 {
		return usd // it has no such digits
	}
	return math.Round(usd*1e6) / 1e6
}
