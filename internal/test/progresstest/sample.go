// Package progresstest has runs of all kinds for tests of what shows them, with
// values that no healthy record has, and checks that hold for whatever is shown.
package progresstest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// Golden compares got with a file of testdata.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	testenv.Golden(t, filepath.Join("testdata", name), got)
}

// Nine is when sample runs begin.
var Nine = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// SamplePlan is like the full pipeline: ten phases, four agents.
func SamplePlan(language string) *pipelines.Pipeline {
	minutes := func(n int) pipelines.Duration { return pipelines.Duration(time.Duration(n) * time.Minute) }
	step := func(agent, model string) pipelines.Step {
		return pipelines.Step{Agent: agent, Tier: "medium", Model: model, Timeout: minutes(20), Idle: minutes(5)}
	}
	plan := &pipelines.Pipeline{
		Name: "full", Description: "From planning to evaluation.", Language: language, Source: "builtin:full",
		Select: pipelines.Select{Labels: []string{"feature", "big"}, Title: "^add"},
		Agents: map[string]pipelines.Agent{
			"writer":   {Use: "claude", Models: map[string]string{"heavy": "opus", "medium": "sonnet", "light": "haiku"}, Fallback: "second"},
			"second":   {Use: "codex"},
			"reviewer": {Use: "codex", Access: pipelines.AccessRead, Models: map[string]string{"medium": "gpt-5"}},
		},
		Budget: pipelines.Budget{USD: 10, Tokens: 5_000_000, Time: minutes(120), Attempts: 60},
		Spare:  []pipelines.Phase{{Name: "spike", Goal: "Try the risky part first.", Folder: "x_spike", Writes: "spike.md"}},
		Rules: []pipelines.Rule{
			{After: "planning", When: `{report: complexity: "high"}`, Then: pipelines.Then{Insert: "spike"}},
			{After: "implementation", When: "{diff: lines: <10}", Then: pipelines.Then{Skip: "review"}},
			{After: "testing", When: `{verdict: "fail"}`, Then: pipelines.Then{Rollback: &pipelines.RuleRollback{To: "design", Step: "revise", Reason: "tests show a flaw"}}},
		},
		Presets: map[string][]string{"quick-fix": {"implementation", "documentation"}, "review-design": {"planning", "requirements", "design"}},
		Protect: []string{"LICENSE", "vendor/**"},
	}
	needs := map[string][]string{
		"requirements": {"planning"}, "design": {"requirements"}, "test_scenario": {"requirements", "design"},
		"implementation": {"requirements", "design", "test_scenario"}, "test_implementation": {"implementation"},
		"testing": {"test_implementation"}, "documentation": {"implementation"},
		"report": {"requirements", "design", "implementation", "testing", "documentation"}, "evaluation": {"report"},
	}
	for i, name := range []string{
		"planning", "requirements", "design", "test_scenario", "implementation", "test_implementation",
		"testing", "documentation", "report", "evaluation",
	} {
		plan.Phases = append(plan.Phases, pipelines.Phase{
			Name: name, Goal: "Write the " + strings.ReplaceAll(name, "_", " ") + ".", Needs: needs[name],
			Folder: fmt.Sprintf("%02d_%s", i, name), Writes: name + ".md", Access: pipelines.AccessArtifacts,
			Gates: []string{"It says what is needed", "Nothing is invented"}, Revisions: 3,
			Retry:   pipelines.Retry{Max: 3, Initial: pipelines.Duration(time.Second), Factor: 2, Cap: minutes(1)},
			Execute: step("writer", "sonnet"), Review: step("reviewer", "gpt-5"), Revise: step("writer", "sonnet"),
		})
	}
	code := plan.Phase("implementation")
	code.Access, code.MustChange, code.Approve = pipelines.AccessTree, true, "maintain"
	code.Checks = []pipelines.Check{{Name: "unit", Run: "go test ./...", Timeout: minutes(10)}, {Name: "lint", Run: "go vet ./...", Timeout: minutes(2)}}
	code.Execute.Tier, code.Execute.Model, code.Execute.Turns = "heavy", "opus", 40
	code.Execute.Models, code.Review.Models = []string{"haiku", "claude-sonnet-5"}, []string{}
	return plan
}

// Play is a run that is carried on decision by decision, without agents.
type Play struct {
	phases.Course
	t      testing.TB
	At     time.Time
	Events []engine.Event
}

// NewPlay begins a run of SamplePlan at Nine.
func NewPlay(t testing.TB, language string) *Play {
	plan := SamplePlan(language)
	p := &Play{t: t, At: Nine}
	p.Course = phases.On(plan, phases.Fresh(phases.On(plan, metadata.Run{
		IssueNumber: "7", IssueTitle: "Add a --json flag to `status` (thanks @hana)", IssueURL: "https://github.com/octo/hello/issues/7",
		Repository: "octo/hello", BranchName: "reprise/issue-7", BaseCommit: strings.Repeat("a", 40), Language: language, WorkflowVersion: "1.0.0",
		Pipeline:  metadata.Pipeline{Name: "full", Digest: "sha256:" + strings.Repeat("0", 64), Definition: "sha256:" + strings.Repeat("1", 64), Source: "builtin:full"},
		Execution: metadata.Execution{ID: "run-1"},
	}), Nine))
	return p
}

// Next carries out what is decided next, with the outcome given. It holds the
// record against its own rules, so that no view is tested on impossible runs.
func (p *Play) Next(o phases.Outcome) {
	p.t.Helper()
	d := phases.Decide(p.Course)
	p.Events = append(p.Events, engine.Event{At: p.At, Run: p.Run, Decision: &d})
	if !d.Final() {
		p.At = p.At.Add(d.Delay)
		p.Run = phases.Begin(p.Run, d, phases.Beginning{At: p.At, Session: fmt.Sprintf("s%d", len(p.Run.Attempts)+1), Base: strings.Repeat("b", 40), Model: view.ModelOf(p.Course, d)})
		p.Events = append(p.Events, engine.Event{At: p.At.Add(time.Second), Run: p.Run, Of: d, Activity: &engine.Activity{Text: "Read " + d.Phase + ".go", Usage: metadata.Usage{InputTokens: 10, USD: 0.001}}})
		p.At = p.At.Add(o.Duration)
	}
	o.At = p.At
	p.Run = phases.Apply(p.Course, d, o)
	if last := phases.Decide(p.Course); p.Run.Status == metadata.Running && last.Final() && !d.Final() {
		p.Run = phases.Apply(p.Course, last, phases.Outcome{At: p.At})
	}
	if err := p.Run.Check(); err != nil {
		p.t.Fatalf("the record is not valid: %v", err)
	}
	p.Events = append(p.Events, engine.Event{At: p.At, Run: p.Run, Of: d, Done: &o})
}

// Work is the outcome of a writing step of the phase at hand.
func (p *Play) Work(files int) phases.Outcome {
	d := phases.Decide(p.Course)
	ph := p.Plan.Phase(d.Phase)
	return phases.Outcome{
		Status: metadata.Succeeded, Usage: metadata.Usage{InputTokens: 9000, OutputTokens: 1500, USD: 0.11}, Duration: 72 * time.Second,
		Model: view.ModelOf(p.Course, d), Session: "s",
		Written: &phases.Written{
			Digest: fmt.Sprint("digest", len(p.Run.Attempts)), Files: []string{".reprise/issue-7/" + ph.Folder + "/" + ph.Writes},
			Diff: metadata.Diff{Files: files, Lines: 14 * files, Added: 12 * files, Deleted: 2 * files},
		},
	}
}

// Judgement is the outcome of a review; without findings it passes.
func (p *Play) Judgement(failedGate string, findings ...metadata.Finding) phases.Outcome {
	d := phases.Decide(p.Course)
	v := metadata.Verdict{Verdict: metadata.Pass, Findings: findings}
	for _, g := range p.Plan.Phase(d.Phase).Gates {
		v.Gates = append(v.Gates, metadata.Gate{Gate: g, Pass: g != failedGate, Why: "see " + p.Plan.Phase(d.Phase).Writes})
	}
	return phases.Outcome{
		Status: metadata.Succeeded, Usage: metadata.Usage{InputTokens: 4000, OutputTokens: 300, USD: 0.04}, Duration: 31 * time.Second,
		Verdict: &v, Work: fmt.Sprint("work", len(p.Run.Attempts)), Model: "gpt-5",
	}
}

func (p *Play) checks(pass bool) phases.Outcome {
	code := 0
	if !pass {
		code = 1
	}
	return phases.Outcome{Status: metadata.Succeeded, Duration: 4200 * time.Millisecond, Checks: []metadata.CheckResult{
		{Name: "unit", Run: "go test ./...", Pass: pass, ExitCode: code, Output: "--- FAIL: TestJSON", DurationMS: 4000},
		{Name: "lint", Run: "go vet ./...", Pass: true, DurationMS: 200},
	}}
}

// Passing carries on until the phase named is the one at hand, with what
// people have to approve approved.
func (p *Play) Passing(until string) {
	p.t.Helper()
	for range 60 {
		switch d := phases.Decide(p.Course); {
		case d.Do == phases.DoWait && d.Code == metadata.AwaitingPerson && d.Phase != until:
			p.approve()
		case p.Run.Status != metadata.Running || d.Phase == until:
			return
		case d.Do == phases.DoCheck:
			p.Next(p.checks(true))
		case d.Do == phases.DoReview:
			p.Next(p.Judgement(""))
		default:
			p.Next(p.Work(0))
		}
	}
	p.t.Fatalf("the run never came to %q", until)
}

// approve is a person who agrees to what the run waits at.
func (p *Play) approve() {
	p.t.Helper()
	run, err := phases.Approve(p.Course, phases.Command{Name: "approve", By: "hana", At: p.At})
	testenv.Must(p.t, err)
	p.Run = run
}

// WarningInOutput gives a blocker that a review has found.
func WarningInOutput() metadata.Finding {
	return metadata.Finding{
		ID: "F1", Severity: metadata.Blocker, Title: "A warning breaks the JSON, as @octo/api saw in #12", Problem: "It is printed to standard output.",
		Impact: "The nightly job stops.", Solution: "Print it to standard error.", File: "cmd/status.go", Line: 12, Status: metadata.NewFinding,
	}
}

func shorterName() metadata.Finding {
	return metadata.Finding{
		ID: "F2", Severity: metadata.Suggestion, Title: "A shorter name", Problem: "`jsonOutputFlag` is long.",
		Impact: "Harder to read.", Solution: "Call it `asJSON`.", Status: metadata.NewFinding,
	}
}

// Back takes the run back, as a person would.
func (p *Play) Back(to string, step metadata.Step, reason string) phases.RollbackPlan {
	p.t.Helper()
	p.At = p.At.Add(10 * time.Minute)
	r, err := phases.PlanRollback(p.Course, phases.Rollback{
		To: to, Step: step, Reason: reason, By: "hana", Trigger: metadata.Manual,
		CommentURL: "https://github.com/octo/hello/issues/7#issuecomment-3", At: p.At,
	})
	testenv.Must(p.t, err)
	p.Run = r.Run
	return r
}

// errored is an infrastructure error.
func errored(c metadata.Class, why string) phases.Outcome {
	return phases.Outcome{Status: metadata.Errored, Class: c, Code: metadata.AgentFailed, Why: metadata.Said(why), Duration: 3 * time.Second}
}

// goTestOutput is what a large test suite prints that fails.
func goTestOutput(round int) string {
	var b strings.Builder
	b.WriteString("[12034 bytes left out]\n")
	for i := range 120 {
		fmt.Fprintf(&b, "ok  \texample.com/octo/hello/internal/pkg%d\t0.0%ds\n", i, i%10)
		if i == 60 {
			fmt.Fprintf(&b, "--- FAIL: TestJSON (0.0%ds)\n    status_test.go:41: the output is no JSON:\n        invalid character 'S' looking for beginning of value\nFAIL\nFAIL\texample.com/octo/hello/cmd\t0.2s\n", round)
		}
	}
	return b.String() + "FAIL\n"
}

// Plays are runs in the states that people ask about, by name.
func Plays(t testing.TB, language string) map[string]*Play {
	all := map[string]*Play{}
	add := func(name string, carry func(p *Play)) {
		p := NewPlay(t, language)
		carry(p)
		all[name] = p
	}
	add("begun", func(*Play) {})
	add("middle", func(p *Play) {
		p.Passing("design")
		p.Next(errored(metadata.RateLimited, "claude: 429"))
		p.Next(p.Work(0))
		p.Next(p.Judgement("It says what is needed", WarningInOutput(), shorterName()))
		p.Next(p.Work(0))
		f := shorterName()
		p.Next(p.Judgement("", f))
		p.Passing("implementation")
		o := p.Work(3)
		o.Violations = []metadata.Violation{{Path: ".github/workflows/ci.yml", Rule: "a protected path"}}
		p.Next(o)
		p.Next(p.checks(false))
		p.Next(p.Judgement("Nothing is invented", WarningInOutput(), f))
	})
	add("rolledback", func(p *Play) {
		p.Passing("report")
		p.Back("design", metadata.Revise, "The API must stay REST.\n\n/rollback planning is what @octo/team wrote in #12.")
	})
	add("stuck", func(p *Play) {
		p.Passing("design")
		p.Next(p.Work(0))
		p.Next(p.Judgement("", WarningInOutput()))
		p.Next(p.Work(0))
		again := WarningInOutput()
		again.Status = metadata.StillOpen
		p.Next(p.Judgement("", again))
	})
	add("failed", func(p *Play) {
		p.Passing("requirements")
		p.Next(p.Work(0))
		for i := range 4 {
			f := WarningInOutput()
			f.ID, f.Line, f.Title, f.Problem, f.Solution = fmt.Sprintf("F%d", i+1), 12+7*i, // another one each time
				[]string{f.Title, "An empty list is null", "A date has a time of day", "The exit code is 0 if a book is overdue"}[i],
				[]string{f.Problem, "The issue asks for `[]`.", "The issue shows `2026-03-31`.", "It was 3, and scripts ask for it."}[i],
				[]string{f.Solution, "Begin with an empty slice.", "Format it as a date alone.", "Return it after printing."}[i]
			p.Next(p.Judgement("", f))
			if i < 3 {
				p.Next(p.Work(0))
			}
		}
	})
	add("agent", func(p *Play) {
		p.Next(errored(metadata.Auth, "claude: no key; set ANTHROPIC_API_KEY"))
		p.Next(errored(metadata.Auth, "codex: not logged in"))
	})
	add("flaky", func(p *Play) {
		p.Next(p.Work(0))
		p.Next(errored(metadata.Network, "codex: connection reset by peer"))
		p.Next(phases.Outcome{Status: metadata.Blocked, Code: metadata.OutputInvalid, Why: "there is no structured verdict\nit used no tool", Session: "s", Duration: time.Minute})
		p.Next(phases.Outcome{Status: metadata.Cut, Code: metadata.RunCancelled, Class: metadata.Signal, Why: "interrupted", Duration: time.Second})
	})
	add("budget", func(p *Play) {
		p.Passing("design")
		o := p.Work(0)
		o.Usage.USD = 11
		p.Next(o)
	})
	add("approval", func(p *Play) {
		p.Passing("implementation")
		p.Next(p.Work(3))
		p.Next(p.checks(true))
		p.Next(p.Judgement("", shorterName()))
	})
	add("paused", func(p *Play) {
		p.Passing("design")
		run, err := phases.Pause(p.Run, "paused by hana: Wait for the release of @octo/api.", p.At)
		testenv.Must(t, err)
		p.Run = run
	})
	add("red", func(p *Play) { // its checks fail to the end, with much to read
		p.Passing("implementation")
		for i := range 4 {
			p.Next(p.Work(3))
			o := p.checks(false)
			o.Checks[0].Output = goTestOutput(i)
			p.Next(o)
			f := WarningInOutput()
			f.ID, f.File = fmt.Sprintf("F%d", i+1), fmt.Sprintf("cmd/status%d.go", i+1) // another one each time
			p.Next(p.Judgement("", f))
		}
	})
	add("completed", func(p *Play) {
		p.Passing("evaluation")
		p.Next(p.Work(0))
		p.Next(p.Judgement("", shorterName()))
		p.Run.PRNumber, p.Run.PRURL = 8, "https://github.com/octo/hello/pull/8"
	})
	return all
}
