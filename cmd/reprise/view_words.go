package main

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// result says in a few words how an attempt ended.
func (n news) result() string {
	var parts []string
	switch {
	case n.Status != string(metadata.Succeeded):
		return n.trouble()
	case n.Verdict != "":
		parts = append(parts, words(n.Verdict), n.found())
	case len(n.Checks) > 0:
		for _, c := range n.Checks {
			if c.Pass {
				parts = append(parts, c.Name+" passes")
			} else {
				parts = append(parts, fmt.Sprintf("%s fails (exit %d)", c.Name, c.ExitCode))
			}
		}
	default:
		parts = append(parts, n.written())
	}
	if n.PhaseIs == metadata.PhaseCompleted || n.PhaseIs == metadata.PhaseFailed {
		parts = append(parts, "phase "+string(n.PhaseIs))
	}
	if n.WentBack != "" {
		parts = append(parts, "the run goes back to "+n.WentBack)
	}
	return flat(joined(", ", parts...))
}

// trouble says why an attempt did not succeed.
func (n news) trouble() string {
	what := string(n.Code)
	if n.Class != "" {
		what = string(n.Class)
	}
	if n.Status == string(metadata.Cut) {
		what = "interrupted"
	}
	what = words(what)
	if why := reasons(n.Why); why != what {
		return joined(": ", what, cut(why, 200))
	}
	return what
}

// found counts what a review has against the work.
func (n news) found() string {
	blockers, suggestions := 0, 0
	for _, f := range n.Findings {
		if f.Severity == metadata.Blocker {
			blockers++
		} else {
			suggestions++
		}
	}
	var parts []string
	for _, c := range []struct {
		n    int
		noun string
	}{{blockers, "open blocker"}, {len(n.Gates), "failed gate"}, {suggestions, "suggestion"}} {
		if c.n > 0 {
			parts = append(parts, plural(c.n, c.noun))
		}
	}
	return strings.Join(parts, ", ")
}

// written says what a writing step left behind.
func (n news) written() string {
	var parts []string
	if len(n.Files) > 0 {
		parts = append(parts, "wrote "+flat(path.Base(n.Files[0])))
		if more := len(n.Files) - 1; more > 0 {
			parts = append(parts, fmt.Sprintf("%d more", more))
		}
	}
	if n.Diff != nil && n.Diff.Files > 0 {
		parts = append(parts, fmt.Sprintf("%s changed +%d -%d", plural(n.Diff.Files, "file"), n.Diff.Added, n.Diff.Deleted))
	}
	return strings.Join(parts, ", ")
}

// stats are the figures of an attempt.
func (n news) stats() string {
	var parts []string
	if n.Tokens > 0 {
		parts = append(parts, tokenCount(n.Tokens)+" tokens")
	}
	if n.USD > 0 {
		parts = append(parts, usd(n.USD))
	}
	if n.DurationMS > 0 {
		parts = append(parts, took(time.Duration(n.DurationMS)*time.Millisecond))
	}
	return strings.Join(parts, ", ")
}

// details are the lines that belong under the result, by title.
func (n news) details() []string {
	var lines []string
	for _, f := range n.Findings {
		lines = append(lines, findingLine(f))
	}
	for _, g := range n.Gates {
		lines = append(lines, joined(": ", "gate does not hold", flat(g.Gate)))
	}
	for _, v := range n.Violations {
		lines = append(lines, joined(": ", "change reverted", flat(v.Path), flat(phases.Say("en", v.Rule))))
	}
	for _, r := range n.Rules {
		lines = append(lines, flat(r))
	}
	return lines
}

// output are the lines below the result that a program has printed: those of
// checks that failed, and the last ones on standard error of an agent that did
// not succeed, or of any if all is to be told.
func (n news) output(all bool) []string {
	var lines []string
	for _, c := range n.Checks {
		if c.Pass {
			continue
		}
		said, left := telling(c.output, mostTelling)
		lines = append(lines, said...)
		if left > 0 {
			lines = append(lines, fmt.Sprintf("(%s in %s)", plural(left, "more line"), phases.ChecksFile))
		}
	}
	if all || n.Status != string(metadata.Succeeded) {
		lines = append(lines, lastLines(n.Stderr, mostTelling)...)
	}
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(visible(strings.ReplaceAll(l, "\t", "    ")), "##[", "## [")
	}
	return lines
}

// findingLine is a finding by its title and place.
func findingLine(f metadata.Finding) string {
	line := flat(joined(" ", string(f.Severity), f.ID, f.Title))
	if f.Status == metadata.StillOpen {
		line += ", still open"
	}
	if at := place(f); at != "" {
		line += " (" + at + ")"
	}
	return line
}

// place says where a finding is, such as "api/list.go:12", or "".
func place(f metadata.Finding) string {
	if f.File == "" || f.Line <= 0 {
		return flat(f.File)
	}
	return fmt.Sprintf("%s:%d", flat(f.File), f.Line)
}

// joined joins the parts that are not empty.
func joined(sep string, parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, sep)
}
