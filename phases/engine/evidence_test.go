package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// The sentence says why, and what the program complained stands beside it.
func TestLastWords(t *testing.T) {
	ae := &AgentError{Agent: "own", Err: errors.New("it ended: second line"), Hint: "look", Stderr: "boom\nsecond line\n"}
	testenv.Is(t, "it says", english(ae.WhyBroke(phases.ValidText)), "own: it ended: second line; look")
	long := strings.Repeat("語", 900)
	for in, want := range map[string]string{
		"  boom\nsecond line\n": "boom\nsecond line",
		long + "\n" + long:      long,
		long + long:             "…" + strings.Repeat("語", 1000),
		"a\x00b\xff":            "ab\uFFFD",
	} {
		if got := phases.LastWords(in); got != want {
			t.Errorf("%.20q becomes %.20q, want %.20q", in, got, want)
		}
	}
}

// baseTree notes what is compared with what.
type baseTree struct {
	*folderTree
	from string
}

func (b *baseTree) WithBase(_ context.Context, commit, from, to string) (string, error) {
	return commit + " with " + from + ".." + to, nil
}

func (b *baseTree) Diff(_ context.Context, from string) (string, metadata.Diff, error) {
	b.from = from
	return "", metadata.Diff{}, nil
}

// What the base has brought since a phase began is none of its work, but in the tree of
// a part that does not have it yet.
func TestDiffAfterTheBaseWasMerged(t *testing.T) {
	for _, tt := range []struct {
		rec  metadata.Phase
		want string
	}{
		{metadata.Phase{Base: "a"}, "a"},
		{metadata.Phase{Base: "a", Upstream: "b"}, "a with b..c"},
		{metadata.Phase{Base: "a", Upstream: "b", Lane: &metadata.Lane{Base: "d"}}, "a"},
		{metadata.Phase{Base: "a", Upstream: "b", Lane: &metadata.Lane{Base: "d", Conflict: &metadata.Conflict{}}}, "d"},
	} {
		tree := &baseTree{}
		c := &Engine{Journal: Journal{Tree: tree}}
		_, _, err := c.since(t.Context(), metadata.Run{BaseCommit: "c"}, &pipelines.Phase{Access: pipelines.AccessTree}, &tt.rec)
		if err != nil || tree.from != tt.want {
			t.Errorf("%+v is compared with %s, %v; want %s", tt.rec, tree.from, err, tt.want)
		}
	}
}

// puts writes files into the tree before the agent does its work well.
func (s *stage) puts(names ...string) agentFunc {
	return func(ctx context.Context, t Task) (Result, error) {
		for _, name := range names {
			s.tree.write(name, "evil")
		}
		return s.good(ctx, t)
	}
}

// A step may change CONTRIBUTING.md. What the next one keeps to is what the base says there.
func TestConventionsAreThoseOfTheBase(t *testing.T) {
	s := newStage(t, testPlan())
	s.on("code", metadata.Execute, s.puts("CONTRIBUTING.md"))
	s.completes()
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
	s.fails("code", 99)
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
	testenv.Same(t, "what they were told", want, told)
	testenv.Is(t, "the record says they broke", run.Attempts[2].Broke+" "+run.Attempts[5].Broke, "protected name")
	// After a retry the next revise is still told.
	s.retry()
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
	s.fails("code", 1)
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
	testenv.Has(t, "the commit", s.tree.log[len(s.tree.log)-1].Message, "sub/CLAUDE.md")
	if anew := phases.TakeUp(run, phases.Start{At: run.UpdatedAt, Refresh: true}); anew.Status != metadata.Running || phases.Decide(phases.On(s.engine.Plan, anew)).Final() {
		t.Errorf("with a new definition the run is %s: %s", anew.Status, show(phases.Decide(phases.On(s.engine.Plan, anew))))
	}
	if same := phases.TakeUp(run, phases.Start{At: run.UpdatedAt}); same.Status != metadata.Waiting {
		t.Errorf("started again the run is %s, want it to wait for a person", same.Status)
	}
	// A retry gives a fresh allowance: the step is done again, and may fail once.
	s.retry()
	s.completes()
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
		testenv.Has(t, "the prompt of the next call", s.tasks[3].Prompt, "at most 100 files")
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

// half leaves a file behind and breaks off with a class; with none of a file it changes nothing.
func (s *stage) half(file string, class metadata.Class) agentFunc {
	return func(_ context.Context, t Task) (Result, error) {
		if file != "" {
			s.tree.write(file, "half")
		}
		return Result{Session: t.Session}, &AgentError{Class: class, Agent: "claude", Err: errors.New("it took too long")}
	}
}

// inTurn has the calls for a step of code act one way after the other; the rest are good.
func inTurn(s *stage, step metadata.Step, acts ...agentFunc) {
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
	inTurn(s, metadata.Execute, s.half("half.go", metadata.StepTimeout))
	inTurn(s, metadata.Review, func(_ context.Context, t Task) (Result, error) {
		return Result{Structured: answer(t, false), ToolCalls: 1}, nil
	})
	s.completes()
	testenv.Same(t, "execute is told", []string{"", kept("timeout", "attempt-3.patch")}, told(s, metadata.Execute))
	testenv.Same(t, "revise is told", []string{""}, told(s, metadata.Revise))
	testenv.Same(t, "review is told", []string{"", ""}, told(s, metadata.Review))
}

// It is told also after somebody has asked for another try, and of the newest patch there is.
func TestTheCallAfterARetryIsToldOfThePatch(t *testing.T) {
	s := newStage(t, testPlan())
	inTurn(s, metadata.Execute, s.half("a.go", metadata.IdleTimeout), s.half("b.go", metadata.IdleTimeout), s.half("", metadata.Auth))
	run := s.goOn(t.Context())
	if run.Status != metadata.Failed {
		t.Fatalf("the run is %s", run.Status)
	}
	s.retry()
	s.completes()
	want := []string{"", kept("idle", "attempt-3.patch"), kept("idle", "attempt-4.patch"), kept("idle", "attempt-4.patch")}
	testenv.Same(t, "the calls are told", want, told(s, metadata.Execute))
}

// A session that goes on is told that what it remembers to have changed is gone.
func TestAResumedCallIsToldThatItsChangesAreGone(t *testing.T) {
	for name, tt := range map[string]struct {
		keeps bool
		want  string
	}{
		"kept": {true, "An earlier call of this step broke off: interrupted. What it had changed was reverted: it is not in the tree but in `" + own + "attempt-3.patch`. Take from there what is good, with `git apply` or by hand."},
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
			testenv.Same(t, "the calls are told", []string{"", tt.want}, told(s, metadata.Execute))
		})
	}
}

// Who cannot write takes nothing from a patch, and what was taken back has another beginning.
func TestWhoIsNotToldOfThePatch(t *testing.T) {
	s := newStage(t, testPlan())
	s.engine.Plan.Phases[1].Access = pipelines.AccessRead
	s.engine.Plan.Phases[1].MustChange = false
	inTurn(s, metadata.Execute, s.half("half.go", metadata.StepTimeout), func(_ context.Context, t Task) (Result, error) {
		return Result{Session: t.Session, Text: "The report."}, nil
	})
	if run := s.goOn(t.Context()); run.Status != metadata.Completed || s.tree.tip()[own+"attempt-3.patch"] == "" {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	testenv.Same(t, "who cannot write is told", []string{"", ""}, told(s, metadata.Execute))
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
	testenv.Same(t, "the log warns", []string{"it reached its limit of turns"}, warned)
	testenv.Same(t, "the reviews are told", []string{"The writer was cut off by its limit of turns. The work may be unfinished: look for what is missing.", ""}, told(s, metadata.Review))
}
