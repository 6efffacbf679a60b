package phases

import (
	"fmt"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// Checks is what checks came to, and what each printed, in a
// language.
func WrittenChecks(language, phase string, all []metadata.CheckResult) string {
	w := prompts.Words(language)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", w.Files.Checked(phase, prompts.Word(w.Verdicts, string(RulingOf(all)))))
	for _, c := range all {
		fmt.Fprintf(&b, "\n## %s\n\n%s", w.Files.Exited(TruncateText(c.Name), c.ExitCode), block(c.Run))
		if c.Flaky {
			b.WriteString("\n" + w.Files.Flaky + "\n")
		}
		if c.FailsBefore {
			b.WriteString("\n" + w.Files.Before + "\n")
		}
		if len(c.FailedTests) > 0 {
			b.WriteString("\n" + w.Files.Failing + "\n\n" + block(strings.Join(c.FailedTests, "\n")))
		}
		if out := strings.TrimSpace(c.Output); out != "" {
			b.WriteString("\n" + w.Files.Printed + "\n\n" + block(strings.Trim(c.Output, "\n")))
		}
	}
	return b.String()
}

// Parts is what the parts of a phase came to, in the language of the run.
func WrittenParts(run metadata.Run, phase string) string {
	w := prompts.Words(run.Language)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", w.Files.Integrated(phase))
	for i := range run.Phases {
		rec := &run.Phases[i]
		t := TaskOf(&run, rec)
		if t == nil || WholeOf(rec) != phase {
			continue
		}
		fmt.Fprintf(&b, "- %s: %s (%s)\n", t.ID, TruncateText(t.Title), prompts.Word(w.Statuses, string(rec.Status)))
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

// Review is what the newest review of a phase said, in a language.
func WrittenReview(language string, rec *metadata.Phase) string {
	w := prompts.Words(language)
	var b strings.Builder
	v := rec.Verdict
	fmt.Fprintf(&b, "# %s\n", w.Files.Reviewed(rec.Name, rec.Round, prompts.Word(w.Verdicts, string(v.Verdict))))
	if len(v.Gates) > 0 {
		fmt.Fprintf(&b, "\n## %s\n\n", w.Files.Gates)
	}
	for _, g := range v.Gates {
		mark := "x"
		if !g.Pass {
			mark = " "
		}
		fmt.Fprintf(&b, "- [%s] %s\n  %s\n", mark, g.Gate, TruncateText(g.Why))
	}
	if len(v.Findings) > 0 {
		fmt.Fprintf(&b, "\n## %s\n", w.Files.Findings)
	}
	for _, f := range v.Findings {
		kind := w.List([]string{prompts.Word(w.Severities, string(f.Severity)), prompts.Word(w.Changes, string(f.Status))})
		fmt.Fprintf(&b, "\n### %s %s (%s)\n\n", f.ID, TruncateText(f.Title), kind)
		if f.File != "" {
			fmt.Fprintf(&b, "- %s: %s:%d\n", w.Files.Where, f.File, f.Line)
		}
		for _, part := range []struct{ name, text string }{{w.Files.Problem, f.Problem}, {w.Files.Impact, f.Impact}, {w.Files.Solution, f.Solution}} {
			if part.text != "" {
				fmt.Fprintf(&b, "- %s: %s\n", part.name, part.text)
			}
		}
	}
	return b.String()
}

// Reason is the file that tells why a phase was taken back, in the language
// of the run.
func WrittenReason(r RollbackPlan) []byte {
	return []byte(reasonText(r.Run.Language, r.Entry, r.Open))
}

func reasonText(language string, e metadata.Rollback, d *metadata.RollbackDetails) string {
	w := prompts.Words(language)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", w.Files.Returned(e.ToPhase))
	fact := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, text)
		}
	}
	fact(w.Files.From, e.FromPhase+" "+prompts.Word(w.Steps, string(e.FromStep)))
	fact(w.Files.To, e.ToPhase+" "+prompts.Word(w.Steps, string(e.ToStep)))
	fact(w.Files.When, e.Timestamp.UTC().Format(time.RFC3339))
	fact(w.Files.By, e.By)
	if d != nil && d.BlockerCount+d.SuggestionCount > 0 {
		fact(w.Files.Open, w.Files.WasOpen(d.BlockerCount, d.SuggestionCount))
	}
	fact(w.Files.Review, e.ReviewResultPath)
	fmt.Fprintf(&b, "\n## %s\n\n%s\n", w.Files.Reason, strings.TrimSpace(e.Reason))
	return b.String()
}

// CountOpen counts what is open in a text that Review made, in any
// language; nil if it is none.
func CountOpen(text string) *metadata.RollbackDetails {
	var out *metadata.RollbackDetails
	for line := range strings.Lines(text) {
		title, ok := strings.CutPrefix(strings.TrimSpace(line), "### ")
		at := strings.LastIndex(title, " (")
		if !ok || at < 0 {
			continue
		}
		severity, open := kindOfFinding(title[at+1:])
		if severity == "" {
			continue
		}
		if out == nil {
			out = &metadata.RollbackDetails{}
		}
		switch {
		case !open:
		case severity == metadata.Blocker:
			out.BlockerCount++
		default:
			out.SuggestionCount++
		}
	}
	return out
}

// kindOfFinding reads what stands in brackets behind the title of a finding.
func kindOfFinding(text string) (severity metadata.Severity, open bool) {
	for _, language := range prompts.Languages() {
		w := prompts.Words(language)
		for _, severity := range []metadata.Severity{metadata.Blocker, metadata.Suggestion} {
			for _, status := range []metadata.FindingStatus{metadata.NewFinding, metadata.StillOpen, metadata.Fixed} {
				if text == "("+w.List([]string{prompts.Word(w.Severities, string(severity)), prompts.Word(w.Changes, string(status))})+")" {
					return severity, status != metadata.Fixed
				}
			}
		}
	}
	return "", false
}
