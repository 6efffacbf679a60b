package phases

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// AnswersFor gives what people have answered to the questions of a phase, also
// before it was taken back: what they have decided holds.
func AnswersFor(run metadata.Run, rec *metadata.Phase) (out []prompts.Answer) {
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
func FeedbackOn(of Course, rec *metadata.Phase, d Decision, folder string) *prompts.Feedback {
	f := &prompts.Feedback{}
	if d.Do != DoExecute && rec.Verdict != nil {
		comments := commentsOn(of.Run, rec)
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
				f.Checks = append(f.Checks, prompts.Check{CheckResult: c, Otherwise: say(of.Run.Language, whyOtherwise(c, of.Run.Baseline))})
			}
		}
	}
	for _, v := range rec.Violations {
		f.Violations = append(f.Violations, fmt.Sprintf("%s: %s", v.Path, say(of.Run.Language, v.Rule)))
	}
	if tries := Tries(of, rec, d.Step()); d.Again && len(tries) > 0 {
		addMistakes(f, of.Run.Language, tries[len(tries)-1])
	} else if last := lastOf(of.Run, rec); len(tries) == 0 && last.Code == metadata.PushFailed { // a person has let it try again
		addMistakes(f, of.Run.Language, last)
	}
	if lane := rec.Lane; d.Do == DoRevise && lane != nil && lane.Conflict != nil && lane.Conflict.Writer == 0 {
		why := metadata.Because("parts_to_join", "parts", lane.Conflict.Parts, "folder", folder)
		if len(lane.Conflict.Paths) == 0 {
			why = metadata.Because("parts_to_mend", "parts", lane.Conflict.Parts)
		}
		f.Conflict, f.Paths = say(of.Run.Language, why), lane.Conflict.Paths
		return f
	}
	if lane := rec.Lane; d.Do == DoExecute && lane != nil && lane.Conflict != nil {
		f.Conflict, f.Paths = say(of.Run.Language, metadata.Because("part_to_redo", "parts", lane.Conflict.Parts, "file", path.Join(folder, BeforeFile))), lane.Conflict.Paths
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

// lastOf gives the newest attempt of a phase since it was last taken back; zero if there is none.
func lastOf(run metadata.Run, rec *metadata.Phase) metadata.Attempt {
	for _, a := range slices.Backward(run.Attempts) {
		if a.Phase == rec.Name && a.Generation == rec.Generation && a.Status != metadata.Started {
			return a
		}
	}
	return metadata.Attempt{}
}

// addMistakes adds why the call before could not be used.
func addMistakes(f *prompts.Feedback, language string, last metadata.Attempt) {
	to := &f.Missing
	if last.Code == metadata.OutputInvalid {
		to = &f.Invalid
	}
	for _, why := range last.Why.Each() {
		if why.Code() != "last_words" { // it knows them
			*to = append(*to, strings.Split(say(language, why), "\n")...)
		}
	}
}

// say puts a reason into words, in the language of a run.
func say(language string, r metadata.Reason) string { return r.In(prompts.Words(language)) }

// WrittenChecks is what checks came to, and what each printed, in a language.
func WrittenChecks(language, phase string, all []metadata.CheckResult) string {
	w := prompts.Words(language)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", w.Say("files.checked", "phase", phase, "verdict", w.Word("verdicts", string(RulingOf(all)))))
	for _, c := range all {
		fmt.Fprintf(&b, "\n## %s\n\n%s", w.Say("files.exited", "check", TruncateText(c.Name), "code", c.ExitCode), block(c.Run))
		if c.Flaky {
			b.WriteString("\n" + w.Say("files.flaky") + "\n")
		}
		if c.FailsBefore {
			b.WriteString("\n" + w.Say("files.before") + "\n")
		}
		if len(c.FailedTests) > 0 {
			b.WriteString("\n" + w.Say("files.failing") + "\n\n" + block(strings.Join(c.FailedTests, "\n")))
		}
		if out := strings.TrimSpace(c.Output); out != "" {
			b.WriteString("\n" + w.Say("files.printed") + "\n\n" + block(strings.Trim(c.Output, "\n")))
		}
	}
	return b.String()
}

// WrittenParts is what the parts of a phase came to, in the language of the run.
func WrittenParts(run metadata.Run, phase string) string {
	w := prompts.Words(run.Language)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", w.Say("files.integrated", "phase", phase))
	for i := range run.Phases {
		rec := &run.Phases[i]
		t := TaskOf(&run, rec)
		if t == nil || WholeOf(rec) != phase {
			continue
		}
		fmt.Fprintf(&b, "- %s: %s (%s)\n", t.ID, TruncateText(t.Title), w.Word("statuses", string(rec.Status)))
		for _, file := range rec.OutputFiles {
			fmt.Fprintf(&b, "  - `%s`\n", file)
		}
	}
	return b.String()
}

// block is text as a block of code that it cannot end.
func block(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence + "\n"
}

// WrittenReview is what the newest review of a phase said, in a language.
func WrittenReview(language string, rec *metadata.Phase) string {
	w := prompts.Words(language)
	var b strings.Builder
	v := rec.Verdict
	fmt.Fprintf(&b, "# %s\n", w.Say("files.reviewed", "phase", rec.Name, "round", rec.Round, "verdict", w.Word("verdicts", string(v.Verdict))))
	if len(v.Gates) > 0 {
		fmt.Fprintf(&b, "\n## %s\n\n", w.Say("files.gates"))
	}
	for _, g := range v.Gates {
		mark := "x"
		if !g.Pass {
			mark = " "
		}
		fmt.Fprintf(&b, "- [%s] %s\n  %s\n", mark, g.Gate, TruncateText(g.Why))
	}
	if len(v.Findings) > 0 {
		fmt.Fprintf(&b, "\n## %s\n", w.Say("files.findings"))
	}
	for _, f := range v.Findings {
		kind := w.List([]string{w.Word("severities", string(f.Counts())), w.Word("changes", string(f.Status))})
		fmt.Fprintf(&b, "\n### %s %s (%s)\n\n", f.ID, TruncateText(f.Title), kind)
		if f.File != "" {
			fmt.Fprintf(&b, "- %s: %s:%d\n", w.Say("files.where"), f.File, f.Line)
		}
		for _, part := range []struct{ name, text string }{{w.Say("files.problem"), f.Problem}, {w.Say("files.impact"), f.Impact}, {w.Say("files.solution"), f.Solution}, {w.Say("files.late"), f.Late.In(w)}} {
			if part.text != "" {
				fmt.Fprintf(&b, "- %s: %s\n", part.name, part.text)
			}
		}
	}
	return b.String()
}

// WrittenReason is the file that tells why a phase was taken back, in the language of the run.
func WrittenReason(r RollbackPlan) []byte {
	e, d, w := r.Entry, r.Open, prompts.Words(r.Run.Language)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", w.Say("files.returned", "phase", e.ToPhase))
	fact := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, text)
		}
	}
	fact(w.Say("files.from"), e.FromPhase+" "+w.Word("steps", string(e.FromStep)))
	fact(w.Say("files.to"), e.ToPhase+" "+w.Word("steps", string(e.ToStep)))
	fact(w.Say("files.when"), e.Timestamp.UTC().Format(time.RFC3339))
	fact(w.Say("files.by"), e.By)
	if d != nil && d.BlockerCount+d.SuggestionCount > 0 {
		fact(w.Say("files.open"), w.Say("files.wasOpen", "blockers", d.BlockerCount, "suggestions", d.SuggestionCount))
	}
	fact(w.Say("files.review"), e.ReviewResultPath)
	fmt.Fprintf(&b, "\n## %s\n\n%s\n", w.Say("files.reason"), strings.TrimSpace(e.Reason))
	return []byte(b.String())
}

// The most of a run's history that a diagnosis is told.
const (
	lastAttempts  = 12
	lastRollbacks = 5
	maxReview     = 8000 // characters, of one phase
	maxOutput     = 2000 // characters, of one check
)

// Essence is what a diagnosis has to know about a run. Its length does not grow with the history.
func Essence(run metadata.Run) string {
	c := prompts.Words(run.Language)
	var b strings.Builder
	line := func(text string) { b.WriteString(text + "\n") }
	line(c.Shown("state now", "status", c.Word("statuses", string(run.Status)), "phase", run.CurrentPhase))
	if s := run.Stop; s != nil {
		line(c.Shown("state stopped", "code", s.Code, "why", OneLine(s.Why.In(c))))
	}
	b.WriteString("\n## " + c.Shown("state phases") + "\n\n")
	for i := range run.Phases {
		rec := &run.Phases[i]
		line(c.Shown("state phase", "phase", rec.Name, "status", c.Word("statuses", string(rec.Status)), "revises", rec.RetryCount,
			"reviews", rec.Round, "back", rec.Generation, "verdict", cmp.Or(c.Word("verdicts", rec.ReviewResult), c.Say("none"))))
	}
	b.WriteString("\n## " + c.Shown("state attempts") + "\n\n")
	for _, a := range run.Attempts[max(len(run.Attempts)-lastAttempts, 0):] {
		line(c.Shown("state attempt", "n", a.N, "phase", a.Phase, "step", c.Word("steps", string(a.Step)),
			"result", TruncateText(fmt.Sprintf("%s %s %s", c.Word("statuses", string(a.Status)), a.Code, OneLine(a.Why.In(c))))))
	}
	if n := len(run.RollbackHistory); n > 0 {
		b.WriteString("\n## " + c.Shown("state rollbacks", "n", n) + "\n\n")
	}
	for _, r := range run.RollbackHistory[max(len(run.RollbackHistory)-lastRollbacks, 0):] {
		line(c.Shown("state rollback", "from", r.FromPhase, "to", r.ToPhase, "step", c.Word("steps", string(r.ToStep)),
			"trigger", c.Word("tell.triggers", string(r.TriggeredBy)), "reason", OneLine(r.Reason)))
	}
	for i := range run.Phases {
		writeOpen(&b, c, &run.Phases[i])
	}
	return b.String()
}

// writeOpen writes what is open about a phase.
func writeOpen(b *strings.Builder, c prompts.Catalogue, rec *metadata.Phase) {
	if !hasOpenPoints(rec) {
		return
	}
	if rec.Verdict != nil {
		fmt.Fprintf(b, "\n%s", CutText(WrittenReview(c.Language, rec), maxReview))
	}
	if !rec.ChecksFail() {
		return
	}
	for _, x := range rec.Checks.Results {
		if !x.Pass {
			head := c.Shown("state check", "check", x.Name, "phase", rec.Name, "run", x.Run, "code", x.ExitCode)
			fmt.Fprintf(b, "\n%s\n\n%s\n", head, CutText(x.Output, maxOutput))
		}
	}
}
