package engine

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/phasestest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// kept is a Tree that keeps what it is given to commit, and of the rest of git nothing.
type branchKept struct {
	BranchTree
	commits []BranchCommit
	files   map[string]string // that the tip has
	fail    error
}

func (k *branchKept) Commit(ctx context.Context, c BranchCommit) error {
	if err := errors.Join(ctx.Err(), k.fail); err != nil {
		return err
	}
	k.commits = append(k.commits, c)
	return nil
}

func (k *branchKept) Stage(context.Context, ...string) (StagedTree, error) {
	return tip{files: k.files}, nil
}

func (k *branchKept) last() BranchCommit { return k.commits[len(k.commits)-1] }

type tip struct {
	StagedTree
	files map[string]string
}

func (t tip) Read(_ context.Context, name string) ([]byte, error) {
	text, ok := t.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

// hush knows one word that must not be seen.
type hush struct{}

func (hush) Mask(text string) string      { return strings.ReplaceAll(text, "canary", "[HUSH]") }
func (hush) MaskKnown(text string) string { return strings.ReplaceAll(text, "canary", "[HUSH]") }

func (hush) Leaks(context.Context, string, []byte) ([]Leak, error) { return nil, nil }

func newJournal(at *time.Time) (*Journal, *branchKept, metadata.Run) {
	plan, k := phasestest.Plan(), &branchKept{}
	run := phases.Fresh(phases.On(plan, phasestest.Run()), *at)
	return &Journal{Plan: plan, Tree: k, Now: func() time.Time { return *at }, SecretFinder: hush{}}, k, run
}

// A lease is taken with the first commit, told to be over once its time has passed, and
// renewed with the next one.
func TestLeaseOfAJournal(t *testing.T) {
	at := phasestest.Start
	j, k, run := newJournal(&at)
	j.Owner, j.Hold, j.StaleLease = "job 9", time.Hour, true
	if j.Holds() || j.LeaseExpired() {
		t.Error("there is a lease before the first commit")
	}
	testenv.Must(t, j.Begin(t.Context(), run))
	if !j.Holds() || j.LeaseExpired() || j.StaleLease {
		t.Errorf("held: %v, expired: %v, of another: %v", j.Holds(), j.LeaseExpired(), j.StaleLease)
	}
	same, err := j.Renew(t.Context(), run)
	if err != nil || len(k.commits) != 1 || same.Revision != run.Revision {
		t.Errorf("%d commits (%v)", len(k.commits), err)
	}
	at = at.Add(time.Hour)
	if !j.LeaseExpired() {
		t.Error("the lease is not over when its time has passed")
	}
	next, err := j.Renew(t.Context(), run)
	if err != nil || len(k.commits) != 2 || next.Revision != run.Revision+1 || j.LeaseExpired() {
		t.Errorf("%d commits, revision %d (%v)", len(k.commits), next.Revision, err)
	}
	written, err := metadata.Parse(k.last().Files[".reprise/issue-7/metadata.json"], "commit")
	if lease := written.Execution.Lease; err != nil || lease == nil || lease.Owner != "job 9" || lease.Fence != run.Execution.Attempt || !lease.Expires.Equal(at.Add(time.Hour)) {
		t.Errorf("the lease is %+v (%v)", lease, err)
	}
	if _, err := j.GiveBack(t.Context(), next); err != nil || j.Holds() {
		t.Errorf("held: %v (%v)", j.Holds(), err)
	}
}

// A commit that fails leaves the lease what it was: nobody has seen another one.
func TestFailedCommitTakesNoLease(t *testing.T) {
	at := phasestest.Start
	j, k, run := newJournal(&at)
	j.Owner, j.Hold = "job 9", time.Hour
	k.fail = errors.New("no network")
	told := 0
	j.Committed = func(context.Context, metadata.Run) { told++ }
	if err := j.Begin(t.Context(), run); !errors.Is(err, k.fail) || j.Holds() || told > 0 {
		t.Errorf("error %v, held: %v, told %d times", err, j.Holds(), told)
	}
}

// Texts for people are masked. What is frozen is compared with its source later, so
// nothing is committed that would have to be masked there.
func TestJournalMasks(t *testing.T) {
	at := phasestest.Start
	j, k, run := newJournal(&at)
	testenv.Must(t, j.Write(t.Context(), run, BranchCommit{Message: "a canary", Files: map[string][]byte{"notes.md": []byte("the canary sings")}}))
	if c := k.last(); c.Message != "a [HUSH]" || string(c.Files["notes.md"]) != "the [HUSH] sings" {
		t.Errorf("%q, %q", c.Message, c.Files["notes.md"])
	}
	j.Frozen = map[string][]byte{"issue.md": []byte("line\nthe canary sings")}
	err := j.Begin(t.Context(), run)
	if want := "secret_found: nothing was committed, for the value of a secret would be in issue.md, in line 2: the [HUSH] sings"; err == nil || err.Error() != want || len(k.commits) != 1 {
		t.Errorf("error %v, %d commits", err, len(k.commits))
	}
}

// What a later call has removed cannot be moved.
func TestOnlyWhatIsThereIsMoved(t *testing.T) {
	at := phasestest.Start
	j, k, run := newJournal(&at)
	k.files = map[string]string{"a.md": "a"}
	testenv.Must(t, j.Write(t.Context(), run, BranchCommit{Moves: map[string]string{"a.md": "old/a.md", "b.md": "old/b.md"}}))
	if got := k.last().Moves; !maps.Equal(got, map[string]string{"a.md": "old/a.md"}) {
		t.Errorf("moved: %v", got)
	}
}

// A commit under way is finished by a process that is told to stop.
func TestCommitOutlivesItsContext(t *testing.T) {
	at := phasestest.Start
	j, k, run := newJournal(&at)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Amend(ctx, run, "a word"); err != nil || len(k.commits) != 1 {
		t.Errorf("%d commits (%v)", len(k.commits), err)
	}
}

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
		testenv.Must(s.t, err)
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
