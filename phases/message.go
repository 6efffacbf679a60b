package phases

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// heading names a decision the way commit subjects and errors do.
func heading(d Decision) string {
	if d.Phase == "" {
		return string(d.Do)
	}
	return d.Phase + ": " + string(d.Do)
}

// result says in a few words what came out of a decision.
func result(run metadata.Run, d Decision, o Outcome) string {
	if d.Final() {
		return Say(run.Language, d.Why)
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
		if checkFails(rec) {
			return "fail"
		}
		return "pass"
	}
	return count(len(o.Written.Files), "artifact") + ", " + count(o.Written.Diff.Files, "file") + " changed"
}

// message is a commit message with the trailers that tools read. The step is
// the last argument where there is one. Subject and why may be text from
// outside: GitHub acts on nothing in them.
func message(run metadata.Run, subject, why, phase string, attempt int, cost float64, step ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "reprise: %s\n\n", inert(oneLine(clean(subject))))
	if why != "" {
		fmt.Fprintf(&b, "%s\n\n", indentTrailers(inert(clean(why))))
	}
	fmt.Fprintf(&b, "Reprise-Issue: %s\n", run.IssueNumber)
	if phase != "" {
		fmt.Fprintf(&b, "Reprise-Phase: %s\n", phase)
	}
	if len(step) > 0 && step[0] != "" {
		fmt.Fprintf(&b, "Reprise-Step: %s\n", step[0])
	}
	if attempt > 0 {
		fmt.Fprintf(&b, "Reprise-Attempt: %d\nReprise-Cost: %.4f\n", attempt, cost)
	}
	return b.String()
}

// What GitHub acts on in a message: references, which may close an issue once
// the commit is merged, mentions, and words that keep workflows from starting.
var (
	reference = regexp.MustCompile(`(?i)(#|\bgh-|/(?:issues|pulls?|discussions)/)([0-9])`)
	mention   = regexp.MustCompile(`@([A-Za-z0-9])`)
	noChecks  = regexp.MustCompile(`(?i)\[(skip ci|ci skip|no ci|skip actions|actions skip)\]`)
	noChecks2 = regexp.MustCompile(`(?i)skip-checks`)
)

// inert breaks up what GitHub would act on, and leaves it readable.
func inert(s string) string {
	s = reference.ReplaceAllString(s, "$1 $2")
	s = mention.ReplaceAllString(s, "@ $1")
	s = noChecks.ReplaceAllString(s, "($1)")
	return noChecks2.ReplaceAllString(s, "skip checks")
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 90 {
		return string(r[:90]) + "…"
	}
	return s
}

// indentTrailers keeps text from outside from looking like our trailers.
func indentTrailers(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range lines {
		if strings.HasPrefix(strings.ToLower(l), "reprise-") {
			lines[i] = "  " + l
		}
	}
	return strings.Join(lines, "\n")
}
