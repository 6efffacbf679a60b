package git

import (
	"fmt"

	"github.com/reprise-ci/reprise/internal/text"
)

// Moved says that the branch went on elsewhere in a way that cannot be joined
// with what is here. Nothing was lost: Local stays as it was.
type Moved struct {
	Branch string
	Local  string // commit
	Other  string // commit
	Where  string // where Other is: "origin", or "this repository"
	Why    text.Cause
	Run    bool // it is the run itself with which somebody went on
}

// Error names both commits.
func (e *Moved) Error() string {
	return fmt.Sprintf("branch %s moved: it is at %s in %s and at %s in this run: %s",
		e.Branch, short(e.Other), e.Where, short(e.Local), e.Why)
}

func short(commit string) string { return commit[:min(12, len(commit))] }
