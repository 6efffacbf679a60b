package view

import (
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// Together says how long a run has taken, and how long it would have if nothing had been
// done at the same time, and what work has cost that was begun early and given up. It is ""
// if nothing was done at the same time, or if that saved less than a second and cost nothing.
func Together(c prompts.Catalogue, run metadata.Run) string {
	took, alone := phases.TimeTogether(run)
	saved, vain := "", ""
	if alone-took >= time.Second {
		saved = c.Shown("at once", "took", c.Duration(took), "alone", c.Duration(alone))
	}
	if usd, _ := phases.SpentInVain(run); usd > 0 {
		vain = c.Shown("in vain", "usd", text.USD(usd))
	}
	return text.Join(", ", saved, vain)
}
