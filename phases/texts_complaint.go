package phases

import (
	"regexp"
	"strings"
)

// complains begins a line in which a program says what went wrong, as pip, cargo, git and apt
// write it.
var complains = regexp.MustCompile(`^\s*(?i:(?:error|fatal)\b|E: )`)

// npm begins every line of a failure like that, the last one, too. The first says why, but for
// those that say only which call of npm's own failed.
var (
	npm      = regexp.MustCompile(`^npm (?:error|ERR!)`)
	npmsPart = regexp.MustCompile(`^npm (?:error|ERR!)(?:\s*$| (?:code|errno|syscall|path|dest|command failed)\b)`)
)

// Complaint gives the line of an output that says why its program failed: the last that begins
// as an error, behind which there may be notes, of npm's the first, else the last one.
func Complaint(output string) string {
	last := ""
	for line := range strings.Lines(strings.TrimSpace(output)) {
		said := complains.MatchString(last) || npm.MatchString(last) && !npmsPart.MatchString(last)
		switch {
		case npm.MatchString(line):
			if !npm.MatchString(last) || npmsPart.MatchString(last) {
				last = line
			}
		case complains.MatchString(line) || !said:
			last = line
		}
	}
	return strings.TrimSpace(last)
}
