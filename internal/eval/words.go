package eval

import (
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// mostSaid is how much of the output of a command is quoted, in terminal cells.
const mostSaid = 200

// lastOf quotes of what a command printed the first line that speaks of a failure, else
// the last one.
func lastOf(r metadata.CheckResult) string {
	said := ""
	for line := range strings.Lines(r.Output) {
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
	return text.Cut(said, mostSaid)
}
