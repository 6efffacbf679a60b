package engine

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// failedStage is a stage whose run has failed its first phase.
func failedStage(t *testing.T) *stage {
	t.Helper()
	plan := testPlan()
	s := newStage(t, plan)
	s.fails("plan", 99)
	run, err := s.engine.Run(t.Context(), s.run)
	testenv.Must(t, err)
	if s.run = run; run.Status == metadata.Running || run.Status == metadata.Completed {
		t.Fatalf("the run is %s", run.Status)
	}
	s.tasks = nil
	return s
}

// says makes the agent answer each diagnosis with the next of these.
func (s *stage) says(answers ...string) {
	s.on("plan", phases.Diagnose, func(_ context.Context, t Task) (Result, error) {
		r := Result{Session: t.Session, Structured: json.RawMessage(answers[0]), Usage: metadata.Usage{InputTokens: 1000, OutputTokens: 10, USD: 0.25}}
		answers = answers[1:]
		return r, nil
	})
}

const sure = `{"needs_rollback": true, "to_phase": "plan", "to_step": "execute", "reason": "Say whom it greets.", "confidence": "high", "analysis": "seen"}`

func TestDiagnose(t *testing.T) {
	s := failedStage(t)
	before := s.run
	s.says(sure)
	run, d, err := s.engine.Diagnose(t.Context(), s.run, "")
	testenv.Must(t, err)
	want := phases.Diagnosis{NeedsRollback: true, ToPhase: "plan", ToStep: metadata.Execute, Reason: "Say whom it greets.", Confidence: phases.HighConfidence, Analysis: "seen"}
	testenv.Same(t, "diagnosis", want, d)
	task := s.tasks[0]
	if task.Access != "read" || task.Step != phases.Diagnose || task.Resume || filepath.Base(task.Artifact) != metadata.File || !strings.Contains(string(task.Schema), `"enum": ["plan",""]`) {
		t.Errorf("task %+v", task)
	}
	testenv.Has(t, "the prompt", task.Prompt, "it is wrong", "Status: "+string(before.Status), "Do {{it}} with $&")
	last := run.Decisions[len(run.Decisions)-1]
	if got := run.Cost.USD - before.Cost.USD; math.Abs(got-0.25) > 1e-9 || last.Step != "diagnose" || len(run.Attempts) != len(before.Attempts) {
		t.Errorf("cost grew by %v, the newest decision is %+v", got, last)
	}
	if err := metadata.CheckNext(before, run); err != nil {
		t.Error(err)
	}
	// What it proposes is a rollback like any other, without a person.
	back, err := phases.FollowDiagnosis(phases.On(s.engine.Plan, run), d, phases.Rollback{At: t0})
	if err != nil || back.Entry.TriggeredBy != metadata.Automatic || back.Entry.ReviewResultPath == "" {
		t.Errorf("%+v, %v", back.Entry, err)
	}
	if err := s.engine.Rollback(t.Context(), back, nil); err != nil {
		t.Error(err)
	}
}

// An answer that cannot be used is told, with what it cost.
func TestDiagnoseUnusable(t *testing.T) {
	s := failedStage(t)
	s.says(strings.ReplaceAll(sure, `"plan"`, `"paln"`))
	run, _, err := s.engine.Diagnose(t.Context(), s.run, "")
	var useless *Unusable
	if !errors.As(err, &useless) || !strings.Contains(err.Error(), `no phase "paln"`) {
		t.Errorf("of an answer that cannot be used: %v", err)
	}
	if got := run.Cost.USD - s.run.Cost.USD; math.Abs(got-0.25) > 1e-9 {
		t.Errorf("the call cost %v", got)
	}
}

// What the agent writes is taken back, and an error keeps what the call cost.
func TestDiagnoseOnlyLooks(t *testing.T) {
	s := failedStage(t)
	s.on("plan", phases.Diagnose, func(_ context.Context, t Task) (Result, error) {
		err := os.WriteFile(filepath.Join(t.Dir, "main.go"), []byte("package evil\n"), 0o644)
		return Result{Usage: metadata.Usage{USD: 0.125}}, errors.Join(err, &AgentError{Class: metadata.Network, Agent: "a", Err: errors.New("no line")})
	})
	run, _, err := s.engine.Diagnose(t.Context(), s.run, "")
	var broke *AgentError
	if !errors.As(err, &broke) || math.Abs(run.Cost.USD-s.run.Cost.USD-0.125) > 1e-9 {
		t.Errorf("%v, cost %v", err, run.Cost.USD-s.run.Cost.USD)
	}
	if text, err := os.ReadFile(filepath.Join(s.tree.Dir(), "main.go")); err != nil || strings.Contains(string(text), "evil") {
		t.Errorf("main.go reads %q, %v", text, err)
	}
}

func TestDiagnoseKeepsToTheBudget(t *testing.T) {
	s := failedStage(t)
	s.run.Budget.USD = s.run.Cost.USD + 0.1
	s.on("plan", phases.Diagnose, func(ctx context.Context, t Task) (Result, error) {
		t.Notify(Activity{Usage: metadata.Usage{USD: 1}})
		return Result{Usage: metadata.Usage{USD: 1}}, context.Cause(ctx)
	})
	run, _, err := s.engine.Diagnose(t.Context(), s.run, "")
	var over *OverBudget
	if !errors.As(err, &over) || math.Abs(run.Cost.USD-s.run.Cost.USD-1) > 1e-9 {
		t.Errorf("%v, cost %v", err, run.Cost.USD-s.run.Cost.USD)
	}
	if s.tasks[0].BudgetUSD <= 0 {
		t.Errorf("the agent was told of a budget of %v", s.tasks[0].BudgetUSD)
	}
	if again, _, err := s.engine.Diagnose(t.Context(), run, ""); !errors.As(err, &over) || len(s.tasks) != 1 || again.Revision != run.Revision {
		t.Errorf("with no budget left: %v, %d calls", err, len(s.tasks))
	}
	run.Budget.USD, s.engine.Plan.Budget.DayUSD = 0, 1
	if again, _, err := s.engine.Diagnose(t.Context(), run, ""); !errors.As(err, &over) || over.Limit != "" || len(s.tasks) != 1 || again.Revision != run.Revision {
		t.Errorf("with nothing left of the day: %v, %d calls", err, len(s.tasks))
	}
}

func TestParseDiagnosis(t *testing.T) {
	s := failedStage(t)
	for name, tt := range map[string]struct{ text, want string }{
		"good":       {sure, ""},
		"no":         {`{"needs_rollback": false, "to_phase": "", "to_step": "", "reason": "", "confidence": "low", "analysis": "fine"}`, ""},
		"nothing":    {``, "there is no structured diagnosis"},
		"unknown":    {`{"needs_rollback": false, "sure": true}`, `sure: unknown field`},
		"type":       {`{"needs_rollback": "no"}`, "not a diagnosis"},
		"left out":   {`{"confidence": "low", "analysis": "fine"}`, "needs_rollback is missing"},
		"confidence": {strings.Replace(sure, "high", "sure", 1), `confidence "sure" is not one of`},
		"analysis":   {strings.Replace(sure, `"seen"`, `" "`, 1), "analysis is empty"},
		"phase":      {strings.Replace(sure, "plan", "paln", 1), `there is no phase "paln" in this run; its phases are`},
		"begun":      {strings.Replace(sure, "plan", "code", 1), "phase code has never started"},
		"step":       {strings.Replace(sure, "execute", "fly", 1), `there is no step "fly"`},
		"check":      {strings.Replace(sure, "execute", "check", 1), `there is no step "check"`},
		"reason":     {strings.Replace(sure, "Say whom it greets.", "  ", 1), "reason is empty"},
		"long":       {strings.Replace(sure, "Say whom it greets.", strings.Repeat("é", 1001), 1), "reason has 1001 characters; the limit is 1000"},
		"binary":     {strings.Replace(sure, "Say", `\u0000`, 1), "reason is not text"},
		"both":       {strings.Replace(sure, "true", "false", 1), "which of them is meant"},
	} {
		t.Run(name, func(t *testing.T) {
			_, wrong := phases.ParseDiagnosis([]byte(tt.text), phases.On(s.engine.Plan, s.run))
			if got := english(wrong); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestQuiet(t *testing.T) {
	s := failedStage(t)
	plan := s.engine.Plan
	for name, tt := range map[string]struct {
		change func(*metadata.Run)
		want   string
	}{
		"failed":      {func(*metadata.Run) {}, ""},
		"running":     {func(r *metadata.Run) { r.Status, r.Stop = metadata.Running, nil }, "the run is running"},
		"interrupted": {func(r *metadata.Run) { r.Status = metadata.Interrupted }, "the run is interrupted"},
		"no begin":    {func(r *metadata.Run) { *r = freshRun(plan); r.Status = metadata.Cancelled }, "no phase has begun"},
		"no key": {func(r *metadata.Run) {
			r.Phase("plan").Verdict, r.Stop.Code = nil, metadata.CredentialsMissing
		}, "there are no open findings; the run is"},
		"no progress": {func(r *metadata.Run) { r.Phase("plan").Verdict, r.Stop.Code = nil, metadata.NoProgress }, ""},
		"completed":   {func(r *metadata.Run) { r.Phase("plan").Verdict, r.Status, r.Stop = nil, metadata.Completed, nil }, "there are no open findings; the run is completed"},
	} {
		t.Run(name, func(t *testing.T) {
			run := s.run.Clone()
			tt.change(&run)
			if got := phases.WhyNoDiagnosis(phases.On(plan, run), ""); (tt.want == "") != (got == "") || !strings.HasPrefix(english(got), tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// However long the history, what is told of it stays short.
func TestEssenceIsBounded(t *testing.T) {
	s := failedStage(t)
	run := s.run
	a, r := run.Attempts[0], metadata.Rollback{ToPhase: "plan", ToStep: metadata.Revise, Reason: strings.Repeat("long ", 1000)}
	for range 10_000 {
		run.Attempts, run.RollbackHistory = append(run.Attempts, a), append(run.RollbackHistory, r)
	}
	if n := len(phases.Essence(run)); n > 30_000 {
		t.Errorf("%d bytes", n)
	}
	testenv.Is(t, "a run that never went back may not:", phases.WhyNotAlone(s.run), "")
	r.TriggeredBy = metadata.Automatic
	run.RollbackHistory = append(run.RollbackHistory, r, r, r)
	if phases.WhyNotAlone(run) == "" {
		t.Error("it may go back by itself without end")
	}
}

// What a person has seen reaches the agent, and is reason enough to ask one once
// a phase has begun.
func TestDiagnoseASymptom(t *testing.T) {
	const symptom = "The list ends.\n{{.Goal}}"
	s := failedStage(t)
	s.says(sure)
	if _, _, err := s.engine.Diagnose(t.Context(), s.run, symptom); err != nil || !strings.Contains(s.tasks[0].Prompt, " symptom\n"+symptom+"\n") {
		t.Errorf("%v, the prompt:\n%s", err, s.tasks[0].Prompt)
	}
	s = failedStage(t)
	run := s.run.Clone()
	run.Status, run.Stop = metadata.Running, nil
	if why := phases.WhyNoDiagnosis(phases.On(s.engine.Plan, run), symptom); why != "" {
		t.Errorf("a run that goes on: %s", english(why))
	}
	if why := phases.WhyNoDiagnosis(phases.On(s.engine.Plan, freshRun(s.engine.Plan)), symptom); why.Code() != "no_phase_begun" {
		t.Errorf("a run that has not begun: %s", english(why))
	}
}

// Examine commits nothing. People may end it; what it cost is in the record.
func TestExamineIsEnded(t *testing.T) {
	s := failedStage(t)
	tip := s.tree.Tip()
	urgent := make(chan struct{})
	close(urgent)
	s.engine.Steering = &ending{urgent: urgent}
	s.on("plan", phases.Diagnose, func(ctx context.Context, _ Task) (Result, error) {
		<-ctx.Done()
		return Result{Usage: metadata.Usage{USD: 0.125}}, ctx.Err()
	})
	run, _, err := s.engine.Examine(t.Context(), s.run, "")
	if !errors.Is(err, ErrSteered) || math.Abs(run.Cost.USD-s.run.Cost.USD-0.125) > 1e-9 || run.Revision != s.run.Revision+1 {
		t.Errorf("%v, cost %v", err, run.Cost.USD-s.run.Cost.USD)
	}
	if why := run.Decisions[len(run.Decisions)-1].Why.Value("diagnosis"); why.Code() != "diagnosis_ended" || s.tree.Tip() != tip {
		t.Errorf("it says %s; the tip went from %s to %s", why, tip, s.tree.Tip())
	}
}

// An agent that diagnoses a Japanese run is told about it in Japanese.
func TestEssenceInJapanese(t *testing.T) {
	run := failedStage(t).run.Clone()
	run.Language = "ja"
	run.RollbackHistory = []metadata.Rollback{{FromPhase: "code", ToPhase: "plan", ToStep: metadata.Revise, TriggeredBy: metadata.Manual, Reason: "小さくする"}}
	rec := run.Phase("plan")
	rec.Checks = &metadata.Checks{Written: rec.Written, Results: []metadata.CheckResult{{Name: "unit", Run: "make", ExitCode: 2, Output: "壊れた"}}}
	told := phases.Essence(run)
	testenv.Has(t, "what is told", told, "状態: ", "\n停止: ", "\n## フェーズ\n", "\n## 最新の試行\n", "\n## 最新の差し戻し (全 1 件)\n", "- code から plan の修正へ (人): 小さくする\n", "plan のチェック unit (make) は終了コード 2 で終わりました:")
	testenv.Lacks(t, "what is told", told, "Status", "Stopped", "Phases", "Newest", "taken back", "ended with", "none")
}
