package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// puts writes files into the tree before the agent does its work well.
func (s *stage) puts(names ...string) func(context.Context, Task) (Result, error) {
	return func(ctx context.Context, t Task) (Result, error) {
		for _, name := range names {
			name = filepath.Join(t.Dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return Result{}, err
			}
			if err := os.WriteFile(name, []byte("evil"), 0o644); err != nil {
				return Result{}, err
			}
		}
		return s.good(ctx, t)
	}
}

// A step may change CONTRIBUTING.md. What the next one keeps to is what the base says there.
func TestConventionsAreThoseOfTheBase(t *testing.T) {
	s := newStage(t, testPlan())
	s.on("code", metadata.Execute, s.puts("CONTRIBUTING.md"))
	if run := s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	told := 0
	for _, task := range s.tasks {
		if strings.Contains(task.Prompt, "`CONTRIBUTING.md`") {
			told++
			if !strings.Contains(task.Prompt, "`CONTRIBUTING.md` (as of commit `"+s.run.BaseCommit+"`)") || s.run.BaseCommit == "" {
				t.Errorf("the base is %q, and the prompt says\n%s", s.run.BaseCommit, task.Prompt)
			}
		}
	}
	if told == 0 {
		t.Error("no step that writes code is told of conventions")
	}
}

// What broke a rule is told word for word to whoever comes next, a reviewer
// included, also when no further round follows.
func TestViolationsAreTold(t *testing.T) {
	plan := testPlan()
	plan.Phases[1].Revisions = 1
	s := newStage(t, plan)
	s.on("code", metadata.Execute, s.puts(".github/workflows/x.yml"))
	s.on("code", metadata.Revise, s.puts("con.go"))
	s.on("code", metadata.Review, func(_ context.Context, t Task) (Result, error) {
		return Result{Structured: answer(t, false), ToolCalls: 1}, nil
	})
	run := s.goOn(t.Context())
	if run.Stop == nil || run.Stop.Code != metadata.ReviewFailed {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	told := map[metadata.Step][]string{}
	for _, task := range s.tasks {
		if task.Phase != "code" || task.Step == metadata.Execute {
			continue
		}
		for _, v := range []string{".github/workflows/x.yml: a protected path", "con.go: its name cannot be kept on Windows"} {
			if strings.Contains(task.Prompt, v) {
				told[task.Step] = append(told[task.Step], v[:3])
			}
		}
	}
	want := map[metadata.Step][]string{metadata.Review: {".gi", "con"}, metadata.Revise: {".gi"}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("what they were told (-want +got):\n%s", diff)
	}
	if got := run.Attempts[2].Broke + " " + run.Attempts[5].Broke; got != "protected name" {
		t.Errorf("the record says they broke %q", got)
	}
	// After a retry the next revise is still told.
	next, err := phases.Retry(plan, run, "", phases.Start{At: run.UpdatedAt})
	if err != nil {
		t.Fatal(err)
	}
	s.run = next
	calls := len(s.tasks)
	s.goOn(t.Context())
	if task := s.tasks[calls]; task.Step != metadata.Revise || !strings.Contains(task.Prompt, "con.go: its name cannot be kept on Windows") {
		t.Errorf("%s after the retry is told:\n%s", task.Step, task.Prompt)
	}
}

func TestTheSecondTimeAPersonIsAsked(t *testing.T) {
	s := newStage(t, testPlan())
	s.on("code", metadata.Execute, s.puts(".github/workflows/x.yml"))
	s.on("code", metadata.Revise, s.puts("sub/CLAUDE.md", "kept.go"))
	s.on("code", metadata.Review, func(_ context.Context, t Task) (Result, error) {
		return Result{Structured: answer(t, t.Round > 0), ToolCalls: 1}, nil
	})
	run := s.goOn(t.Context())
	if run.Status != metadata.Waiting || run.Stop.Code != metadata.ChangeRefused || !strings.Contains(english(run.Stop.Why), "sub/CLAUDE.md: a protected path") {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	last := run.Attempts[len(run.Attempts)-1]
	if last.Status != metadata.Blocked || last.Code != metadata.ChangeRefused || last.Broke != "protected" {
		t.Errorf("the attempt is %+v", last)
	}
	if s.tree.tip()["kept.go"] != "evil" || s.tree.tip()["sub/CLAUDE.md"] != "" {
		t.Error("what the rules allow should be kept, and nothing else")
	}
	if !strings.Contains(s.tree.log[len(s.tree.log)-1].Message, "sub/CLAUDE.md") {
		t.Errorf("the commit does not say why:\n%s", s.tree.log[len(s.tree.log)-1].Message)
	}
	if anew := phases.TakeUp(run, phases.Start{At: run.UpdatedAt, Refresh: true}); anew.Status != metadata.Running || phases.Decide(s.engine.Plan, anew).Final() {
		t.Errorf("with a new definition the run is %s: %s", anew.Status, show(phases.Decide(s.engine.Plan, anew)))
	}
	if same := phases.TakeUp(run, phases.Start{At: run.UpdatedAt}); same.Status != metadata.Waiting {
		t.Errorf("started again the run is %s, want it to wait for a person", same.Status)
	}
	// A retry gives a fresh allowance: the step is done again, and may fail once.
	next, err := phases.Retry(s.engine.Plan, run, "", phases.Start{At: run.UpdatedAt})
	if err != nil {
		t.Fatal(err)
	}
	s.run = next
	if run = s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Fatalf("after the retry the run is %s (%+v)", run.Status, run.Stop)
	}
}

func TestTooMuchIsTakenBack(t *testing.T) {
	var many []string
	for i := range 101 {
		many = append(many, fmt.Sprintf("gen/%d.go", i))
	}
	for _, always := range []bool{false, true} {
		s := newStage(t, testPlan())
		calls := 0
		s.on("code", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
			if calls++; calls == 1 || always {
				return s.puts(many...)(ctx, t)
			}
			return s.good(ctx, t)
		})
		run := s.goOn(t.Context())
		if a := run.Attempts[2]; a.Status != metadata.Unsuccessful || a.Code != metadata.ChangeRefused || a.Broke != "size" || !strings.Contains(english(a.Why), "103 changed files (such as") {
			t.Errorf("the first attempt is %+v", a)
		}
		if prompt := s.tasks[3].Prompt; !strings.Contains(prompt, "at most 100 files") {
			t.Errorf("the next call is not told:\n%s", prompt)
		}
		if !strings.HasPrefix(s.tree.tip()[own+"code.md"], "code") {
			t.Error("the artifact, which is within the limits, is gone")
		}
		for name := range s.tree.tip() {
			if strings.HasPrefix(name, "gen/") {
				t.Fatalf("%s was kept", name)
			}
		}
		switch {
		case !always && run.Status != metadata.Completed:
			t.Errorf("with less the run is %s (%+v)", run.Status, run.Stop)
		case always && (run.Status != metadata.Waiting || run.Stop.Code != metadata.ChangeRefused || !strings.Contains(english(run.Stop.Why), "103 changed files")):
			t.Errorf("with as much again the run is %s (%+v)", run.Status, run.Stop)
		}
	}
}
