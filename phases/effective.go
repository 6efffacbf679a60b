package phases

import (
	"maps"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// upTo is what a run may spend in all by a limit that counts since so much was spent; 0: there is none.
func upTo[T int | int64 | float64](limit, since T) T {
	if limit == 0 {
		return 0
	}
	return limit + since
}

// Effective is the plan of a run as people and rules have changed what it does: with what the run may spend in all, the
// phases that were inserted, who does their steps, the documents that were given, and without phases and reviews that
// are left out. Policies hold it.
func Effective(c Course) *pipelines.Pipeline {
	plan, b := *c.Plan, c.Run.Budget
	plan.Budget.USD, plan.Budget.Tokens, plan.Budget.Attempts, plan.Budget.IssueUSD = metadata.Rounded(upTo(b.USD, b.Since.USD)), upTo(b.Tokens, b.Since.Tokens), upTo(b.Attempts, b.Since.Attempts), b.IssueUSD
	plan.Budget.Time = pipelines.Duration(upTo(b.Seconds, b.Since.Seconds)) * pipelines.Duration(time.Second)
	plan.Documents = map[string]string{}
	maps.Copy(plan.Documents, c.Plan.Documents)
	maps.Copy(plan.Documents, c.Run.ExternalDocuments)
	plan.Phases = nil
	for _, rec := range c.Run.Phases {
		if p := c.Plan.Phase(rec.Name); p != nil && rec.Task == "" && rec.Status != metadata.PhaseSkipped {
			as := *p
			as.Execute, as.Review, as.Revise = SettingsIn(c, p, metadata.Execute), SettingsIn(c, p, metadata.Review), SettingsIn(c, p, metadata.Revise)
			as.NoReview = p.NoReview || rec.Status == metadata.PhaseCompleted && rec.Verdict == nil // a rule has skipped it
			plan.Phases = append(plan.Phases, as)
		}
	}
	return &plan
}
