package engine

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// person asks for something while a run is under way.
type person struct {
	*stage
	command phases.Command
	do      func(run metadata.Run) (metadata.Run, error)
	urgent  chan struct{} // closed: the command is there, and the step under way is to end
	there   bool
	saw     metadata.Run // by which the command was found to be urgent
}

// Steer takes the command once it is there.
func (p *person) Steer(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if !p.there || phases.Taken(run, p.command.Comment) {
		return run, nil
	}
	p.command.At = p.engine.Now()
	next, err := p.do(run)
	if err != nil {
		return run, err
	}
	next = phases.Take(run, next, p.command)
	p.urgent = nil // it is taken
	return next, p.engine.Amend(ctx, next, p.command.Name)
}

func (p *person) Urgent(ctx context.Context, now func() metadata.Run) error {
	select {
	case <-ctx.Done():
		return nil
	case <-p.urgent:
		p.saw = now()
		return ErrSteered
	}
}

// interrupting has somebody give a command while an agent is at work.
func interrupting(t *testing.T, c phases.Command, do func(s *stage, run metadata.Run) (metadata.Run, error)) *stage {
	s := newStage(t, testPlan())
	p := &person{stage: s, command: c, urgent: make(chan struct{})}
	p.do = func(run metadata.Run) (metadata.Run, error) { return do(s, run) }
	s.engine.Steering = p
	t.Cleanup(func() {
		if code := p.saw.Phase("code"); code == nil || code.Status != metadata.PhaseInProgress {
			t.Errorf("while it is at work for the first time, the phase looks like %+v", code)
		}
	})
	s.on("code", metadata.Execute, func(ctx context.Context, task Task) (Result, error) {
		if p.there {
			return s.good(ctx, task)
		}
		if err := os.WriteFile(filepath.Join(task.Dir, "half.go"), []byte("package half\n"), 0o644); err != nil {
			return Result{}, err
		}
		p.there = true
		close(p.urgent)
		<-ctx.Done()
		return Result{Session: task.Session, Usage: metadata.Usage{USD: 0.5}}, context.Cause(ctx)
	})
	return s
}

// A command that ends the step under way: the call is cut, what it changed is
// kept as a patch, the command is taken once, and the run ends as asked.
func TestCancelDuringACall(t *testing.T) {
	s := interrupting(t, phases.Command{Name: "cancel", By: "ada", Comment: 12, Why: "not needed any more"}, func(s *stage, run metadata.Run) (metadata.Run, error) {
		return phases.Cancel(run, "not needed any more", s.engine.Now())
	})
	run := s.goOn(t.Context())
	if run.Status != metadata.Cancelled || run.Stop.Why != "not needed any more" || run.Cursor != "12" {
		t.Fatalf("the run is %s (%+v), its cursor %q", run.Status, run.Stop, run.Cursor)
	}
	last := run.Attempts[len(run.Attempts)-1]
	if last.Status != metadata.Cut || !strings.Contains(english(last.Why), "people asked") || last.Usage.USD != 0.5 {
		t.Errorf("the call under way ended as %+v", last)
	}
	if patch := s.tree.tip()[".reprise/issue-7/01_code/attempt-3.patch"]; patch == "" {
		t.Errorf("what the call changed is not kept; the branch has %v", slices.Sorted(maps.Keys(s.tree.tip())))
	}
	if again := phases.TakeUp(run, phases.Start{At: s.engine.Now()}); again.Status != metadata.Running {
		t.Errorf("a cancelled run that is started again is %s", again.Status)
	}
}

// A rollback in the middle of a call takes effect at once, and the run goes on
// to its end in the same process.
func TestRollbackDuringACall(t *testing.T) {
	s := interrupting(t, phases.Command{Name: "rollback", By: "ada", Comment: 12, Phase: "plan", Why: "plan, because it is too big"}, func(s *stage, run metadata.Run) (metadata.Run, error) {
		back, err := phases.PlanRollback(phases.On(s.engine.Plan, run), phases.Rollback{To: "plan", Step: metadata.Revise, Reason: "too big", Trigger: metadata.Manual, At: s.engine.Now()})
		return back.Run, err
	})
	run := s.goOn(t.Context())
	if run.Status != metadata.Completed || len(run.RollbackHistory) != 1 {
		t.Fatalf("the run is %s after %q", run.Status, s.steps())
	}
	if got := s.steps()[2:4]; got[0] != "code execute interrupted" || got[1] != "plan revise succeeded" {
		t.Errorf("the steps are %q", s.steps())
	}
	taken := 0
	for _, d := range run.Decisions {
		if d.Comment == 12 && d.By == "ada" {
			taken++
		}
	}
	if taken != 1 {
		t.Errorf("the command was taken %d times", taken)
	}
}

// Every reason reaches an agent, also where somebody takes the run back again
// before any agent was called.
func TestReasonsAreNotLost(t *testing.T) {
	s := newStage(t, testPlan())
	s.goOn(t.Context())
	for _, back := range []struct{ to, reason string }{{"code", "A: no globals"}, {"plan", "B: smaller"}, {"plan", "C: smaller still"}} {
		r, err := phases.PlanRollback(phases.On(s.engine.Plan, s.run), phases.Rollback{To: back.to, Step: metadata.Revise, Reason: back.reason, Trigger: metadata.Manual, At: s.engine.Now()})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.engine.Rollback(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		s.run = r.Run
	}
	s.tasks = nil
	if run := s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Fatalf("the run is %s", run.Status)
	}
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
	if strings.Contains(told["tell"], "A: no globals") {
		t.Error("a phase that nobody took back is told a reason")
	}
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
		first := true
		s.on("plan", metadata.Review, func(ctx context.Context, task Task) (Result, error) {
			if first {
				first = false
				return Result{Session: task.Session, Structured: answer(task, false), ToolCalls: 1}, nil
			}
			return s.good(ctx, task)
		})
		if run := s.goOn(t.Context()); run.Status != metadata.Completed {
			t.Fatalf("the run is %s", run.Status)
		}
		revise := s.tasks[2]
		if revise.Step != metadata.Revise || revise.Resume != (elsewhere == 0) {
			t.Errorf("with %d attempts elsewhere the third task is %s, resumed: %v", elsewhere, revise.Step, revise.Resume)
		}
		if fresh := strings.Contains(revise.Prompt, "Do {{it}} with $& and `ticks`."); fresh != (elsewhere == 2) {
			t.Errorf("with %d attempts elsewhere the prompt has the issue: %v", elsewhere, fresh)
		}
	}
}
