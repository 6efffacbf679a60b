package page

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// What went wrong beside a run is in the comment that calls people, and nobody is asked to
// merge a pull request that is not there.
func TestNoticeWarns(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	const why = "open the pull request: it is not allowed"
	p.Run.PRNumber, p.Run.PRURL = 0, ""
	got := Notice(sampleMarker, []string{"hana"}, p.Plan, p.Run, Notices{Warnings: []string{why}})
	for _, want := range []string{"@hana **✅ Completed**", "> [!WARNING]\n> " + why, "`/rollback PHASE REASON`"} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "merge") || strings.Index(got, why) > strings.Index(got, "/rollback") {
		t.Errorf("it reads\n%s", got)
	}
}

// People are told of a job that was told to stop, once; not where a person has cancelled the run.
func TestStopOfInterrupted(t *testing.T) {
	p := progresstest.Plays(t, "en")["middle"]
	run := phases.Interrupt(p.Run, p.At)
	stop, ok := StopOf(run)
	if !ok || !strings.HasPrefix(stop.Key, "cancelled-") || !stop.At.Equal(p.At) {
		t.Errorf("the stop is %+v, %t", stop, ok)
	}
	run.Status = metadata.Cancelled
	if _, ok := StopOf(run); ok {
		t.Error("who has cancelled the run is told so")
	}
}
