package progress

import (
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/lanes"
	"github.com/reprise-ci/reprise/prompts"
)

// Together says how long a run has taken, and how long it would have if nothing had been
// done at the same time. It is "" if nothing was, or if that saved less than a second.
func Together(c prompts.Catalogue, run metadata.Run) string {
	took, alone := lanes.Together(run)
	if alone-took < time.Second {
		return ""
	}
	return c.Shown("at once", "took", c.Duration(took), "alone", c.Duration(alone))
}
