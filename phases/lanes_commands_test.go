package phases

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// commit is one of many that differ.
func commit(n int) string { return fmt.Sprintf("%040x", n) }

// apart is a conflict of the work of a part with others.
func apartLanes(run metadata.Run, d Decision, n int) Outcome {
	o := Outcome{At: noon, Status: metadata.Unsuccessful, Code: metadata.Conflicts, Base: commit(n), Conflict: &metadata.Conflict{Paths: []string{"a"}}}
	if run.Phase(d.Phase).Lane.Conflict == nil {
		o.Head = commit(n + 1)
	}
	return o
}

// Work that conflicts with what was merged before it goes back to its writer, then
// it is done anew on that, and then a person is asked; after /retry all that again.
func TestConflictLadder(t *testing.T) {
	plan, run := inParts(t, "t1 a", "t2 b")
	var steps []string
	for n := 10; ; n += 10 {
		d := Decide(On(plan, run))
		if d.Phase != "code.t1" || d.Final() {
			break
		}
		steps = append(steps, string(d.Do))
		run = Begin(run, d, Beginning{At: noon, Base: commit(n + 5), Beside: true})
		lane := run.Phase(d.Phase).Lane
		if d.Do == DoExecute && lane.Conflict != nil && (lane.Head != "" || d.Resume != 0 || lane.Base != commit(n+5)) {
			t.Errorf("it is done anew in session %d, from %+v", d.Resume, lane)
		}
		o := outcome(d)
		switch d.Do {
		case DoIntegrate:
			o = apartLanes(run, d, n)
		case DoExecute, DoRevise:
			o.Head = commit(n + 1)
		}
		run = Apply(On(plan, run), d, o)
	}
	testenv.Is(t, "it went", strings.Join(steps, " "), "execute review integrate revise review integrate execute review integrate")
	halts := Halts(On(plan, run))
	if len(halts) != 1 || halts[0].Code != metadata.Conflicts || run.Phase("code.t1").RetryCount != 0 {
		t.Fatalf("a person is told %+v, after %d revises", halts, run.Phase("code.t1").RetryCount)
	}
	run, err := Retry(On(plan, run), "code.t1", Start{At: noon})
	if rec := run.Phase("code.t1"); err != nil || rec.Lane.Conflict != nil || rec.CurrentStep != metadata.Integrate {
		t.Errorf("after /retry it is at %s, %+v (%v)", rec.CurrentStep, rec.Lane, err)
	}
}

// Where a writer does nothing about a conflict, however it is asked, the part is done anew. If
// nothing comes of that either, it is left to a person, who is told of the conflict; and so is
// the writer after /retry.
func TestConflictThatNobodyResolves(t *testing.T) {
	for name, tt := range map[string]struct {
		idle []Do // at which steps it does nothing
		want string
	}{
		"at the revise":      {[]Do{DoRevise}, "execute review integrate revise revise execute review integrate"},
		"when it is anew":    {[]Do{DoExecute}, "execute review integrate revise review integrate execute execute"},
		"however it is done": {[]Do{DoRevise, DoExecute}, "execute review integrate revise revise execute execute"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, run := inParts(t, "t1 a", "t2 b")
			var steps []string
			for n := 10; ; n += 10 {
				d := Decide(On(plan, run))
				if d.Phase != "code.t1" || d.Final() {
					break
				}
				steps = append(steps, string(d.Do))
				run = Begin(run, d, Beginning{At: noon, Base: commit(n + 5), Beside: true})
				o, lane := outcome(d), run.Phase(d.Phase).Lane
				if anew := d.Do == DoExecute; anew && (lane.Head != "" || lane.Base != commit(n+5)) {
					t.Errorf("%s begins upon %+v, not upon what the branch has", d.Do, lane)
				}
				switch {
				case d.Do == DoIntegrate:
					o = apartLanes(run, d, n)
				case slices.Contains(tt.idle, d.Do) && lane.Conflict != nil:
					o = Outcome{At: noon, Status: metadata.Unsuccessful, Code: metadata.NoProgress, Why: metadata.Because("tree_unchanged")}
				case d.Do != DoReview:
					o.Head = commit(n + 1)
				}
				run = Apply(On(plan, run), d, o)
			}
			halts := Halts(On(plan, run))
			if got := strings.Join(steps, " "); len(halts) != 1 || halts[0].Code != metadata.Conflicts || got != tt.want {
				t.Fatalf("a person is told %+v, after %s, want %s", halts, got, tt.want)
			}
			idle := slices.Contains(tt.idle, DoExecute)
			var codes []string
			for _, why := range halts[0].Why.Each() {
				codes = append(codes, why.Code())
			}
			if got := strings.Join(codes, " "); got != "parts_conflict parts_left" && idle || !idle && got != "parts_conflict" {
				t.Errorf("a person is told %s", got)
			}
			run, err := Retry(On(plan, run), "code.t1", Start{At: noon})
			rec, d := run.Phase("code.t1"), Decide(On(plan, run))
			if told := rec.Lane.Conflict != nil; err != nil || d.Again || told != idle || (d.Do == DoExecute) != idle {
				t.Errorf("after /retry it is %s, %+v (%v)", d.Do, rec.Lane, err)
			}
		})
	}
}

// meddled is a run of three parts into which people and kills meddle while it goes on.
type meddled struct {
	t      *testing.T
	dice   *rand.Rand
	plan   *pipelines.Pipeline
	run    metadata.Run
	at     []Decision
	n      int // of commits
	meddle int // how often somebody still steps in, or something goes wrong
}

// next takes the record after something, which has to be able to follow.
func (m *meddled) next(what string, run metadata.Run) {
	m.t.Helper()
	run.Revision = m.run.Revision + 1
	if err := metadata.CheckNext(m.run, run); err != nil {
		m.t.Fatalf("%s: %v", what, err)
	}
	m.run = run
}

// odds is 1 in n as long as anybody may meddle.
func (m *meddled) odds(n int) bool {
	if m.meddle == 0 || m.dice.IntN(n) > 0 {
		return false
	}
	m.meddle--
	return true
}

// comes is what a decision comes to.
func (m *meddled) comes(d Decision) Outcome {
	m.n += 10
	o := outcome(d)
	lane := m.run.Phase(d.Phase).Lane
	switch beside := lane != nil; {
	case d.Do == DoIntegrate && beside && m.odds(3):
		o = apartLanes(m.run, d, m.n)
	case (d.Do == DoExecute || d.Do == DoRevise) && beside && lane.Conflict != nil && m.odds(2):
		o = Outcome{At: noon, Status: metadata.Unsuccessful, Code: metadata.NoProgress, Why: metadata.Because("tree_unchanged")}
	case d.Do == DoReview && m.odds(4):
		o.Verdict = &metadata.Verdict{Verdict: metadata.Fail, Findings: []metadata.Finding{{ID: fmt.Sprint(m.n), Severity: metadata.Blocker, Status: metadata.NewFinding}}}
		o.Work = fmt.Sprint(m.n)
	case (d.Do == DoExecute || d.Do == DoRevise) && beside:
		o.Head = commit(m.n)
	}
	o.Usage.USD = 1
	return o
}

// land has a call end. One that is void leaves its phase as it is.
func (m *meddled) land(i int) {
	d := m.at[i]
	m.at = slices.Delete(m.at, i, i+1)
	before := m.run.Clone()
	was, void := *before.Phase(d.Phase), IsVoid(m.run.Phase(d.Phase), *AttemptOf(&m.run, d.Phase))
	m.next("land "+d.Phase, Apply(On(m.plan, m.run), d, m.comes(d)))
	if now := *m.run.Phase(d.Phase); void && !cmp.Equal(was, now) {
		m.t.Fatalf("%s of %s is void, and has changed it:\n%s", d.Do, d.Phase, cmp.Diff(was, now))
	}
}

// command has somebody step in. What cannot be is refused, and changes nothing.
func (m *meddled) command() {
	phase := m.run.Phases[m.dice.IntN(len(m.run.Phases))].Name
	switch m.dice.IntN(5) {
	case 0, 1:
		step := []metadata.Step{metadata.Execute, metadata.Revise}[m.dice.IntN(2)]
		if r, err := PlanRollback(On(m.plan, m.run), Rollback{To: phase, Step: step, Reason: "because", Trigger: metadata.Manual, At: noon}); err == nil {
			m.next("roll back to "+phase, r.Run)
		}
	case 2:
		if next, err := Skip(On(m.plan, m.run), phase, noon); err == nil {
			m.next("skip "+phase, next)
		}
	case 3:
		if next, err := Pause(m.run, "paused", noon); err == nil {
			m.next("pause", next)
		}
	case 4: // the process is killed
		if len(m.at) > 0 {
			m.at = nil
			m.next("kill", Ended(m.run, nil, noon))
		}
	}
}

// goOn does the one thing that is next where nothing is done beside others.
func (m *meddled) goOn() {
	d := Decide(On(m.plan, m.run))
	switch {
	case m.run.Status != metadata.Running && m.run.Stop != nil && m.run.Stop.Phase != "" && d.Final():
		next, err := Retry(On(m.plan, m.run), m.run.Stop.Phase, Start{At: noon})
		if err != nil {
			next = TakeUp(m.run, Start{At: noon})
		}
		m.next("retry", next)
	case m.run.Status != metadata.Running:
		m.next("start", TakeUp(m.run, Start{At: noon}))
	case d.Final():
		m.next("end", Apply(On(m.plan, m.run), d, Outcome{At: noon}))
	default:
		begun := Begin(m.run, d, Beginning{At: noon, Base: commit(m.n)})
		m.next("begin "+d.Phase, begun)
		o := m.comes(d)
		o.Head = ""
		m.next("do "+d.Phase, Apply(On(m.plan, m.run), d, o))
	}
}

// end goes on until the run is completed.
func (m *meddled) end() {
	for steps := 0; m.run.Status != metadata.Completed; steps++ {
		if steps > 2000 {
			m.t.Fatalf("it does not end: %s, %+v", m.run.Status, m.run.Stop)
		}
		if m.odds(8) {
			m.command()
			continue
		}
		if m.run.Status == metadata.Running && m.dice.IntN(3) > 0 {
			if d, ok := NextForLane(On(m.plan, m.run), m.at, 3); ok {
				m.next("begin "+d.Phase, Begin(m.run, d, Beginning{At: noon, Base: commit(m.n), Beside: true}))
				m.at = append(m.at, d)
				continue
			}
		}
		if len(m.at) > 0 {
			m.land(m.dice.IntN(len(m.at)))
		} else if _, beside := NextForLane(On(m.plan, m.run), nil, 3); !beside || m.run.Status != metadata.Running {
			m.goOn()
		}
	}
}

// Whatever people do while three parts are at work, and wherever it is killed, a run ends;
// nothing that was done is lost, and nothing is done twice.
func TestCommandsWhilePartsAreAtWork(t *testing.T) { meddleIn(t, 300) }

// meddleIn meddles in so many runs.
func meddleIn(t *testing.T, runs uint64) {
	for seed := range runs {
		m := &meddled{t: t, dice: rand.New(rand.NewPCG(seed, 3)), n: 100}
		m.plan, m.run = inParts(t, "t1 a", "t2 b", "t3 c")
		m.plan.Phases[0].Revisions = 3
		m.meddle = m.dice.IntN(8)
		m.end()
		spent, done := 0.0, map[string]int{}
		for _, a := range m.run.Attempts {
			if a.EndedAt == nil {
				t.Fatalf("seed %d: %s of %s has no end", seed, a.Step, a.Phase)
			}
			spent += a.Usage.USD
			if a.Status == metadata.Succeeded && a.Step == metadata.Integrate {
				done[fmt.Sprint(a.Phase, " ", a.Generation)]++
			}
		}
		if spent != m.run.Cost.USD {
			t.Fatalf("seed %d: $%v were spent, and the run knows of $%v", seed, spent, m.run.Cost.USD)
		}
		for _, p := range m.run.Phases {
			n := done[fmt.Sprint(p.Name, " ", p.Generation)]
			if p.Lane != nil || p.Status != metadata.PhaseSkipped && (p.Status != metadata.PhaseCompleted || p.Task != "" && n != 1) {
				t.Fatalf("seed %d: %s is %s, was brought to the branch %d times, and has the lane %+v", seed, p.Name, p.Status, n, p.Lane)
			}
		}
	}
}
