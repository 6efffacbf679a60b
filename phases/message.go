package phases

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// CommitMessage is what a commit message says. What is empty or zero is left out.
type CommitMessage struct {
	Subject, Why string // may be text from outside: GitHub acts on nothing in them
	Phase, Step  string
	Attempt      int
	USD          float64 // of the attempt
}

// Text gives the whole commit message of a run, with the trailers that tools read.
func (m CommitMessage) Text(run metadata.Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "reprise: %s\n\n", noDirectives(TruncateText(ValidText(m.Subject))))
	if m.Why != "" {
		fmt.Fprintf(&b, "%s\n\n", noTrailers(noDirectives(ValidText(m.Why))))
	}
	fmt.Fprintf(&b, "Reprise-Issue: %s\n", run.IssueNumber)
	if m.Phase != "" {
		fmt.Fprintf(&b, "Reprise-Phase: %s\n", m.Phase)
	}
	if m.Step != "" {
		fmt.Fprintf(&b, "Reprise-Step: %s\n", m.Step)
	}
	if m.Attempt > 0 {
		fmt.Fprintf(&b, "Reprise-Attempt: %d\nReprise-Cost: %.4f\n", m.Attempt, m.USD)
	}
	return b.String()
}

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
	if d.Do == DoReview || d.Do == DoCheck {
		return strings.ReplaceAll(string(AttemptOf(&run, d.Phase).Verdict), "_", " ")
	}
	return text.Plural(len(o.Written.Files), "artifact") + ", " + text.Plural(o.Written.Diff.Files, "file") + " changed"
}

// What GitHub acts on in a message: references, which may close an issue once
// the commit is merged, mentions, and words that keep workflows from starting.
var (
	reference = regexp.MustCompile(`(?i)(#|\bgh-|/(?:issues|pulls?|discussions)/)([0-9])`)
	mention   = regexp.MustCompile(`@([A-Za-z0-9])`)
	noChecks  = regexp.MustCompile(`(?i)\[(skip ci|ci skip|no ci|skip actions|actions skip)\]`)
	noChecks2 = regexp.MustCompile(`(?i)skip-checks`)
)

// noDirectives breaks up what GitHub would act on in a commit message, and leaves it readable.
func noDirectives(s string) string {
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

// noTrailers keeps text from outside from looking like the trailers of a run.
func noTrailers(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range lines {
		if strings.HasPrefix(strings.ToLower(l), "reprise-") {
			lines[i] = "  " + l
		}
	}
	return strings.Join(lines, "\n")
}
