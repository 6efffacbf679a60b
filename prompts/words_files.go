package prompts

import "strconv"

// FileWords are what reprise says in the files that it writes beside the
// artifacts.
type FileWords struct {
	Gates, Findings, Where, Problem, Impact, Solution string // of a review
	Printed                                           string // before what a check has printed
	Failing                                           string // before the names of tests that failed in it
	Flaky                                             string // that it passed when it was run once more
	Before                                            string // that it failed like this before the work
	From, To, When, By, Open, Review, Reason          string // of a rollback

	Forms struct{ Reviewed, Checked, Exited, Returned, Integrated, WasOpen string }
}

// Reviewed heads what a review says, by its round, counted from 1.
func (f FileWords) Reviewed(phase string, round int, verdict string) string {
	return fill(f.Forms.Reviewed, "phase", phase, "round", strconv.Itoa(round), "verdict", verdict)
}

// Checked heads what checks came to.
func (f FileWords) Checked(phase, verdict string) string {
	return fill(f.Forms.Checked, "phase", phase, "verdict", verdict)
}

// Exited heads what one check came to.
func (f FileWords) Exited(check string, code int) string {
	return fill(f.Forms.Exited, "check", check, "code", strconv.Itoa(code))
}

// Returned heads why a phase was taken back.
func (f FileWords) Returned(phase string) string { return fill(f.Forms.Returned, "phase", phase) }

// Integrated heads what the parts of a phase came to.
func (f FileWords) Integrated(phase string) string { return fill(f.Forms.Integrated, "phase", phase) }

// WasOpen counts what the review had found that led to a rollback.
func (f FileWords) WasOpen(blockers, suggestions int) string {
	return counting(f.Forms.WasOpen, map[string]string{"blockers": strconv.Itoa(blockers), "suggestions": strconv.Itoa(suggestions)})
}
