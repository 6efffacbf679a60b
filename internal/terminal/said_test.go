package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// Why a program breaks is said where it does so first: not again below that, in the next tries, or where the run stops.
func TestAReasonIsSaidOnce(t *testing.T) {
	plan := &pipelines.Pipeline{Phases: []pipelines.Phase{{Name: "design"}}}
	why := metadata.Because("agent_broke", "agent", "sh", "error", metadata.Said("it ended: the thing broke"))
	run := metadata.Run{Status: metadata.Running, Phases: []metadata.Phase{{Name: "design"}}}
	var log []string
	tell := func(e engine.Event) {
		for _, n := range newsOf(plan, e) {
			log = append(log, plainLines(n, plan, text.Palette(false), false)...)
		}
	}
	for n := range 3 {
		run.Attempts = append(run.Attempts, metadata.Attempt{N: n + 1, Phase: "design", Step: metadata.Execute, Status: metadata.Errored, Why: why})
		tell(engine.Event{
			Run: run, Of: phases.Decision{Do: phases.DoExecute, Phase: "design", Delay: time.Duration(n) * time.Second},
			Done: &phases.Outcome{Status: metadata.Errored, Code: metadata.AgentFailed, Class: metadata.Crash, Why: why, Stderr: "first\nthe thing broke\n"},
		})
	}
	run = phases.Halt(run, metadata.AgentFailed, metadata.All(why), run.UpdatedAt)
	stop := engine.Event{Run: run, Of: phases.Decision{Do: phases.DoFail, Phase: "design"}, Done: &phases.Outcome{}}
	tell(stop)
	said := strings.Join(log, "\n")
	if strings.Count(said, "the thing broke") != 1 || strings.Count(said, "crash, as before") != 2 || !strings.Contains(said, "| first") {
		t.Errorf("the log says\n%s", said)
	}
	stop.Run.Attempts = nil
	if live := (&screen{Options: Options{Plan: plan}}).take(stop); len(live) != 1 || strings.Contains(live[0], "the thing broke") {
		t.Errorf("above the picture it says %q", live)
	}
	if got := newsOf(plan, stop); len(got) != 1 || !strings.Contains(got[0].Why, "the thing broke") {
		t.Errorf("programs are told %+v", got)
	}
}
