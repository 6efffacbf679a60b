package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// ending is people who end the call under way, and the record by which they do.
type ending struct {
	urgent chan struct{}
	saw    metadata.Run
}

func (e *ending) Steer(_ context.Context, run metadata.Run) (metadata.Run, error) { return run, nil }

func (e *ending) Urgent(ctx context.Context, now func() metadata.Run) error {
	select {
	case <-ctx.Done():
		return nil
	case <-e.urgent:
		e.saw = now()
		return ErrSteered
	}
}

// People who end a call see the record with that call, which is cut, and counts with its cost.
func TestACallThatPeopleEnd(t *testing.T) {
	s := newStage(t, testPlan())
	people := &ending{urgent: make(chan struct{})}
	s.engine.Steering = people
	inTurn(s, metadata.Execute, func(ctx context.Context, task Task) (Result, error) {
		people.urgent <- struct{}{}
		<-ctx.Done()
		return Result{Session: task.Session, Usage: metadata.Usage{USD: 0.5}}, context.Cause(ctx)
	})
	run := s.goOn(t.Context())
	if a := run.Attempts[2]; run.Status != metadata.Interrupted || a.Status != metadata.Cut || a.Why.Code() != "steered" || a.Usage.USD != 0.5 {
		t.Errorf("the run is %s after %+v", run.Status, a)
	}
	if code := people.saw.Phase("code"); code == nil || code.Status != metadata.PhaseInProgress {
		t.Errorf("while it is at work for the first time, the phase looks like %+v", code)
	}
}

// Every reason reaches an agent, also where somebody takes the run back again
// before any agent was called.
func TestReasonsAreNotLost(t *testing.T) {
	s := newStage(t, testPlan())
	s.goOn(t.Context())
	for _, back := range []struct{ to, reason string }{{"code", "A: no globals"}, {"plan", "B: smaller"}, {"plan", "C: smaller still"}} {
		s.back(back.to, metadata.Revise, back.reason)
	}
	s.tasks = nil
	s.completes()
	told := map[string]string{}
	for _, task := range s.tasks {
		if _, there := told[task.Phase]; !there {
			told[task.Phase] = task.Prompt
		}
	}
	for phase, reasons := range map[string][]string{"plan": {"C: smaller still", "B: smaller"}, "code": {"A: no globals"}} {
		at := -1
		for _, reason := range reasons {
			i := strings.Index(told[phase], reason)
			if i <= at {
				t.Errorf("the first prompt of %s lacks %q, or has it in the wrong place:\n%s", phase, reason, told[phase])
			}
			at = i
		}
	}
	testenv.Lacks(t, "the prompt of a phase that nobody took back", told["tell"], "A: no globals")
	for _, p := range s.run.Phases {
		if p.RollbackContext != nil {
			t.Errorf("%s keeps a reason that was met", p.Name)
		}
	}
}

// Sessions of another machine are not here: an agent there begins anew, with
// the whole context.
func TestSessionsOfAnotherMachine(t *testing.T) {
	for _, elsewhere := range []int{0, 2} {
		s := newStage(t, testPlan())
		s.engine.Elsewhere = elsewhere
		s.fails("plan", 1)
		s.completes()
		revise := s.tasks[2]
		if revise.Step != metadata.Revise || revise.Resume != (elsewhere == 0) {
			t.Errorf("with %d attempts elsewhere the third task is %s, resumed: %v", elsewhere, revise.Step, revise.Resume)
		}
		if fresh := strings.Contains(revise.Prompt, "Do {{it}} with $& and `ticks`."); fresh != (elsewhere == 2) {
			t.Errorf("with %d attempts elsewhere the prompt has the issue: %v", elsewhere, fresh)
		}
	}
}
