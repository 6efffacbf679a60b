package phases

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// pipeline gives phases from lines such as "tests needs code" and a record of them. A
// phase with a star is one that a rule has put in, one with a minus was left out, and
// "code.t1" is a part.
func pipeline(parallel bool, phases ...string) (*pipelines.Pipeline, metadata.Run) {
	plan, run := &pipelines.Pipeline{Parallel: parallel}, metadata.Run{}
	for _, phase := range phases {
		words := strings.Fields(phase)
		name, spare := strings.CutSuffix(words[0], "*")
		name, skipped := strings.CutSuffix(name, "-")
		rec := metadata.Phase{Name: name, Status: metadata.PhasePending}
		if skipped {
			rec.Status = metadata.PhaseSkipped
		}
		if whole, part, is := strings.Cut(name, "."); is {
			rec.Task = part
			run.Tasks = append(run.Tasks, metadata.Task{ID: part, Phase: whole})
		}
		run.Phases = append(run.Phases, rec)
		one := pipelines.Phase{Name: name}
		if len(words) > 2 {
			one.Needs = words[2:]
		}
		switch {
		case spare:
			plan.Spare = append(plan.Spare, one)
		case rec.Task == "":
			plan.Phases = append(plan.Phases, one)
		}
	}
	return plan, run
}

func TestWhatComesBefore(t *testing.T) {
	for _, tt := range []struct {
		name     string
		parallel bool
		phases   []string
		of, want string
	}{
		{"one after the other, all before it", false, []string{"a", "b", "c needs a", "d"}, "c", "a b"},
		{"side by side, what it needs", true, []string{"a", "b", "c needs a", "d"}, "c", "a"},
		{"and what that needs", true, []string{"a", "b needs a", "x needs a", "c needs b"}, "c", "a b"},
		{"nothing, if it needs nothing", true, []string{"a", "b"}, "b", ""},
		{"its own parts", true, []string{"a", "code.t1", "code.t2", "code needs a", "b"}, "code", "a code.t1 code.t2"},
		{"what their phase needs, not the other parts", true, []string{"a", "x", "code.t1", "code.t2", "code needs a"}, "code.t2", "a"},
		{"the whole of what is in parts", true, []string{"code.t1", "code", "b needs code"}, "b", "code code.t1"},
		{"through one that was left out", true, []string{"a", "b- needs a", "c needs b"}, "c", "a b"},
		{"all before what a rule has put in", true, []string{"a", "b", "mend*", "c needs a"}, "mend", "a b"},
		{"what a rule has put in, and all before that", true, []string{"a", "b", "mend*", "c needs a"}, "c", "a b mend"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, run := pipeline(tt.parallel, tt.phases...)
			if got := strings.Join(slices.Sorted(maps.Keys(undoneBefore(On(plan, run), tt.of))), " "); got != tt.want {
				t.Errorf("before %s come %q, want %q", tt.of, got, tt.want)
			}
		})
	}
}

// Where the code goes back, work of a phase beside it goes, too, if it was done later. To
// run checks again is no such work.
func TestWhatGoesBackWithIt(t *testing.T) {
	plan, run := pipeline(true, "a", "b needs a", "c needs a", "d needs c")
	for i, step := range []string{"a execute", "b execute", "c execute", "b revise", "a check"} {
		phase, step, _ := strings.Cut(step, " ")
		run.Attempts = append(run.Attempts, metadata.Attempt{N: i + 1, Phase: phase, Step: metadata.Step(step)})
	}
	for codeToo, want := range map[bool]string{false: "d", true: "b d"} {
		var got []string
		for _, rec := range phasesNeeding(On(plan, run), run.Phase("c"), codeToo) {
			got = append(got, rec.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("with the code %v: %q goes back with c, want %q", codeToo, got, want)
		}
	}
	plan.Parallel = false
	if got := phasesNeeding(On(plan, run), run.Phase("c"), true); len(got) != 1 || got[0].Name != "d" {
		t.Errorf("one after the other %d phases go back with c, want d alone", len(got))
	}
}

// A phase that was begun beside others may be done so, whatever the pipeline says by now.
func TestBeside(t *testing.T) {
	for _, tt := range []struct {
		plan pipelines.Pipeline
		rec  metadata.Phase
		want bool
	}{
		{pipelines.Pipeline{}, metadata.Phase{Name: "a"}, false},
		{pipelines.Pipeline{Parallel: true}, metadata.Phase{Name: "a"}, true},
		{pipelines.Pipeline{}, metadata.Phase{Name: "a.t1", Task: "t1"}, true},
		{pipelines.Pipeline{}, metadata.Phase{Name: "a", Lane: &metadata.Lane{}}, true},
	} {
		if got := PhasesBeside(&tt.plan, &tt.rec); got != tt.want {
			t.Errorf("%+v, parallel: %v: %v, want %v", tt.rec, tt.plan.Parallel, got, tt.want)
		}
	}
}

// What is at work at the same time comes to the branch as it ends.
func TestWhatEndedLaterGoesBack(t *testing.T) {
	plan, run := pipeline(true, "a", "b", "c", "d")
	for i, phase := range []string{"a", "b", "c", "d"} {
		ended := time.Date(2026, 1, 2, 3, []int{20, 10, 30, 20}[i], 0, 0, time.UTC)
		run.Attempts = append(run.Attempts, metadata.Attempt{N: i + 1, Phase: phase, Step: metadata.Execute, EndedAt: &ended})
	}
	for target, want := range map[string]string{"a": "c d", "b": "a c d", "c": "", "d": "a c"} {
		var got []string
		for _, rec := range phasesNeeding(On(plan, run), run.Phase(target), true) {
			got = append(got, rec.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("with the code of %s go back %q, want %q", target, got, want)
		}
	}
}
