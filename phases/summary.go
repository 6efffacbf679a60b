package phases

import (
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
	Pipeline string        `json:"pipeline"`
	Branch   string        `json:"branch"`
	Head     string        `json:"head_sha,omitempty"`
	Phase    string        `json:"phase"` // where the run is
	Counts   *Counts       `json:"partial_success,omitempty"`
	Steps    []StepSummary `json:"steps"`
	Totals   Totals        `json:"totals"`
	Start    time.Time     `json:"start"`
	End      time.Time     `json:"end"`
	Error    string        `json:"error,omitempty"`
}

// Counts says how far a run got.
type Counts struct {
	Completed int `json:"completed"`
	Total     int `json:"total"`
}

// StepSummary is one step of one phase, all its attempts together.
type StepSummary struct {
	Phase      string         `json:"phase"`
	Step       metadata.Step  `json:"step"`
	Status     string         `json:"status"` // success, failed, retried or skipped
	Attempts   int            `json:"attempts"`
	Retries    int            `json:"retry_count"`
	Output     string         `json:"output,omitempty"` // the artifact, or the verdict
	Usage      metadata.Usage `json:"usage"`
	DurationMS int64          `json:"duration_ms"`
	Error      string         `json:"error,omitempty"`
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
		Status: statusOf(run), Issue: run.IssueNumber, Pipeline: plan.Name, Branch: run.BranchName,
		Phase: run.CurrentPhase, Steps: []StepSummary{}, Start: run.CreatedAt, End: run.UpdatedAt,
		Totals: Totals{Cost: run.Cost, Attempts: len(run.Attempts), Rollbacks: len(run.RollbackHistory)},
	}
	if run.Status == metadata.Completed {
		s.Code = metadata.Done
	}
	if run.Stop != nil {
		s.Code, s.Error = run.Stop.Code, run.Stop.Why
	}
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
			if a.Phase != rec.Name || a.Step != step {
				continue
			}
			s.Attempts++
			s.DurationMS += a.DurationMS
			s.Usage = sum(s.Usage, a.Usage)
			s.Status, s.Error = "success", ""
			if a.Status != metadata.Succeeded {
				s.Retries++
				s.Status, s.Error = "failed", a.Why
			}
		}
		if s.Attempts == 0 {
			continue
		}
		if s.Status == "success" && s.Retries > 0 {
			s.Status = "retried"
		}
		switch {
		case step == metadata.Review:
			s.Output = rec.ReviewResult
		case step != metadata.Check && len(rec.OutputFiles) > 0:
			s.Output = rec.OutputFiles[0]
		}
		out = append(out, s)
	}
	return out
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
