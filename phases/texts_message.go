package phases

import (
	"regexp"
	"strings"
)

// What GitHub acts on in a message: references, which may close an issue once
// the commit is merged, mentions, and words that keep workflows from starting.
var (
	reference = regexp.MustCompile(`(?i)(#|\bgh-|/(?:issues|pulls?|discussions)/)([0-9])`)
	mention   = regexp.MustCompile(`@([A-Za-z0-9])`)
	noChecks  = regexp.MustCompile(`(?i)\[(skip ci|ci skip|no ci|skip actions|actions skip)\]`)
	noChecks2 = regexp.MustCompile(`(?i)skip-checks`)
)

// NoDirectives breaks up what GitHub would act on in a commit message, and leaves it readable.
func NoDirectives(s string) string {
	s = reference.ReplaceAllString(s, "$1 $2")
	s = mention.ReplaceAllString(s, "@ $1")
	return NoSkips(s)
}

// NoSkips breaks up the words in a commit message that keep workflows from starting, and leaves
// them readable and as long as they were.
func NoSkips(s string) string {
	s = noChecks.ReplaceAllString(s, "($1)")
	return noChecks2.ReplaceAllString(s, "skip checks")
}

// NoTrailers keeps text from outside from looking like the trailers of a run.
func NoTrailers(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range lines {
		if strings.HasPrefix(strings.ToLower(l), "reprise-") {
			lines[i] = "  " + l
		}
	}
	return strings.Join(lines, "\n")
}
