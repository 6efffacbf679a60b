package phases

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// Heading names a decision as commit subjects and errors do.
func Heading(d Decision) string {
	if d.Phase == "" {
		return string(d.Do)
	}
	return d.Phase + ": " + string(d.Do)
}

// ResultLine says in a few words what came out of a decision.
func ResultLine(run metadata.Run, d Decision, o Outcome) string {
	if d.Final() {
		return d.Why.In(prompts.Words(run.Language))
	}
	if o.Status != metadata.Succeeded {
		if o.Class != "" {
			return string(o.Class)
		}
		return string(o.Code)
	}
	rec := run.Phase(d.Phase)
	switch d.Do {
	case DoReview:
		return strings.ReplaceAll(rec.ReviewResult, "_", " ")
	case DoCheck:
		if rec.ChecksFail() {
			return "fail"
		}
		return "pass"
	}
	return count(len(o.Written.Files), "artifact") + ", " + count(o.Written.Diff.Files, "file") + " changed"
}

// count prints a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
