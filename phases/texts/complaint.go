package texts

import (
	"regexp"
	"strings"
)

// complains begins a line in which a program says what went wrong, as pip, cargo, git and apt
// write it.
var complains = regexp.MustCompile(`^\s*(?i:(?:error|fatal)\b|E: )`)

// Complaint gives the line of an output that says why its program failed: the last that begins
// as an error, behind which there may be notes, else the last one.
func Complaint(output string) string {
	last := ""
	for line := range strings.Lines(strings.TrimSpace(output)) {
		if complains.MatchString(line) || last == "" || !complains.MatchString(last) {
			last = line
		}
	}
	return strings.TrimSpace(last)
}
