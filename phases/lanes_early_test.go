package phases

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// underWay is a call that somebody has made, and when it is over.
type lanesUnderWay struct {
	Decision
	n    int
	ends int
}

// speculation carries a run out as package internal/lanes does, with calls that all take
// one tick. Fails says of a review whether it does.
type speculation struct {
	t     *testing.T
	plan  *pipelines.Pipeline
	run   metadata.Run
	at    []lanesUnderWay
	now   int
	fails func(d Decision) bool
	lasts func() int
}

func (s *speculation) time() time.Time { return noon.Add(time.Duration(s.now) * time.Minute) }

func (s *speculation) become(next metadata.Run) {
	s.t.Helper()
	if err := metadata.CheckNext(s.run, next); err != nil {
		s.t.Fatal(err)
	}
	s.run = next
}

// begin begins all that may.
func (s *speculation) begin(jobs int) {
	for {
		var at []Decision
		for _, u := range s.at {
			at = append(at, u.Decision)
		}
		d, ok := NextForLane(s.plan, s.run, at, jobs)
		if !ok && len(at) == 0 {
			if d = Decide(s.plan, s.run); d.Final() {
				s.become(Apply(s.plan, s.run, d, Outcome{At: s.time()}))
				return
			}
			ok = true
		}
		if !ok {
			return
		}
		b := Beginning{At: s.time(), Base: commit(s.now + 1), Beside: s.run.Phase(d.Phase).Lane != nil}
		for _, e := range EarlyStarts(s.plan, s.run) {
			if e.Phase != d.Phase {
				continue
			}
			upon := s.run.Phase(e.Upon.Phase)
			if upon.CurrentStep != metadata.Review || upon.Written != e.Upon.Written {
				s.t.Fatalf("%s begins upon %s, which is at %s", d.Phase, upon.Name, upon.CurrentStep)
			}
			b.Beside, b.Ahead = true, e.Upon.Written
		}
		s.become(Begin(s.run, d, b))
		lasts := s.lasts()
		if d.Do == DoIntegrate {
			lasts = 0
		}
		s.at = append(s.at, lanesUnderWay{d, len(s.run.Attempts), s.now + lasts})
	}
}

// land ends the call that is over first.
func (s *speculation) land() {
	first := 0
	for i, u := range s.at {
		if u.ends < s.at[first].ends {
			first = i
		}
	}
	u := s.at[first]
	s.now, s.at = u.ends, slices.Delete(s.at, first, first+1)
	o := outcome(u.Decision)
	o.At, o.Usage.USD, o.Duration = s.time(), 1, time.Minute
	if s.run.Phase(u.Phase).Lane == nil {
		o.Head = ""
	}
	if u.Do == DoReview && s.fails(u.Decision) {
		o.Verdict = &metadata.Verdict{Verdict: metadata.Fail, Findings: []metadata.Finding{{ID: "f1", Severity: metadata.Blocker, Problem: "No.", Status: metadata.NewFinding}}}
		o.Work = fmt.Sprint(u.n)
	}
	s.become(Apply(s.plan, s.run, u.Decision, o))
	s.at = slices.DeleteFunc(s.at, func(other lanesUnderWay) bool { // ended at once, and paid for
		if !IsVoid(s.run.Phase(other.Phase), s.run.Attempts[other.n-1]) {
			return false
		}
		s.become(Apply(s.plan, s.run, other.Decision, Outcome{At: s.time(), Status: metadata.Cut, Usage: metadata.Usage{USD: 1}, Duration: time.Minute}))
		return true
	})
}

func (s *speculation) all(jobs int) {
	for range 1000 {
		if s.begin(jobs); s.run.Status != metadata.Running {
			return
		}
		s.land()
	}
	s.t.Fatal("it does not end")
}

// inARow gives a run of n phases, each after the one before it.
func inARow(t *testing.T, n int, fails func(Decision) bool) *speculation {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("p%d tree", i+1))
	}
	plan, run := sideBySide("", lines...)
	plan.Parallel, plan.Speculate = false, true
	return &speculation{t: t, plan: plan, run: run, fails: fails, lasts: func() int { return 1 }}
}

// Ten phases take as long as eleven calls if all reviews pass, and not as long as twenty.
func TestTenPhasesTakeElevenCalls(t *testing.T) {
	pass := func(Decision) bool { return false }
	s := inARow(t, 10, pass)
	s.all(4)
	took, alone := TimeTogether(s.run)
	if s.run.Status != metadata.Completed || s.now != 11 || took != 11*time.Minute || alone != 20*time.Minute || len(inVain(s.run)) > 0 {
		t.Errorf("it is %s after %d calls: %v in place of %v, %d in vain", s.run.Status, s.now, took, alone, len(inVain(s.run)))
	}
	s = inARow(t, 10, pass)
	s.plan.Speculate = false
	if s.all(4); s.now != 20 {
		t.Errorf("without, it takes %d calls", s.now)
	}
	s = inARow(t, 10, pass)
	if s.all(1); s.now != 20 {
		t.Errorf("with one job, it takes %d calls", s.now)
	}
}

// Each review that does not pass costs one call that was made in vain, and nothing of that
// is in what comes out.
func TestWhatAFailedReviewCosts(t *testing.T) {
	failed := 0
	s := inARow(t, 4, func(d Decision) bool {
		if d.Phase == "p2" && failed == 0 {
			failed++
			return true
		}
		return false
	})
	s.all(4)
	usd, took := SpentInVain(s.run)
	if s.run.Status != metadata.Completed || usd != 1 || took != time.Minute {
		t.Errorf("it is %s, and cost %v and %v in vain", s.run.Status, usd, took)
	}
	for _, rec := range s.run.Phases {
		generation := 0
		if rec.Name == "p3" {
			generation = 1
		}
		if rec.Generation != generation || rec.Lane != nil || len(rec.OutputFiles) != 1 {
			t.Errorf("%s ends as %+v", rec.Name, rec)
		}
	}
	if len(s.run.RollbackHistory) > 0 {
		t.Errorf("that is no rollback: %+v", s.run.RollbackHistory)
	}
}

// What is not only up to the review is not begun before that is over.
func TestWhatDoesNotBeginEarly(t *testing.T) {
	for name, with := range map[string]func(s *speculation){
		"":              func(*speculation) {},
		"not asked for": func(s *speculation) { s.plan.Speculate = false },
		"approval":      func(s *speculation) { s.plan.Phases[0].Approve = "write" },
		"a rule inserts": func(s *speculation) {
			s.plan.Rules = []pipelines.Rule{{After: "p1", Then: pipelines.Then{Insert: "x"}}}
		},
		"a rule drops it": func(s *speculation) {
			s.plan.Rules = []pipelines.Rule{{After: "p1", Then: pipelines.Then{Drop: []string{"p2"}}}}
		},
		"a rule splits it": func(s *speculation) { s.plan.Rules = []pipelines.Rule{{After: "p1", Then: pipelines.Then{Split: "*"}}} },
		"a document":       func(s *speculation) { s.run.ExternalDocuments = map[string]string{"p2": "docs/p2.md"} },
		"checks that fail": func(s *speculation) { failingLanes(s.run.Phase("p1")) },
		"the base comes in": func(s *speculation) {
			s.plan.Update, s.plan.Phases[0].Access = "before-code", pipelines.AccessArtifacts
		},
		"people ask for it": func(s *speculation) { s.run.Decisions = append(s.run.Decisions, metadata.Decision{Step: "update"}) },
		"a rule drops later": func(s *speculation) {
			s.plan.Rules = []pipelines.Rule{{After: "p1", Then: pipelines.Then{Drop: []string{"p3"}}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := inARow(t, 3, nil)
			s.begin(4)
			s.land()
			with(s)
			want := name == "" || name == "a rule drops later"
			if got := EarlyStarts(s.plan, s.run); (len(got) == 1) != want {
				t.Errorf("begun early is %+v, want that something is: %v", got, want)
			}
		})
	}
}

func failingLanes(rec *metadata.Phase) {
	rec.Checks = &metadata.Checks{Written: rec.Written, Results: []metadata.CheckResult{{Name: "unit", ExitCode: 1}}}
}

// However long calls take and whichever reviews fail: the run ends, a phase is accepted only
// upon work that was, and what was done in vain is counted, once.
func TestSpeculationInAnyOrder(t *testing.T) {
	for seed := range uint64(100) {
		dice := rand.New(rand.NewPCG(seed, 7))
		s := inARow(t, 6, func(d Decision) bool { return dice.IntN(4) == 0 })
		for i := range s.plan.Phases {
			s.plan.Phases[i].Revisions = 20
			if dice.IntN(3) == 0 {
				s.plan.Phases[i].Access = pipelines.AccessArtifacts
			}
		}
		s.lasts = func() int { return 1 + dice.IntN(5) }
		s.all(1 + dice.IntN(4))
		if s.run.Status != metadata.Completed && (s.run.Stop == nil || s.run.Stop.Code != metadata.Stuck) {
			t.Fatalf("seed %d: it is %s: %+v", seed, s.run.Status, s.run.Stop)
		}
		in := map[int]bool{}
		for _, a := range inVain(s.run) {
			in[a.N] = true
		}
		wrote, gone := map[string]int{}, 0
		for _, a := range s.run.Attempts {
			if in[a.N] {
				gone++
				continue
			}
			if a.Step == metadata.Execute && a.Status == metadata.Succeeded {
				wrote[a.Phase]++
			}
		}
		early := 0
		for _, d := range s.run.Decisions {
			if d.Step == metadata.GivenUp {
				early++
			}
		}
		for _, rec := range s.run.Phases {
			if rec.Status == metadata.PhaseCompleted && (wrote[rec.Name] != 1 || in[rec.Written] || rec.Lane != nil) {
				t.Fatalf("seed %d: %s was written %d times, as %+v", seed, rec.Name, wrote[rec.Name], rec)
			}
		}
		if early != gone {
			t.Fatalf("seed %d: %d were given up, of %d calls", seed, early, gone)
		}
	}
}

// What begins early keeps off what others may change that were decided on with it, and have not
// begun in the record: of phases that may change any file one is at work.
func TestEarlyStepsDoNotMeetOthers(t *testing.T) {
	review := func(run *metadata.Run, phase string) {
		rec := run.Phase(phase)
		rec.Status, rec.CurrentStep, rec.Written = metadata.PhaseInProgress, metadata.Review, 1
	}
	for name, tt := range map[string]struct {
		phases  []string
		reviews []string
		want    string
	}{
		"one that needs nobody":    {[]string{"plan", "code tree needs plan", "other tree"}, []string{"plan"}, "plan:review other:execute"},
		"two upon reviews":         {[]string{"a", "b", "c tree needs a", "d tree needs b"}, []string{"a", "b"}, "a:review b:review c:execute"},
		"one upon a phase like it": {[]string{"code tree", "tests tree needs code", "doc"}, []string{"code"}, "code:review doc:execute tests:execute"},
		"one that changes no file": {[]string{"plan", "note needs plan", "other tree"}, []string{"plan"}, "plan:review other:execute note:execute"},
	} {
		plan, run := sideBySide("", tt.phases...)
		plan.Speculate = true
		run.Attempts = []metadata.Attempt{{N: 1, Phase: tt.reviews[0], Step: metadata.Execute, Status: metadata.Succeeded}}
		for _, phase := range tt.reviews {
			review(&run, phase)
		}
		if got := all(plan, run, 4); got != tt.want {
			t.Errorf("%s: %q begin, want %q", name, got, tt.want)
		}
	}
}
