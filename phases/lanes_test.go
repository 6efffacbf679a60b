package phases

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// inParts gives a run whose phase is done in parts, from lines such as "t1 a.go b needs t2".
func inParts(t *testing.T, tasks ...string) (*pipelines.Pipeline, metadata.Run) {
	t.Helper()
	step := pipelines.Step{Agent: "own"}
	plan := &pipelines.Pipeline{Name: "p", Agents: map[string]pipelines.Agent{"own": {Use: "command"}}, Phases: []pipelines.Phase{
		{Name: "code", Folder: "00_code", Writes: "code.md", Access: pipelines.AccessTree, Revisions: 1, Execute: step, Review: step, Revise: step},
	}}
	run := metadata.Run{Status: metadata.Running}
	for _, task := range tasks {
		words := strings.Fields(task)
		one := metadata.Task{ID: words[0], Phase: "plan", Title: words[0], Goal: "G"}
		for i, w := range words[1:] {
			if w == "needs" {
				one.Needs = words[i+2:]
				break
			}
			one.Files = append(one.Files, w)
		}
		run.Tasks = append(run.Tasks, one)
		run.Phases = append(run.Phases, metadata.Phase{Name: "code." + one.ID, Task: one.ID, Status: metadata.PhasePending})
	}
	run.Phases = append(run.Phases, metadata.Phase{Name: "code", Status: metadata.PhasePending})
	return plan, run
}

// all begins what may begin, as calls that do not end, and names it.
func all(plan *pipelines.Pipeline, run metadata.Run, jobs int) string {
	var at []Decision
	var names []string
	for {
		d, ok := NextForLane(On(plan, run), at, jobs)
		if !ok {
			return strings.Join(names, " ")
		}
		at, names = append(at, d), append(names, strings.TrimPrefix(d.Phase, "code.")+":"+string(d.Do))
	}
}

func TestWhatBeginsTogether(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tasks []string
		jobs  int
		want  string
	}{
		{"no more than jobs", []string{"t1 a", "t2 b", "t3 c"}, 2, "t1:execute t2:execute"},
		{"one after another", []string{"t1 a", "t2 b"}, 1, "t1:execute"},
		{"the same file", []string{"t1 a b", "t2 b", "t3 c"}, 4, "t1:execute t3:execute"},
		{"a folder and a file in it", []string{"t1 a/", "t2 a/b.go", "t3 ab.go"}, 4, "t1:execute t3:execute"},
		{"without files, alone", []string{"t1", "t2 b", "t3 c"}, 4, "t1:execute"},
		{"without files, not beside others", []string{"t1 a", "t2", "t3 c"}, 4, "t1:execute t3:execute"},
		{"what is needed first", []string{"t1 a", "t2 b needs t1", "t3 c"}, 4, "t1:execute t3:execute"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, run := inParts(t, tt.tasks...)
			testenv.Is(t, "there begin", all(plan, run, tt.jobs), tt.want)
		})
	}
}

// What is done goes to the branch first, one part after the other, and takes no job. Its
// files are free only then.
func TestIntegrationComesFirst(t *testing.T) {
	plan, run := inParts(t, "t1 a", "t2 b", "t3 c", "t4 a")
	for i := range 2 {
		run.Phases[i].Status, run.Phases[i].CurrentStep = metadata.PhaseInProgress, metadata.Integrate
		run.Phases[i].Lane = &metadata.Lane{Base: strings.Repeat("a", 40), Head: strings.Repeat("b", 40)}
	}
	testenv.Is(t, "there begin", all(plan, run, 1), "t1:integrate t3:execute")
	// A part that waits for a person keeps nobody from its files.
	run.Phases[0].Lane.Conflict = &metadata.Conflict{Paths: []string{"a"}, Person: true}
	testenv.Is(t, "there begin", all(plan, run, 4), "t2:integrate t3:execute t4:execute")
}

// Calls at work and the next one never may spend more than is left.
func TestSharesOfTheBudget(t *testing.T) {
	_, run := inParts(t, "t1 a")
	run.Budget = metadata.Budget{USD: 4, Tokens: 401, Seconds: 40}
	var held []BudgetShare
	for free := 4; free > 0; free-- {
		seen, share, ok := ShareOf(run, held, free)
		if !ok || share.USD != 1 || share.Tokens < 100 || share.Seconds != 10 || RemainingUSD(seen) != 1 || RemainingTime(seen) != 10*time.Second {
			t.Errorf("with %d free it gets %+v (%v) of %+v", free, share, ok, seen.Budget)
		}
		held = append(held, share)
	}
	if _, share, ok := ShareOf(run, held, 1); ok {
		t.Errorf("there is nothing left, and it gets %+v", share)
	}
	run.Cost.USD = 3.99
	if _, share, ok := ShareOf(run, nil, 4); !ok || share.USD > 0.011 || share.USD <= 0.009 {
		t.Errorf("what is left is too little for four, and one alone gets %+v (%v)", share, ok)
	}
	seen, _, _ := ShareOf(run, nil, 1)
	if reached, _ := LimitReached(WithUsage(seen, metadata.Usage{USD: 0.011})); reached != LimitUSD {
		t.Errorf("a call that has spent its share goes on (%q)", reached)
	}
	run.Budget = metadata.Budget{}
	if seen, share, ok := ShareOf(run, held, 2); !ok || share != (BudgetShare{}) || seen.Budget != (metadata.Budget{}) {
		t.Errorf("without a limit it gets %+v (%v)", share, ok)
	}
}

// In whatever order calls are over, the same parts come to the same, each step once, and
// nobody works beside a part with the same files.
func TestAnyOrderComesToTheSame(t *testing.T) { inAnyOrder(t, 200) }

// inAnyOrder draws the orders of as many runs.
func inAnyOrder(t *testing.T, runs uint64) {
	for seed := range runs {
		dice := rand.New(rand.NewPCG(seed, 1))
		plan, run := inParts(t, "t1 a", "t2 b needs t1", "t3 b/c", "t4", "t5 d")
		var at []Decision
		jobs := 1 + dice.IntN(4)
		for steps := 0; ; steps++ {
			if d, ok := NextForLane(On(plan, run), at, jobs); ok && dice.IntN(3) > 0 {
				run = Begin(run, d, Beginning{At: noon, Base: strings.Repeat("a", 40), Beside: true})
				for _, other := range at {
					if d.Do == DoExecute && partsOverlap(files(&run, run.Phase(d.Phase)), files(&run, run.Phase(other.Phase))) {
						t.Fatalf("seed %d: %s works beside %s", seed, d.Phase, other.Phase)
					}
				}
				at = append(at, d)
				continue
			} else if !ok && len(at) == 0 {
				break
			}
			if len(at) > 0 {
				i := dice.IntN(len(at))
				before := run
				run = Apply(On(plan, run), at[i], outcome(at[i]))
				if err := metadata.CheckNext(before, run); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				at = slices.Delete(at, i, i+1)
			}
			if steps > 1000 {
				t.Fatalf("seed %d: it does not end: %+v", seed, run.Phases)
			}
		}
		done := map[string]int{}
		for _, a := range run.Attempts {
			done[fmt.Sprint(a.Phase, " ", a.Step, " ", a.Status)]++
		}
		for _, p := range run.Phases[:5] {
			if p.Status != metadata.PhaseCompleted || p.Lane != nil {
				t.Fatalf("seed %d: %s is %s, %+v", seed, p.Name, p.Status, p.Lane)
			}
			for _, step := range []string{"execute", "review", "integrate"} {
				if n := done[p.Name+" "+step+" succeeded"]; n != 1 {
					t.Fatalf("seed %d: %s %s was done %d times", seed, p.Name, step, n)
				}
			}
		}
	}
}

// outcome is what a step comes to where all goes well.
func outcome(d Decision) Outcome {
	o := Outcome{At: noon, Status: metadata.Succeeded}
	switch d.Do {
	case DoReview:
		o.Verdict = &metadata.Verdict{Verdict: metadata.Pass}
	case DoExecute:
		o.Head = strings.Repeat("b", 40)
		fallthrough
	default:
		o.Written = &Written{Digest: "d", Files: []string{"code.md"}}
	}
	return o
}

// A part that has not begun says what it waits for, if that is more than a free job.
func TestWaits(t *testing.T) {
	plan, run := inParts(t, "t1 a", "t2 b needs t1", "t3 a/c", "t4 d")
	d, _ := NextForLane(On(plan, run), nil, 2)
	waits := func() (out []string) {
		for i := range run.Phases {
			if why := WhyLaneWaits(On(plan, run), &run.Phases[i]); why != "" {
				out = append(out, run.Phases[i].Name+" "+why.Code())
			}
		}
		return out
	}
	if got, want := waits(), []string{"code.t2 part_needs"}; !slices.Equal(got, want) {
		t.Errorf("at first %q, want %q", got, want)
	}
	run = Begin(run, d, Beginning{At: noon, Base: strings.Repeat("a", 40), Beside: true})
	if got, want := waits(), []string{"code.t2 part_needs", "code.t3 part_shares"}; !slices.Equal(got, want) {
		t.Errorf("with the first at work %q, want %q", got, want)
	}
	run.Phase("code.t1").Status, run.Phase("code.t1").Lane = metadata.PhaseCompleted, nil
	if got := waits(); got != nil {
		t.Errorf("once it is in %q", got)
	}
}
