package main

import (
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// mostTelling is how many lines of what a check printed are shown: a screen of
// a phone.
const mostTelling = 15

// failing is in lines that say what went wrong, in the words of the usual
// compilers, test runners and linters.
var failing = regexp.MustCompile(`(?i)(^|[^a-z])(fail(ed|ure|ures|s|ing)?|errors?|err!|panic(ked)?|fatal|exception|traceback|assert(ion)?|assertionerror|undefined|not ok|expected|mismatch|segmentation fault|killed|timed out|no such file|command not found)([^a-z]|$)|[a-z]Error\b|✗|✕|✘|❌|^[^ :]+:[0-9]+:`)

// telling gives at most so many lines of what a program printed, and how many
// it leaves out: of much those that say what failed with what follows them, and
// the last ones. Lines are cut to a width that a page can show.
func telling(output string, most int) (lines []string, left int) {
	lines = lastLines(output, len(output))
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
		if failing.MatchString(line) {
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

// lastLines gives the last lines of a text that have something on them.
func lastLines(text string, most int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			lines = append(lines, ansi.Truncate(line, 300, "…"))
		}
	}
	return lines[max(0, len(lines)-most):]
}
