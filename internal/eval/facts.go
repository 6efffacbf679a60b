package eval

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Facts are what can be expected of a run; schema.cue has what they mean.
type Facts struct {
	Status   string                     `json:"status"`
	Code     metadata.Code              `json:"code"`
	Phase    string                     `json:"phase"`
	Verdicts map[string]metadata.Ruling `json:"verdicts"`
	Report   map[string]json.RawMessage `json:"report"`
	Diff     struct {
		Files   int `json:"files"`
		Added   int `json:"added"`
		Deleted int `json:"deleted"`
	} `json:"diff"`
	Files map[string]Lines `json:"files"`
	Cost  struct {
		USD    float64 `json:"usd"`
		Tokens int64   `json:"tokens"`
	} `json:"cost"`
	Attempts  int `json:"attempts"`
	Revises   int `json:"revises"`
	Rollbacks int `json:"rollbacks"`
	Questions int `json:"questions"`
	Findings  struct {
		Blockers    int            `json:"blockers"`
		Suggestions int            `json:"suggestions"`
		Files       map[string]int `json:"files"`
	} `json:"findings"`
	Seconds float64 `json:"seconds"` // of agents and checks
}

// Lines are how much of a file was changed.
type Lines struct {
	Added   int `json:"added"`
	Deleted int `json:"deleted"`
}

// factsOf reads what became of a run.
func factsOf(ctx context.Context, r *workspace.Recorded) (Facts, error) {
	f := Facts{Verdicts: map[string]metadata.Ruling{}, Report: map[string]json.RawMessage{}, Files: map[string]Lines{}}
	f.Findings.Files = map[string]int{}
	s, spent := view.Result(r.Plan, r.Run), phases.SpentOf(r.Run)
	f.Status, f.Code, f.Phase = s.Status, s.Code, s.Phase
	f.Cost.USD, f.Cost.Tokens = r.Run.Cost.USD, spent.Tokens
	f.Attempts, f.Revises, f.Rollbacks = s.Totals.Attempts, s.Totals.Revises, s.Totals.Rollbacks
	f.Questions, f.Seconds = len(phases.Questions(r.Run)), float64(s.Totals.DurationMS)/1000
	for _, p := range r.Run.Phases {
		if p.Report != nil {
			f.Report[p.Name] = p.Report
		}
		if p.Verdict == nil {
			continue
		}
		f.Verdicts[p.Name] = p.Verdict.Verdict
		for _, one := range p.Verdict.Findings {
			if one.Severity == metadata.Blocker {
				f.Findings.Blockers++
			} else {
				f.Findings.Suggestions++
			}
			if one.File != "" {
				f.Findings.Files[one.File]++
			}
		}
	}
	change, err := r.Changed(ctx)
	if err != nil {
		return f, fmt.Errorf("reading what the run changed: %w", err)
	}
	for _, c := range change {
		f.Files[c.Path] = Lines{c.Added, c.Deleted}
		f.Diff.Files, f.Diff.Added, f.Diff.Deleted = f.Diff.Files+1, f.Diff.Added+c.Added, f.Diff.Deleted+c.Deleted
	}
	return f, nil
}
