package workspace

import (
	"github.com/reprise-ci/reprise/phases/engine"
)

// Quiet is a reporter that reports nothing, for runs that nobody watches.
type Quiet struct{}

// Report does nothing.
func (Quiet) Report(engine.Event) {}
