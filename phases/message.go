package phases

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
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
	fmt.Fprintf(&b, "reprise: %s\n\n", NoDirectives(TruncateText(ValidText(m.Subject))))
	if m.Why != "" {
		fmt.Fprintf(&b, "%s\n\n", NoTrailers(NoDirectives(ValidText(m.Why))))
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
