package phases

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// ReviewFile is the name of the file in the phase's folder that tells what
// the newest review said.
const ReviewFile = "review.md"

// ChecksFile is the name of the file in the phase's folder that has what the
// checks of the newest work printed.
const ChecksFile = "checks.md"

// checksText is what checks came to, and the end of what each printed.
func checksText(phase string, all []metadata.CheckResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Checks of %s: %s\n", phase, rulingOf(all))
	for _, c := range all {
		fmt.Fprintf(&b, "\n## %s: exit code %d\n\n%s", oneLine(c.Name), c.ExitCode, block(c.Run))
		if out := strings.TrimSpace(c.Output); out != "" {
			b.WriteString("\nIt printed:\n\n" + block(strings.Trim(c.Output, "\n")))
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

func reviewText(rec *metadata.Phase) string {
	var b strings.Builder
	v := rec.Verdict
	fmt.Fprintf(&b, "# Review of %s, round %d: %s\n", rec.Name, rec.Round, strings.ReplaceAll(string(v.Verdict), "_", " "))
	if len(v.Gates) > 0 {
		b.WriteString("\n## Gates\n\n")
	}
	for _, g := range v.Gates {
		mark := "x"
		if !g.Pass {
			mark = " "
		}
		fmt.Fprintf(&b, "- [%s] %s\n  %s\n", mark, g.Gate, oneLine(g.Why))
	}
	if len(v.Findings) > 0 {
		b.WriteString("\n## Findings\n")
	}
	for _, f := range v.Findings {
		fmt.Fprintf(&b, "\n### %s %s (%s, %s)\n\n", f.ID, oneLine(f.Title), f.Severity, strings.ReplaceAll(string(f.Status), "_", " "))
		if f.File != "" {
			fmt.Fprintf(&b, "- Where: %s:%d\n", f.File, f.Line)
		}
		for _, part := range []struct{ name, text string }{{"Problem", f.Problem}, {"Impact", f.Impact}, {"Solution", f.Solution}} {
			if part.text != "" {
				fmt.Fprintf(&b, "- %s: %s\n", part.name, part.text)
			}
		}
	}
	return b.String()
}
