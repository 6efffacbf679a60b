package metadata

import (
	"maps"
	"slices"
)

// Clone returns a copy that shares nothing with r: whatever is changed in one
// is not seen in the other.
func (r Run) Clone() Run {
	r.Stop, r.CI = clonePointer(r.Stop), clonePointer(r.CI)
	r.RollbackHistory = slices.Clone(r.RollbackHistory)
	r.ExternalDocuments = maps.Clone(r.ExternalDocuments)
	r.Execution.Lease = clonePointer(r.Execution.Lease)
	r.Execution.Untold = slices.Clone(r.Execution.Untold)
	r.Issue.Labels, r.Issue.Images = slices.Clone(r.Issue.Labels), slices.Clone(r.Issue.Images)
	r.Decisions = slices.Clone(r.Decisions)
	r.Tasks = slices.Clone(r.Tasks)
	for i := range r.Tasks {
		r.Tasks[i].Files, r.Tasks[i].Needs = slices.Clone(r.Tasks[i].Files), slices.Clone(r.Tasks[i].Needs)
	}
	r.Questions = slices.Clone(r.Questions)
	for i := range r.Questions {
		r.Questions[i].Options = slices.Clone(r.Questions[i].Options)
		r.Questions[i].AnsweredAt = clonePointer(r.Questions[i].AnsweredAt)
	}
	r.Approvals = slices.Clone(r.Approvals)
	r.Children = slices.Clone(r.Children)
	if r.NotesChange = clonePointer(r.NotesChange); r.NotesChange != nil {
		r.NotesChange.Remove = slices.Clone(r.NotesChange.Remove)
	}
	r.Merges = slices.Clone(r.Merges)
	for i := range r.Merges {
		r.Merges[i].Conflicts = slices.Clone(r.Merges[i].Conflicts)
	}
	r.Setup, r.Baseline = cloneResults(r.Setup), cloneResults(r.Baseline)
	r.Reviews = slices.Clone(r.Reviews)
	for i := range r.Reviews {
		r.Reviews[i].Comments = slices.Clone(r.Reviews[i].Comments)
	}

	r.Attempts = slices.Clone(r.Attempts)
	for i := range r.Attempts {
		r.Attempts[i].EndedAt, r.Attempts[i].FailedGates = clonePointer(r.Attempts[i].EndedAt), slices.Clone(r.Attempts[i].FailedGates)
	}
	r.Phases = slices.Clone(r.Phases)
	for i := range r.Phases {
		r.Phases[i] = r.Phases[i].clone()
	}
	return r
}

func (p Phase) clone() Phase {
	p.StartedAt = clonePointer(p.StartedAt)
	p.CompletedAt = clonePointer(p.CompletedAt)
	p.OutputFiles = slices.Clone(p.OutputFiles)
	p.CompletedSteps = slices.Clone(p.CompletedSteps)
	p.Report = slices.Clone(p.Report)
	p.Diff = clonePointer(p.Diff)
	p.Violations = slices.Clone(p.Violations)
	p.Opened = slices.Clone(p.Opened)
	p.Recent = slices.Clone(p.Recent)
	p.Use = clonePointer(p.Use)
	if p.Lane = clonePointer(p.Lane); p.Lane != nil {
		if p.Lane.Conflict = clonePointer(p.Lane.Conflict); p.Lane.Conflict != nil {
			c := p.Lane.Conflict
			c.Parts, c.Paths = slices.Clone(c.Parts), slices.Clone(c.Paths)
		}
	}
	if p.RollbackContext = clonePointer(p.RollbackContext); p.RollbackContext != nil {
		details := clonePointer(p.RollbackContext.Details)
		if details != nil {
			details.AffectedTests = slices.Clone(details.AffectedTests)
		}
		p.RollbackContext.Details = details
		p.RollbackContext.Earlier = slices.Clone(p.RollbackContext.Earlier)
	}
	if p.Checks = clonePointer(p.Checks); p.Checks != nil {
		p.Checks.Results = cloneResults(p.Checks.Results)
	}
	if p.Verdict = clonePointer(p.Verdict); p.Verdict != nil {
		p.Verdict.Gates = slices.Clone(p.Verdict.Gates)
		p.Verdict.Findings = slices.Clone(p.Verdict.Findings)
	}
	return p
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func cloneResults(all []CheckResult) []CheckResult {
	all = slices.Clone(all)
	for i := range all {
		all[i].FailedTests = slices.Clone(all[i].FailedTests)
	}
	return all
}
