package phases

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

// What is decided to begin together opens in any order, as trees take as long as they take to be
// made ready: the review or what begins before it is over, in a pipeline with parallel: true as
// in one without. None is then taken for something that is no longer to be done.
func TestEarlyStepsOpenInAnyOrder(t *testing.T) {
	for seed := range uint64(8) {
		dice := rand.New(rand.NewPCG(seed, 11))
		plan, run := sideBySide("", "plan", "code tree needs plan", "doc needs plan", "tests tree needs code", "note needs doc", "end needs tests note")
		plan.Speculate = true
		s := &speculation{t: t, plan: plan, run: run, fails: func(Decision) bool { return false }, lasts: func() int { return 1 + dice.IntN(3) }}
		early := 0
		for range 1000 {
			if early += s.openInOrder(4, dice.Perm); s.run.Status != metadata.Running {
				break
			}
			s.land()
		}
		if s.run.Status != metadata.Completed || early == 0 {
			t.Fatalf("seed %d: it is %s, %d steps began early", seed, s.run.Status, early)
		}
	}
}

// openInOrder decides on all that may begin, and opens that in an order of its own. It gives how
// much of it began early.
func (s *speculation) openInOrder(jobs int, order func(int) []int) (early int) {
	type step struct {
		Decision
		upon BegunUpon
	}
	var begin []step
	at := make([]Decision, 0, jobs)
	for _, u := range s.at {
		at = append(at, u.Decision)
	}
	for {
		d, ok := NextForLane(s.plan, s.run, at, jobs)
		if !ok {
			break
		}
		one := step{Decision: d}
		for _, e := range EarlyStarts(s.plan, s.run) {
			if e.Phase == d.Phase {
				one.upon = e.Upon
			}
		}
		at, begin = append(at, d), append(begin, one)
	}
	if len(at) == 0 {
		s.begin(jobs)
		return 0
	}
	for _, i := range order(len(begin)) {
		one := begin[i]
		if !StillEarly(s.plan, s.run, one.Decision, one.upon) {
			s.t.Fatalf("%s: %s is no longer to be done upon %+v, once %+v are open", one.Phase, one.Do, one.upon, s.at)
		}
		b := Beginning{At: s.time(), Base: commit(s.now + 1), Beside: true, Ahead: one.upon.Written}
		s.become(Begin(s.run, one.Decision, b))
		lasts := s.lasts()
		if one.Do == DoIntegrate {
			lasts = 0
		}
		if s.at = append(s.at, lanesUnderWay{one.Decision, len(s.run.Attempts), s.now + lasts}); one.upon.Phase != "" {
			early++
		}
	}
	s.at = slices.Clip(s.at)
	return early
}
