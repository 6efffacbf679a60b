package phases

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// AnswersFor gives what people have answered to the questions of a phase, also
// before it was taken back: what they have decided holds.
func AnswersFor(run metadata.Run, rec *metadata.Phase, d Decision) []prompts.Answer {
	var out []prompts.Answer
	for _, q := range run.Questions {
		if q.Phase == rec.Name && !q.Open() {
			out = append(out, prompts.Answer{Question: q.Text, Answer: q.Answer, By: q.By})
		}
	}
	return out
}

// RollbackFeedback gives why a phase was taken back; nil if it was not.
func RollbackFeedback(run metadata.Run, rec *metadata.Phase) *prompts.Rollback {
	c := rec.RollbackContext
	if c == nil {
		return nil
	}
	automatic := false
	for _, entry := range run.RollbackHistory {
		if entry.ToPhase == rec.Name {
			automatic = entry.TriggeredBy == metadata.Automatic
		}
	}
	r := &prompts.Rollback{
		Automatic: automatic, FromPhase: c.FromPhase, FromStep: string(c.FromStep), By: c.By, Reason: c.Reason, Earlier: c.Earlier,
		ReviewResult: c.ReviewResult, Blockers: -1, Suggestions: -1,
	}
	r.Comments = commentsOn(run, rec)
	if c.Details != nil {
		r.Blockers, r.Suggestions, r.AffectedTests = c.Details.BlockerCount, c.Details.SuggestionCount, c.Details.AffectedTests
	}
	return r
}

// FeedbackOn gathers what stands against the work, for the step at hand.
func FeedbackOn(plan *pipelines.Pipeline, run metadata.Run, rec *metadata.Phase, d Decision, folder string) *prompts.Feedback {
	f := &prompts.Feedback{}
	if d.Do != DoExecute && rec.Verdict != nil {
		comments := commentsOn(run, rec)
		f.Gates = rec.Verdict.FailedGates()
		for _, x := range rec.Verdict.Findings {
			known := slices.ContainsFunc(comments, func(c prompts.Comment) bool { return c.ID == x.ID })
			if !known && (x.Status != metadata.Fixed || d.Do == DoReview) { // a review has to know which ids are taken
				f.Findings = append(f.Findings, x)
			}
		}
	}
	if rec.Checks != nil && rec.Checks.Written == rec.Written {
		for _, c := range rec.Checks.Results {
			if d.Do == DoReview || !c.Pass {
				f.Checks = append(f.Checks, prompts.Check{Name: c.Name, Run: c.Run, Pass: c.Pass, ExitCode: c.ExitCode, Output: c.Output, FailsBefore: c.FailsBefore, Otherwise: say(run.Language, WhyOtherwise(c, run.Baseline)), Tests: c.FailedTests, Flaky: c.Flaky})
			}
		}
	}
	for _, v := range rec.Violations {
		f.Violations = append(f.Violations, fmt.Sprintf("%s: %s", v.Path, say(run.Language, v.Rule)))
	}
	if tries := Tries(plan, run, rec, d.Step()); d.Again && len(tries) > 0 {
		addMistakes(f, run.Language, tries[len(tries)-1])
	}
	if lane := rec.Lane; d.Do == DoRevise && lane != nil && lane.Conflict != nil && lane.Conflict.Writer == 0 {
		why := metadata.Because("parts_to_join", "parts", lane.Conflict.Parts, "folder", folder)
		if len(lane.Conflict.Paths) == 0 {
			why = metadata.Because("parts_to_mend", "parts", lane.Conflict.Parts)
		}
		f.Conflict, f.Paths = say(run.Language, why), lane.Conflict.Paths
		return f
	}
	if lane := rec.Lane; d.Do == DoExecute && lane != nil && lane.Conflict != nil {
		f.Conflict, f.Paths = say(run.Language, metadata.Because("part_to_redo", "parts", lane.Conflict.Parts, "file", path.Join(folder, BeforeFile))), lane.Conflict.Paths
		return f
	}
	if len(f.Gates)+len(f.Findings)+len(f.Checks)+len(f.Violations)+len(f.Missing)+len(f.Invalid) == 0 {
		return nil
	}
	return f
}

// commentsOn gives what people have said about lines of a phase's work while it is
// taken back, and no review has found fixed.
func commentsOn(run metadata.Run, rec *metadata.Phase) (out []prompts.Comment) {
	for _, v := range run.Reviews {
		for _, c := range v.Comments {
			if rec.RollbackContext == nil || v.Phase != rec.Name || c.Finding.Status == metadata.Fixed {
				continue
			}
			out = append(out, prompts.Comment{ID: c.Finding.ID, Text: c.Finding.Problem, File: c.Finding.File, Line: c.Finding.Line, At: c.At(), Side: c.Side, Hunk: c.Hunk})
		}
	}
	return out
}

// Unanswered names the comments of people on lines that a verdict says nothing of.
func Unanswered(run metadata.Run, rec *metadata.Phase, v metadata.Verdict) (wrong []metadata.Reason) {
	for _, c := range commentsOn(run, rec) {
		if !slices.ContainsFunc(v.Findings, func(f metadata.Finding) bool { return f.ID == c.ID }) {
			wrong = append(wrong, metadata.Because("comment_unanswered", "id", c.ID))
		}
	}
	return wrong
}

// addMistakes adds why the call before could not be used.
func addMistakes(f *prompts.Feedback, language string, last metadata.Attempt) {
	to := &f.Missing
	if last.Code == metadata.OutputInvalid {
		to = &f.Invalid
	}
	for _, why := range last.Why.Each() {
		*to = append(*to, strings.Split(say(language, why), "\n")...)
	}
}

// say puts a reason into words, in the language of a run.
func say(language string, r metadata.Reason) string { return r.In(prompts.Words(language)) }
