package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// half leaves a file behind and breaks off with a class; with none of a file it changes nothing.
func half(file string, class metadata.Class) func(context.Context, Task) (Result, error) {
	return func(_ context.Context, t Task) (Result, error) {
		if file != "" {
			if err := os.WriteFile(filepath.Join(t.Dir, file), []byte("half"), 0o644); err != nil {
				return Result{}, err
			}
		}
		return Result{Session: t.Session}, &AgentError{Class: class, Agent: "claude", Err: errors.New("it took too long")}
	}
}

// inTurn has the calls for a step of code act one way after the other; the rest are good.
func inTurn(s *stage, step metadata.Step, acts ...func(context.Context, Task) (Result, error)) {
	s.on("code", step, func(ctx context.Context, t Task) (Result, error) {
		if len(acts) == 0 {
			return s.good(ctx, t)
		}
		act := acts[0]
		acts = acts[1:]
		return act(ctx, t)
	})
}

// told gives the notices of the prompts for a step of code, one for each call.
func told(s *stage, step metadata.Step) (all []string) {
	for _, t := range s.tasks {
		if t.Phase != "code" || t.Step != step {
			continue
		}
		notice := ""
		for line := range strings.Lines(t.Prompt) {
			if strings.Contains(line, "broke off") || strings.Contains(line, "cut off") {
				notice = strings.TrimSpace(line)
			}
		}
		all = append(all, notice)
	}
	return all
}

func kept(why, file string) string {
	return "An earlier call of this step broke off: " + why + ". What it had changed was reverted: it is not in the tree but in `" + own + file + "`. Take from there what is good, with `git apply` or by hand."
}

// The call after one that broke off is told where its changes are, until a step succeeds.
func TestTheNextCallIsToldOfThePatch(t *testing.T) {
	s := newStage(t, testPlan())
	inTurn(s, metadata.Execute, half("half.go", metadata.StepTimeout))
	inTurn(s, metadata.Review, func(_ context.Context, t Task) (Result, error) {
		return Result{Structured: answer(t, false), ToolCalls: 1}, nil
	})
	if run := s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	if got := told(s, metadata.Execute); !slices.Equal(got, []string{"", kept("timeout", "attempt-3.patch")}) {
		t.Errorf("execute is told %q", got)
	}
	if got := told(s, metadata.Revise); !slices.Equal(got, []string{""}) {
		t.Errorf("revise is told %q", got)
	}
	if got := told(s, metadata.Review); !slices.Equal(got, []string{"", ""}) {
		t.Errorf("review is told %q", got)
	}
}

// It is told also after somebody has asked for another try, and of the newest patch there is.
func TestTheCallAfterARetryIsToldOfThePatch(t *testing.T) {
	s := newStage(t, testPlan())
	inTurn(s, metadata.Execute, half("a.go", metadata.IdleTimeout), half("b.go", metadata.IdleTimeout), half("", metadata.Auth))
	run := s.goOn(t.Context())
	if run.Status != metadata.Failed {
		t.Fatalf("the run is %s", run.Status)
	}
	var err error
	if s.run, err = phases.Retry(s.engine.Plan, run, "", phases.Start{At: s.engine.Now()}); err != nil {
		t.Fatal(err)
	}
	if run = s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	want := []string{"", kept("idle", "attempt-3.patch"), kept("idle", "attempt-4.patch"), kept("idle", "attempt-4.patch")}
	if got := told(s, metadata.Execute); !slices.Equal(got, want) {
		t.Errorf("the calls are told %q", got)
	}
}

// A session that goes on is told that what it remembers to have changed is gone.
func TestAResumedCallIsToldThatItsChangesAreGone(t *testing.T) {
	for name, tt := range map[string]struct {
		keeps bool
		want  string
	}{
		"kept": {true, "Your last call broke off: interrupted. What you had changed in it was reverted: it is not in the tree but in `" + own + "attempt-3.patch`. Take from there what is good, with `git apply` or by hand."},
		"lost": {false, "Your last call broke off: interrupted. Whatever you had changed in it was reverted: see what is in the tree before you go on."},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, testPlan())
			ctx, stop := context.WithCancelCause(t.Context())
			inTurn(s, metadata.Execute, func(ctx context.Context, task Task) (Result, error) {
				task.Notify(Activity{Session: task.Session})
				if tt.keeps {
					s.tree.write("half.go", "half")
				}
				stop(ErrInterrupted)
				<-ctx.Done()
				return Result{Session: task.Session}, ctx.Err()
			})
			run := s.goOn(ctx)
			s.run = phases.TakeUp(run, phases.Start{At: run.UpdatedAt})
			if run := s.goOn(t.Context()); run.Status != metadata.Completed || !run.Attempts[3].Resumed {
				t.Fatalf("the run is %s (%+v)", run.Status, run.Attempts[3])
			}
			if got := told(s, metadata.Execute); !slices.Equal(got, []string{"", tt.want}) {
				t.Errorf("the calls are told %q", got)
			}
		})
	}
}

// Who cannot write takes nothing from a patch, and what was taken back has another beginning.
func TestWhoIsNotToldOfThePatch(t *testing.T) {
	s := newStage(t, testPlan())
	s.engine.Plan.Phases[1].Access = pipelines.AccessRead
	s.engine.Plan.Phases[1].MustChange = false
	inTurn(s, metadata.Execute, half("half.go", metadata.StepTimeout), func(_ context.Context, t Task) (Result, error) {
		return Result{Session: t.Session, Text: "The report."}, nil
	})
	if run := s.goOn(t.Context()); run.Status != metadata.Completed || s.tree.tip()[own+"attempt-3.patch"] == "" {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	if got := told(s, metadata.Execute); !slices.Equal(got, []string{"", ""}) {
		t.Errorf("who cannot write is told %q", got)
	}
	rec := &metadata.Phase{Name: "code", Generation: 1}
	run := metadata.Run{Attempts: []metadata.Attempt{{N: 1, Phase: "code", Step: metadata.Execute, Status: metadata.Errored}, {N: 2, Phase: "code", Step: metadata.Revise, Status: metadata.Cut, Generation: 1}}}
	if got := brokenOff(run, rec, metadata.Execute); len(got) > 0 {
		t.Errorf("of an earlier generation or another step: %+v", got)
	}
}

// A writer that was cut off by the limit of its turns has written what counts; people see that
// it was, and the reviewer knows.
func TestAWriterThatWasCutOff(t *testing.T) {
	s := newStage(t, testPlan())
	inTurn(s, metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
		r, err := s.good(ctx, t)
		r.Limit = "turns"
		return r, err
	})
	log := &heard{}
	s.engine.Report = log
	inTurn(s, metadata.Review, func(_ context.Context, t Task) (Result, error) {
		if !phases.CutOff(s.saved[len(s.saved)-1], s.saved[len(s.saved)-1].Phase("code")) {
			s.t.Error("the record does not say that the writer was cut off")
		}
		return Result{Structured: answer(t, false), ToolCalls: 1}, nil
	})
	run := s.goOn(t.Context())
	if run.Status != metadata.Completed || phases.CutOff(run, run.Phase("code")) {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	if a := run.Attempts[2]; a.Status != metadata.Succeeded || english(a.Why) != "it reached its limit of turns" {
		t.Errorf("the attempt is %+v", a)
	}
	var warned []string
	for _, e := range log.all {
		if e.Done != nil {
			warned = append(warned, e.Done.Warnings...)
		}
	}
	if !slices.Equal(warned, []string{"it reached its limit of turns"}) {
		t.Errorf("the log warns %q", warned)
	}
	if got := told(s, metadata.Review); !slices.Equal(got, []string{"The writer was cut off by its limit of turns. The work may be unfinished: look for what is missing.", ""}) {
		t.Errorf("the reviews are told %q", got)
	}
}
