package agents

import (
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
)

// mostWords is how much of a line is quoted, in terminal cells.
const mostWords = 200

// LastWords quotes one line of what a command printed: the first that speaks of a failure, else
// the last one.
func LastWords(output string) string {
	said := ""
	for line := range strings.Lines(output) {
		if line = text.Flat(line); line == "" {
			continue
		}
		said = line
		if small := strings.ToLower(line); strings.Contains(small, "fail") || strings.Contains(small, "error") || strings.HasPrefix(small, "not ok") {
			break
		}
	}
	if said == "" {
		return "it printed nothing"
	}
	return text.Cut(said, mostWords)
}
