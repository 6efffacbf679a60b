package engine

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// The code of a part that was brought together is in a commit that has what others came to as well.
func TestLandedTogether(t *testing.T) {
	plan := testPlan()
	plan.Parallel = true
	for i := range plan.Phases {
		plan.Phases[i].NoReview, plan.Phases[i].Checks = true, nil
	}
	s := newStage(t, plan)
	tip, at := s.tree.Tip(), s.engine.Now()
	begin := func(do phases.Do, phase string) phases.Decision {
		d := phases.Decision{Do: do, Phase: phase, Why: metadata.Said("due")}
		s.run = phases.Begin(s.run, d, phases.Beginning{At: at, Base: tip, Beside: true})
		return d
	}
	written := phases.Outcome{At: at, Status: metadata.Succeeded, Head: tip, Written: &phases.Written{Digest: phases.DigestOf(nil)}}
	first := begin(phases.DoExecute, "plan")
	s.run = phases.Apply(phases.On(plan, s.run), first, written)
	merged, other := begin(phases.DoIntegrate, "plan"), begin(phases.DoExecute, "tell")
	written.Head = ""
	run, err := s.engine.land(t.Context(), s.run, true,
		step{merged, effects{BranchCommit: BranchCommit{Take: tip, Gone: []string{"a"}}, outcome: written}},
		step{other, effects{BranchCommit: BranchCommit{Gone: []string{"b"}}, outcome: phases.Outcome{At: at, Status: metadata.Cut, Why: metadata.Said("told to stop")}}})
	testenv.Must(t, err)
	if rec := run.Phase("plan"); rec.Status != metadata.PhaseCompleted || rec.Lane != nil {
		t.Errorf("the part is %s, in the lane %+v", rec.Status, rec.Lane)
	}
	if c := s.tree.log[len(s.tree.log)-1]; c.Take != tip || len(c.Gone) < 2 || c.Gone[0] != "a" || c.Gone[1] != "b" {
		t.Errorf("the commit takes the code of %q, and removes %q", c.Take, c.Gone)
	}
}
