package report

import (
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// What is done at the same time stands above each other, and a pause is shortened.
func TestTimelineOfParts(t *testing.T) {
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	attempt := func(n int, phase string, from, to time.Duration) metadata.Attempt {
		return metadata.Attempt{N: n, Phase: phase, Step: metadata.Execute, Status: metadata.Succeeded, StartedAt: noon.Add(from), DurationMS: (to - from).Milliseconds()}
	}
	run := metadata.Run{
		Phases: metadata.Phases{{Name: "code.t1", Task: "t1"}, {Name: "code.t2", Task: "t2"}, {Name: "code"}},
		Attempts: []metadata.Attempt{
			attempt(1, "code.t1", 0, 40*time.Second), attempt(2, "code.t2", 10*time.Second, 30*time.Second),
			attempt(3, "code", time.Hour, time.Hour+40*time.Second),
		},
	}
	plan := progresstest.Plays(t, "en")["begun"].Plan
	all := words{prompts.Words("en"), view.StateOf(phases.On(plan, run))}.timeline()
	at := map[int]bar{}
	for _, l := range all.Lanes {
		for _, b := range l.Bars {
			at[b.N] = b
		}
	}
	// 40 s, of the pause a fiftieth of the work of 100 s, and 40 s come to 82 s.
	for n, want := range map[int]bar{1: {X: "0.0", Width: "487.8"}, 2: {X: "122.0", Width: "243.9"}, 3: {X: "512.2", Width: "487.8"}} {
		if at[n].X != want.X || at[n].Width != want.Width {
			t.Errorf("attempt %d is at %s, as wide as %s; want %s and %s", n, at[n].X, at[n].Width, want.X, want.Width)
		}
	}
	if !all.End.After(all.Begin) {
		t.Errorf("it is from %s to %s", all.Begin, all.End)
	}
}

// Why a phase was left out is a paragraph of its lane: beside the time, which does not
// break, it would be wider than a phone.
func TestTimelineOfAPhaseThatIsLeftOut(t *testing.T) {
	play := progresstest.Plays(t, "en")["middle"]
	run, last := play.Run, len(play.Run.Phases)-1
	why := metadata.Because("skip_if_holds", "facts", strings.Repeat("folder/", 20))
	run = phases.LeaveOut(run, run.Phases[last].Name, why, run.UpdatedAt)
	said := why.In(prompts.Words("en"))
	all := words{prompts.Words("en"), view.StateOf(play.With(run))}.timeline().Lanes
	if got := all[len(all)-1]; got.Left != said || strings.Contains(got.Took, "left out") {
		t.Errorf("the lane of %s says %q beside it and %q below; want %q below", got.Phase, got.Took, got.Left, said)
	}
	page := pageOf(t, Facts{Plan: play.Plan, Run: run})
	if !strings.Contains(page, `<p class="left faint">left out, as skip_if holds`) {
		t.Error("the page does not say it below the lane")
	}
}
