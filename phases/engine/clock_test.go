package engine

import (
	"testing"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// A clock that goes back, or far ahead, while a run is at work stops nothing,
// and no step takes less than no time.
func TestClockIsPutRight(t *testing.T) {
	for name, jump := range map[string]time.Duration{"back": -time.Hour, "ahead": 1000 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, testPlan())
			asked, clock := 0, t0
			s.engine.Now = func() time.Time {
				asked++
				if clock = clock.Add(time.Second); asked%3 == 0 {
					clock = clock.Add(jump)
				}
				return clock
			}
			run := s.goOn(t.Context())
			if run.Status != metadata.Completed {
				t.Errorf("the run is %s: %+v", run.Status, run.Stop)
			}
			for _, a := range run.Attempts {
				if a.DurationMS < 0 {
					t.Errorf("attempt %d took %d ms", a.N, a.DurationMS)
				}
			}
		})
	}
}
