// Package message is what the commits of a run say.
package message

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/texts"
)

// Commit is what a commit message says. What is empty or zero is left out.
type Commit struct {
	Subject, Why string // may be text from outside: GitHub acts on nothing in them
	Phase, Step  string
	Attempt      int
	USD          float64 // of the attempt
}

// Text gives the whole commit message of a run, with the trailers that tools read.
func (m Commit) Text(run metadata.Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "reprise: %s\n\n", texts.NoDirectives(texts.Truncate(texts.Valid(m.Subject))))
	if m.Why != "" {
		fmt.Fprintf(&b, "%s\n\n", texts.NoTrailers(texts.NoDirectives(texts.Valid(m.Why))))
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
