package phases

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// sideBySide gives a run of phases from lines such as "tests tree needs code", of which
// some are done.
func sideBySide(done string, lines ...string) (*pipelines.Pipeline, metadata.Run) {
	step := pipelines.Step{Agent: "own"}
	plan := &pipelines.Pipeline{Name: "p", Parallel: true, Agents: map[string]pipelines.Agent{"own": {Use: "command"}}}
	run := metadata.Run{Status: metadata.Running}
	for _, line := range lines {
		words := strings.Fields(line)
		p := pipelines.Phase{Name: words[0], Folder: words[0], Writes: "a.md", Access: pipelines.AccessArtifacts, Revisions: 1, Execute: step, Review: step, Revise: step}
		if slices.Contains(words, "tree") {
			p.Access = pipelines.AccessTree
		}
		if at := slices.Index(words, "needs"); at > 0 {
			p.Needs = words[at+1:]
		}
		plan.Phases = append(plan.Phases, p)
		rec := metadata.Phase{Name: p.Name, Status: metadata.PhasePending}
		if slices.Contains(strings.Fields(done), p.Name) {
			rec.Status = metadata.PhaseCompleted
		}
		run.Phases = append(run.Phases, rec)
	}
	return plan, run
}

func TestWhichPhasesBeginTogether(t *testing.T) {
	for _, tt := range []struct {
		name, done string
		phases     []string
		want       string
	}{
		{"none beside, so on the branch", "", []string{"plan", "code tree needs plan"}, ""},
		{"two that need the same", "code", []string{"code tree", "tests tree needs code", "docs needs code", "report needs tests docs"}, "tests:execute docs:execute"},
		{"one alone changes code", "", []string{"a tree", "b tree", "c"}, "a:execute c:execute"},
		{"two that change code are not beside each other", "", []string{"a tree", "b tree"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, run := sideBySide(tt.done, tt.phases...)
			testenv.Is(t, "there begin", all(plan, run, 4), tt.want)
		})
	}
}

// A phase that waits for a person halts those that need it, and no others.
func TestHaltedPhase(t *testing.T) {
	plan, run := sideBySide("code", "code tree", "tests tree needs code", "docs needs code", "site needs docs", "report needs tests site")
	at := noon
	run.Questions = []metadata.Question{{ID: "q1", Phase: "docs", Text: "Which?", AskedAt: at}}
	rec := run.Phase("docs")
	rec.Status, rec.CurrentStep = metadata.PhaseInProgress, metadata.Execute
	if d := Decide(On(plan, run)); d.Phase != "tests" || d.Do != DoExecute {
		t.Errorf("next is %s of %s, want execute of tests", d.Do, d.Phase)
	}
	if halts := Halts(On(plan, run)); len(halts) != 1 || halts[0].Phase != "docs" || halts[0].Code != metadata.AwaitingPerson {
		t.Errorf("halted are %+v, want docs alone", halts)
	}
	run.Phase("tests").Status = metadata.PhaseCompleted
	if d := Decide(On(plan, run)); d.Phase != "docs" || d.Code != metadata.AwaitingPerson {
		t.Errorf("with nothing else to do it is %s at %s, want that docs waits", d.Do, d.Phase)
	}
}

// In whatever order calls are over, every phase is done once, and after all that it needs.
func TestPhasesInAnyOrder(t *testing.T) {
	for seed := range uint64(200) {
		dice := rand.New(rand.NewPCG(seed, 2))
		plan, run := sideBySide("", "plan", "code tree needs plan", "tests tree needs code", "docs needs code", "audit needs plan", "report needs tests docs audit")
		var at []Decision
		jobs := 1 + dice.IntN(4)
		for steps := 0; run.Status == metadata.Running; steps++ {
			if steps > 1000 {
				t.Fatalf("seed %d: it does not end: %+v", seed, run.Phases)
			}
			d, ok := NextForLane(On(plan, run), at, jobs)
			if !ok && len(at) == 0 { // on the branch
				if d = Decide(On(plan, run)); !d.Final() {
					run = Begin(run, d, Beginning{At: noon, Base: strings.Repeat("a", 40)})
				}
				o := outcome(d)
				o.Head = ""
				run = Apply(On(plan, run), d, o)
				continue
			}
			if ok && dice.IntN(3) > 0 {
				for _, need := range plan.Phase(d.Phase).Needs {
					if run.Phase(need).Status != metadata.PhaseCompleted {
						t.Fatalf("seed %d: %s begins before %s is done", seed, d.Phase, need)
					}
				}
				for _, other := range at {
					if d.Do != DoIntegrate && other.Do != DoIntegrate && plan.Phase(d.Phase).Access == pipelines.AccessTree && plan.Phase(other.Phase).Access == pipelines.AccessTree {
						t.Fatalf("seed %d: %s and %s change code at the same time", seed, d.Phase, other.Phase)
					}
				}
				run = Begin(run, d, Beginning{At: noon, Base: strings.Repeat("a", 40), Beside: true})
				at = append(at, d)
				continue
			}
			if len(at) > 0 {
				i := dice.IntN(len(at))
				o := outcome(at[i])
				if plan.Phase(at[i].Phase).Access != pipelines.AccessTree {
					o.Head = ""
				}
				before := run
				run = Apply(On(plan, run), at[i], o)
				if err := metadata.CheckNext(before, run); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				at = slices.Delete(at, i, i+1)
			}
		}
		if run.Status != metadata.Completed {
			t.Fatalf("seed %d: it is %s: %+v", seed, run.Status, run.Stop)
		}
		done := map[string]int{}
		for _, a := range run.Attempts {
			done[a.Phase+" "+string(a.Step)]++
		}
		for _, p := range run.Phases {
			if done[p.Name+" execute"] != 1 || done[p.Name+" review"] != 1 {
				t.Fatalf("seed %d: %s was done %d times and reviewed %d times", seed, p.Name, done[p.Name+" execute"], done[p.Name+" review"])
			}
		}
	}
}
