package delivery

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Limits of what is taken of CI, in checks, annotations, lines and characters.
const (
	mostFailed = 5       // checks whose words are taken
	logBytes   = 256_000 // of the end of a log that are read
	mostName   = 80
	mostNotes  = 20
	mostNote   = 500
	logLines   = 80
	mostLog    = 6_000
	mostLine   = 1_000
)

var (
	fileForm  = text.Pattern(`^[A-Za-z0-9_][A-Za-z0-9_.-]*\.ya?ml$`)
	notInName = text.Pattern(`[^\pL\pN ._/():,+-]`)
	stampForm = text.Pattern(`^\x{FEFF}?\d{4}-\d\d-\d\dT[\d:.]+Z `)
)

// Marks at the beginning of lines in logs of GitHub.
const (
	mark      = "##["
	errorLine = mark + "error]"
)

// checkName is the name of a check without what would have an effect where it is shown.
func checkName(name string) string {
	name = notInName().ReplaceAllString(strings.Join(strings.Fields(strings.ToValidUTF8(name, "")), " "), "_")
	if runes := []rune(name); len(runes) > mostName {
		name = string(runes[:mostName-1]) + "…"
	}
	return cmp.Or(name, "unnamed")
}

// CheckNames are those of some checks.
func CheckNames(all []github.Check) []string {
	var out []string
	for _, c := range all {
		out = append(out, checkName(c.Name))
	}
	return out
}

// checkResult is a failed check as the record of a run has it, with what CI says of it:
// words of strangers, which mask rids of secrets.
func checkResult(c github.Check, notes []github.Annotation, log []byte, mask func(string) string) metadata.CheckResult {
	var parts []string
	if said := words(c.Said, mask); said != "" {
		parts = append(parts, "It ended with: "+said)
	}
	for i, n := range order(notes) {
		if i == mostNotes {
			parts = append(parts, fmt.Sprintf("… and %d more annotations", len(notes)-i))
			break
		}
		at := ""
		if metadata.CheckPath(n.Path) == nil {
			at = fmt.Sprintf("%s:%d: ", n.Path, n.Line)
		}
		parts = append(parts, at+words(strings.TrimSpace(n.Title+" "+n.Message), mask))
	}
	if end := ending(log, mask); end != "" {
		parts = append(parts, end)
	}
	run := "CI"
	if fileForm().MatchString(c.Workflow) {
		run += " in " + c.Workflow
	}
	return metadata.CheckResult{Name: "ci/" + checkName(c.Name), Run: run, ExitCode: 1, Output: strings.Join(parts, "\n")}
}

// order puts what says of failures before the rest, and leaves out mere notices.
func order(notes []github.Annotation) (out []github.Annotation) {
	for _, level := range []string{"failure", "warning"} {
		for _, n := range notes {
			if n.Level == level {
				out = append(out, n)
			}
		}
	}
	return out
}

// words are those of strangers on one line.
func words(s string, mask func(string) string) string {
	s, _ = clean.Text(mask(ansi.Strip(strings.ToValidUTF8(s, "\uFFFD"))))
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > mostNote {
		s = string(runes[:mostNote-1]) + "…"
	}
	return s
}

// ending is the failing end of a log: the lines before the last error, after which a job only tidies up.
func ending(log []byte, mask func(string) string) string {
	if len(log) == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimRight(mask(ansi.Strip(strings.ToValidUTF8(string(log), "\uFFFD"))), "\n"), "\n")
	last := len(lines) - 1
	for i, line := range lines {
		line = strings.TrimRight(stampForm().ReplaceAllString(line, ""), "\r")
		lines[i] = strings.Map(shownCheck, line)
		if strings.HasPrefix(line, errorLine) {
			last = i
		}
	}
	if len(log) == logBytes && last > 0 {
		lines, last = lines[1:], last-1 // the first one is cut off
	}
	var kept []string
	room := mostLog
	for i := last; i >= 0 && len(kept) < logLines; i-- {
		line := lines[i]
		if strings.HasPrefix(line, mark) && !strings.HasPrefix(line, errorLine) {
			continue
		}
		if runes := []rune(line); len(runes) > mostLine { // or it would be the only one, or none
			line = string(runes[:mostLine-1]) + "…"
		}
		if room -= utf8.RuneCountInString(line) + 1; room < 0 {
			break
		}
		kept = append(kept, strings.Replace(line, errorLine, "error: ", 1))
	}
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// shown takes control characters away, but for tabs.
func shownCheck(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f {
		return -1
	}
	return r
}
