package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// Stderr gives what the newest agent's program wrote to standard error before
// the run stopped for that; "" if it stopped for something else.
func Stderr(run metadata.Run) string {
	last := len(run.Attempts) - 1
	if last < 0 || run.Stop == nil || run.Stop.Code == metadata.AwaitingPerson || run.Attempts[last].Phase != run.Stop.Phase {
		return ""
	}
	return run.Attempts[last].Stderr
}

// FailureLines is how many lines of what a check printed are shown: a screen of
// a phone.
const FailureLines = 15

// failing is in lines that say what went wrong, in the words of the usual
// compilers, test runners and linters.
var failing = text.Pattern(`(?i)(^|[^a-z])(fail(ed|ure|ures|s|ing)?|errors?|err!|panic(ked)?|fatal|exception|traceback|assert(ion)?|assertionerror|undefined|not ok|expected|mismatch|segmentation fault|killed|timed out|no such file|command not found)([^a-z]|$)|[a-z]Error\b|✗|✕|✘|❌|^[^ :]+:[0-9]+:`)

// Excerpt gives at most so many lines of what a program printed, and how many it leaves out: of a long output, those that
// say what failed and what follows them, and the last lines. Lines are cut to a width that a page can show.
func Excerpt(output string, most int) (lines []string, left int) {
	lines = LastLines(output, len(output))
	if len(lines) <= most {
		return lines, 0
	}
	keep := map[int]bool{}
	add := func(i int, room int) {
		if i >= 0 && i < len(lines) && len(keep) < room {
			keep[i] = true
		}
	}
	const last, behind = 3, 2 // lines: how it ends, and what stands below a failure
	for i, line := range lines {
		if failing().MatchString(line) {
			for n := range behind + 1 {
				add(i+n, most-last)
			}
		}
	}
	tail := last
	if len(keep) == 0 {
		tail = most // nothing looks like a failure: how it ends says most
	}
	for i := len(lines) - tail; i < len(lines); i++ {
		add(i, most)
	}
	shown := make([]string, 0, most+2)
	for i, line := range lines {
		switch {
		case keep[i]:
			shown = append(shown, line)
		case len(shown) == 0 || shown[len(shown)-1] != "…":
			shown = append(shown, "…")
		}
	}
	return shown, len(lines) - len(keep)
}

// LastLines gives the last lines of a text that have something on them.
func LastLines(text string, most int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			lines = append(lines, ansi.Truncate(line, 300, "…"))
		}
	}
	return lines[max(0, len(lines)-most):]
}

// Unsaid gives the last lines that a program wrote to standard error, but for the very last if the reason has it.
func Unsaid(stderr, reason string) []string {
	lines := LastLines(stderr, FailureLines)
	if last := len(lines) - 1; last >= 0 && strings.Contains(reason, strings.TrimSpace(lines[last])) {
		lines = lines[:last]
	}
	return lines
}

// Place says where a finding is, such as "api/list.go:12", or "".
func Place(f metadata.Finding) string {
	if f.File == "" || f.Line <= 0 {
		return text.Flat(f.File)
	}
	return fmt.Sprintf("%s:%d", text.Flat(f.File), f.Line)
}

// Allowing gives the setting of a pipeline that would allow the hosts that the network of
// an attempt did not have; "" if it was refused none.
func Allowing(a metadata.Attempt) string {
	if a.Refused == "" {
		return ""
	}
	var hosts []string
	for one := range strings.SplitSeq(a.Refused, ", ") {
		host, _, _ := strings.Cut(one, " ")
		hosts = append(hosts, strconv.Quote(host))
	}
	return "network: allow: [" + strings.Join(hosts, ", ") + "]"
}
