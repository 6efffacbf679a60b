package terminal

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// result says in a few words how an attempt ended.
func (n news) result() string {
	var parts []string
	switch {
	case n.Status != string(metadata.Succeeded):
		return n.trouble()
	case n.Verdict != "":
		parts = append(parts, text.Join(": ", n.Word("verdicts", string(n.Verdict)), n.Because.In(n.Catalogue)), n.found())
	case len(n.Checks) > 0:
		for _, check := range n.Checks {
			parts = append(parts, view.CheckLine(n.Catalogue, check.result))
		}
	default:
		parts = append(parts, n.written())
	}
	if n.PhaseIs == metadata.PhaseCompleted || n.PhaseIs == metadata.PhaseFailed {
		parts = append(parts, n.Logged("phase "+string(n.PhaseIs)))
	}
	if phase, step, back := strings.Cut(n.WentBack, " "); back {
		parts = append(parts, n.Logged("back", "phase", phase, "step", n.Word("steps", step)))
	}
	return text.Flat(n.list(parts...))
}

// list puts into one line what is not empty.
func (n news) list(parts ...string) string {
	return n.List(slices.DeleteFunc(parts, func(p string) bool { return p == "" }))
}

// trouble says why an attempt did not succeed.
func (n news) trouble() string {
	what := text.Words(cmp.Or(string(n.Class), string(n.Code)))
	if n.Status == string(metadata.Cut) {
		what = n.Logged("interrupted")
	}
	if n.said {
		return n.list(what, n.Logged("as before"))
	}
	if why := text.JoinLines(n.Because.In(n.Catalogue)); why != what && n.Because.Code() != "interrupted" {
		return text.Join(": ", what, text.Cut(why, 200))
	}
	return what
}

// found counts what a review has against the work.
func (n news) found() string {
	counted := map[metadata.Severity]int{}
	for _, f := range n.Findings {
		counted[f.Counts()]++
	}
	some := func(found int, what string) string { return text.If(found > 0, n.Logged(what, "n", found)) }
	return n.list(some(counted[metadata.Blocker], "blockers"), some(len(n.Gates), "gates"), some(counted[metadata.Late], "late"), some(counted[metadata.Suggestion], "suggestions"))
}

// written says what a writing step left behind.
func (n news) written() string {
	var parts []string
	more := len(n.Files) - 1
	if more >= 0 {
		parts = append(parts, n.Logged("wrote", "file", text.Flat(path.Base(n.Files[0]))), text.If(more > 0, n.Logged("more", "n", more)))
	}
	if n.Diff != nil && n.Diff.Files > 0 {
		parts = append(parts, n.Logged("changed", "n", n.Diff.Files, "added", n.Diff.Added, "deleted", n.Diff.Deleted))
	}
	return n.list(parts...)
}

// stats are the figures of an attempt.
func (n news) stats() string {
	return n.list(
		text.If(n.Tokens > 0, n.Logged("tokens", "n", text.Tokens(n.Tokens))), text.If(n.USD > 0, text.USD(n.USD)),
		text.If(n.DurationMS > 0, text.Duration(time.Duration(n.DurationMS)*time.Millisecond)),
	)
}

// details are the lines that belong under the result, by title.
func (n news) details() (lines []string) {
	for _, f := range n.Findings {
		lines = append(lines, findingLine(n.Catalogue, f))
	}
	for _, g := range n.Gates {
		lines = append(lines, n.Logged("gate", "gate", text.Flat(g.Gate)))
	}
	for _, v := range n.Violations {
		lines = append(lines, n.Logged("reverted", "path", text.Flat(v.Path), "why", text.Flat(v.Because.In(n.Catalogue))))
	}
	for _, r := range n.rules {
		lines = append(lines, text.Flat(r.In(n.Catalogue)))
	}
	for _, w := range n.Warnings { // of programs, which speak English
		lines = append(lines, "! "+text.Cut(text.Flat(w), 500))
	}
	return lines
}

// output are the lines that programs have printed: those of checks that failed, and the last ones on standard error of an
// agent that did not succeed, or of any if all is to be told.
func (n news) output(all bool) (lines []string) {
	for _, c := range n.Checks {
		if c.Pass || c.FailsBefore && n.Step != string(phases.DoBaseline) { // that was told before
			continue
		}
		said, left := view.Excerpt(c.result.Output, view.FailureLines)
		lines = append(lines, said...)
		if left > 0 {
			what := "lines"
			if n.Step != string(metadata.Check) {
				what = "lines left" // there is a file only of a phase's checks
			}
			lines = append(lines, n.Logged(what, "n", left, "file", phases.ChecksFile))
		}
	}
	if all || n.Status != string(metadata.Succeeded) {
		lines = append(lines, view.Unsaid(n.Stderr, text.Cut(text.JoinLines(n.Because.In(n.Catalogue)), 200))...)
	}
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(text.Visible(strings.ReplaceAll(l, "\t", "    ")), "##[", "## [")
	}
	return lines
}

// findingLine is a finding by its title and place.
func findingLine(c prompts.Catalogue, f metadata.Finding) string {
	line := text.Flat(text.Join(" ", c.Word("severities", string(f.Counts())), f.ID, f.Title))
	if f.Status == metadata.StillOpen {
		line = c.Logged("still open", "finding", line)
	}
	if at := view.Place(f); at != "" {
		line += " (" + at + ")"
	}
	return text.Join(": ", line, text.Flat(f.Late.In(c)))
}
