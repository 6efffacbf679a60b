package engine

import (
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/branch"
)

// effects is what has to be committed after a decision was carried out.
type effects struct {
	outcome phases.Outcome
	files   map[string][]byte
	staged  branch.Staged   // nil: nothing
	beside  []branch.Staged // of parts whose code is in the commits of heads
	heads   []string
	take    string            // commit whose code goes to the branch; empty: none
	moves   map[string]string // of a rollback that the step led to
	back    *metadata.Rollback
}
