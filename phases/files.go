package phases

import (
	"fmt"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// WrittenChecks is what checks came to, and what each printed, in a
// language.
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
		kind := w.List([]string{w.Word("severities", string(f.Severity)), w.Word("changes", string(f.Status))})
		fmt.Fprintf(&b, "\n### %s %s (%s)\n\n", f.ID, TruncateText(f.Title), kind)
		if f.File != "" {
			fmt.Fprintf(&b, "- %s: %s:%d\n", w.Say("files.where"), f.File, f.Line)
		}
		for _, part := range []struct{ name, text string }{{w.Say("files.problem"), f.Problem}, {w.Say("files.impact"), f.Impact}, {w.Say("files.solution"), f.Solution}} {
			if part.text != "" {
				fmt.Fprintf(&b, "- %s: %s\n", part.name, part.text)
			}
		}
	}
	return b.String()
}

// WrittenReason is the file that tells why a phase was taken back, in the language
// of the run.
func WrittenReason(r RollbackPlan) []byte {
	return []byte(reasonText(r.Run.Language, r.Entry, r.Open))
}

func reasonText(language string, e metadata.Rollback, d *metadata.RollbackDetails) string {
	w := prompts.Words(language)
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
	return b.String()
}
