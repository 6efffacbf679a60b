package report

import (
	"time"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Facts are what a page tells.
type Facts struct {
	Plan *pipelines.Pipeline // may be nil
	Run  metadata.Run
	// Issue is the text that the run works on.
	Issue string
	// Whole is what the run has changed, as one patch at most.
	Whole []Change
	// Changes are what the commits of attempts changed, in their order.
	Changes []Change
	// NoChanges says that the commits could not be read.
	NoChanges bool
	// Transcripts are what was said in attempts, by their numbers, as far as it is known.
	Transcripts map[int][]agents.Entry
	At          time.Time // when the page is made
}

// Change is what the commit of an attempt changed.
type Change struct {
	Attempt int
	Commit  string
	Patch   string // as git diff prints it
	Cut     bool   // the end of the patch is missing
}
