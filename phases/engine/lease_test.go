package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Each commit of a process that holds a lease renews it, also the one with
// which a run ends, and GiveBack is the last.
func TestLease(t *testing.T) {
	s := newStage(t, testPlan())
	s.engine.Owner, s.engine.Hold = "job 9", time.Hour
	run := s.goOn(t.Context())
	if run.Status != metadata.Completed || !s.engine.Holds() {
		t.Fatalf("the run is %s, it is held: %v", run.Status, s.engine.Holds())
	}
	run, err := s.engine.GiveBack(t.Context(), run)
	if err != nil || s.engine.Holds() {
		t.Fatalf("it is held: %v (%v)", s.engine.Holds(), err)
	}
	leases := s.leases()
	var last time.Time
	for i, lease := range leases {
		switch {
		case i == len(leases)-1:
			if lease != nil {
				t.Errorf("the last commit keeps the lease %+v", lease)
			}
		case lease == nil || lease.Owner != "job 9" || !lease.Expires.After(last) || lease.Fence != run.Execution.Attempt:
			t.Errorf("commit %d has the lease %+v", i, lease)
		default:
			last = lease.Expires
		}
	}
	if last.IsZero() {
		t.Error("no commit had a lease")
	}
	// Once is enough, and what is noted after that takes the run again.
	if again, err := s.engine.GiveBack(t.Context(), run); err != nil || again.Revision != run.Revision {
		t.Errorf("it is given back again in revision %d (%v)", again.Revision, err)
	}
	if err := s.engine.Amend(t.Context(), phases.Touch(run, s.engine.Now()), "a word"); err != nil || s.leases()[len(leases)] == nil || !s.engine.Holds() {
		t.Errorf("the lease is %+v (%v)", s.leases()[len(leases)], err)
	}
}

// leases are those of all commits with a record.
func (s *stage) leases() []*metadata.Lease {
	s.t.Helper()
	var out []*metadata.Lease
	for _, files := range s.tree.commits[2:] { // the code as it was, and the first record
		run, err := metadata.Parse([]byte(files[".reprise/issue-7/metadata.json"]), "commit")
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, run.Execution.Lease)
	}
	return out
}

// A lease of a process that is gone is not left on a run that has stopped.
func TestLeaseOfTheDead(t *testing.T) {
	s := newStage(t, testPlan())
	run := s.goOn(t.Context())
	s.engine.Owner, s.engine.Hold, s.engine.StaleLease = "job 9", time.Hour, true
	next, err := s.engine.GiveBack(t.Context(), run)
	if err != nil || next.Revision != run.Revision+1 || s.engine.StaleLease {
		t.Errorf("revision %d after %d, left: %v (%v)", next.Revision, run.Revision, s.engine.StaleLease, err)
	}
}

// A process whose lease has run out commits before it spends anything: another
// one may have taken the run.
func TestLeaseRunsOut(t *testing.T) {
	for _, took := range []bool{false, true} {
		s := newStage(t, testPlan())
		late := time.Duration(0)
		now, commit := s.engine.Now, &lostTree{BranchTree: s.engine.Tree}
		s.engine.Now = func() time.Time { return now().Add(late) }
		s.engine.Tree, s.engine.Owner, s.engine.Hold = commit, "job 9", time.Hour
		run := phases.Touch(s.run, s.engine.Now())
		if err := s.engine.Amend(t.Context(), run, "begin"); err != nil || s.engine.LeaseExpired() {
			t.Fatalf("lease expired: %v (%v)", s.engine.LeaseExpired(), err)
		}
		late = 2 * time.Hour
		if !s.engine.LeaseExpired() {
			t.Fatal("two hours later it still has the run for an hour")
		}
		commit.lost = took
		next, err := s.engine.Run(t.Context(), run)
		switch {
		case took && (!errors.Is(err, errTaken) || next.Revision != run.Revision || len(s.tasks) > 0):
			t.Errorf("it goes on to revision %d, after %d calls (%v)", next.Revision, len(s.tasks), err)
		case !took && (err != nil || next.Status != metadata.Completed):
			t.Errorf("the run is %s (%v)", next.Status, err)
		}
	}
}

var errTaken = errors.New("somebody else went on with this run")

// lostTree is a tree whose branch another process may have taken.
type lostTree struct {
	BranchTree
	lost bool
}

func (l *lostTree) Commit(ctx context.Context, c BranchCommit) error {
	if l.lost {
		return errTaken
	}
	return l.BranchTree.Commit(ctx, c)
}
