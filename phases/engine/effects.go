package engine

import (
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// effects is what has to be committed after a decision was carried out.
type effects struct {
	outcome phases.Outcome
	files   map[string][]byte
	staged  StagedTree   // nil: nothing
	beside  []StagedTree // of parts whose code is in the commits of heads
	heads   []string
	take    string            // commit whose code goes to the branch; empty: none
	moves   map[string]string // of a rollback that the step led to
	back    *metadata.Rollback
}
