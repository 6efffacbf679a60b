package view_test

import (
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
)

// What is left is what the phases took in the middle one of three earlier runs.
func TestLeft(t *testing.T) {
	done := func(minutes int) metadata.Run {
		run := progresstest.Plays(t, "en")["completed"].Run
		run.Attempts = nil
		for _, p := range run.Phases {
			run.Attempts = append(run.Attempts, metadata.Attempt{Phase: p.Name, Step: metadata.Execute, DurationMS: int64(minutes) * 60_000})
		}
		return run
	}
	at := progresstest.Plays(t, "en")["middle"]
	spent := view.RowOf(view.RowsOf(at.Plan, at.Run), "implementation").Took
	earlier := []metadata.Run{done(30), done(4), done(3)}
	if got, want := view.Remaining(at.Plan, at.Run, earlier), 6*4*time.Minute-spent; got != want {
		t.Errorf("%s are left, want %s: six phases of ten, and %s spent on one", got, want, spent)
	}
	other, failed, short := done(4), done(4), done(4)
	other.Pipeline.Name, failed.Status, short.Phases = "fix", metadata.Failed, short.Phases[:8]
	for name, all := range map[string][]metadata.Run{
		"two":             earlier[:2],
		"another":         {earlier[0], earlier[1], other},
		"failed":          {earlier[0], earlier[1], failed},
		"a phase unknown": {short, short, short},
	} {
		if got := view.Remaining(at.Plan, at.Run, all); got != 0 {
			t.Errorf("%s: %s are left", name, got)
		}
	}
	stopped := progresstest.Plays(t, "en")["failed"]
	if got := view.Remaining(stopped.Plan, stopped.Run, earlier); got != 0 {
		t.Errorf("a run that has stopped goes on for %s", got)
	}
}
