package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// bench is a place for rehearsals.
type bench struct {
	*testing.T
	dir   string // the work tree
	agent Agent
	task  engine.Task
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	return &bench{T: t, dir: dir, task: engine.Task{
		Issue: "7", Title: "Add a greeting", Phase: "planning", Step: metadata.Execute, Attempt: 1, Goal: "A plan.",
		Prompt: "Write the plan.", Dir: dir, Artifact: filepath.Join(dir, ".reprise", "issue-7", "00_planning", "planning.md"), Access: pipelines.AccessArtifacts,
	}}
}

// run carries out the task.
func (b *bench) run() (engine.Result, *engine.AgentError) {
	b.Helper()
	r, err := b.agent.Run(b.Context(), b.task)
	var fault *engine.AgentError
	if err != nil && !errors.As(err, &fault) {
		b.Fatalf("error %v (%T), want an AgentError", err, err)
	}
	return r, fault
}

func (b *bench) read(name string) string {
	b.Helper()
	return testenv.Read(b, name)
}

// do rehearses the bench's task as another step.
func (b *bench) do(step metadata.Step, round int) engine.Result {
	b.Helper()
	b.task.Step, b.task.Round = step, round
	b.task.Attempt++
	r, fault := b.run()
	if fault != nil {
		b.Fatal(fault)
	}
	return r
}

func verdictOf(t *testing.T, r engine.Result) (v metadata.Verdict) {
	t.Helper()
	testenv.Must(t, json.Unmarshal(r.Structured, &v))
	return v
}

// A rehearsal fails its first review once, and the revise shows what it was
// told. Every call is made by an agent of its own, as after a restart.
func TestRehearsal(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		t.Run(language, func(t *testing.T) {
			b := newBench(t)
			b.agent.First = "planning"
			b.task.Language, b.task.Gates, b.task.Access = language, []string{"It is right", "It is small"}, pipelines.AccessTree
			wrote := b.do(metadata.Execute, 0)
			first := b.read(b.task.Artifact)
			for _, part := range []string{"# Add a greeting", "## It is right", "A plan."} {
				if !strings.Contains(first, part) {
					t.Errorf("the artifact lacks %q:\n%s", part, first)
				}
			}
			if got := b.read(filepath.Join(b.dir, "rehearsal", "planning.md")); got != "planning: execute, 2\n" {
				t.Errorf("scratch file %q", got)
			}
			if wrote.Usage.USD <= 0 || !wrote.Usage.Estimated || wrote.ToolCalls != 2 {
				t.Errorf("result %+v", wrote)
			}
			v := verdictOf(t, b.do(metadata.Review, 0))
			if v.Verdict != metadata.Fail || v.Gates[0].Pass || !v.Gates[1].Pass || len(v.Findings) != 1 || v.Findings[0].Status != metadata.NewFinding {
				t.Errorf("first verdict %+v", v)
			}
			if again := verdictOf(t, b.do(metadata.Review, 0)); !cmp.Equal(v, again) {
				t.Errorf("the same review says another thing: %+v", again)
			}
			b.do(metadata.Revise, 1)
			if got := b.read(b.task.Artifact); got == first || !strings.Contains(got, v.Findings[0].ID) {
				t.Errorf("the revise shows nothing of finding %s:\n%s", v.Findings[0].ID, got)
			}
			v = verdictOf(t, b.do(metadata.Review, 1))
			if v.Verdict != metadata.Pass || len(v.Findings) != 1 || v.Findings[0].Status != metadata.Fixed {
				t.Errorf("second verdict %+v", v)
			}
			b.task.Phase = "design"
			if v = verdictOf(t, b.do(metadata.Review, 0)); v.Verdict != metadata.Pass || len(v.Findings) != 0 || len(v.Gates) != 2 {
				t.Errorf("verdict of another phase %+v", v)
			}
		})
	}
}

func TestRehearsalShowsTheReasonOfARollback(t *testing.T) {
	b := newBench(t)
	for prompt, want := range map[string]string{
		"# Taken back\n\nocto took the run back.\n\n<<<R-77 reason\nthe API must\nstay REST\nR-77>>>\n\nMeeting this": "> the API must\n> stay REST\n",
		"# 差し戻し\n\nocto が差し戻した。\n\n<<<R-77 reason\nRESTのままにする\nR-77>>>\n":                                             "> RESTのままにする\n",
		"# Rules\n\nNo block.\n\n<<<R-77 issue\nnot a reason\nR-77>>>\n":                                              "",
	} {
		b.task.Prompt = prompt
		b.do(metadata.Revise, 0)
		got := b.read(b.task.Artifact)
		if !strings.Contains(got, want) || strings.Contains(got, "not a reason") || strings.Contains(got, "> ") != (want != "") {
			t.Errorf("%q: the artifact reads\n%s", prompt, got)
		}
	}
}

func TestRehearsalWithoutTheRightToWrite(t *testing.T) {
	b := newBench(t)
	b.task.Access = pipelines.AccessRead
	r := b.do(metadata.Execute, 0)
	if _, err := os.Stat(b.task.Artifact); err == nil || !strings.HasPrefix(r.Text, "# Add a greeting") {
		t.Errorf("text %q, artifact there: %v", r.Text, err == nil)
	}
}

func TestRehearsalAnswersASchema(t *testing.T) {
	b := newBench(t)
	b.task.Schema = json.RawMessage(`{"type":"object","required":["complexity"],"properties":{"complexity":{"type":"string","pattern":"^(low|high)$"}}}`)
	if r := b.do(metadata.Execute, 0); string(r.Structured) != `{"complexity":"low"}` {
		t.Errorf("structured %s", r.Structured)
	}
}

func TestRehearsalTakesItsTime(t *testing.T) {
	b := newBench(t)
	b.agent.CallTime = 30 * time.Millisecond
	began := time.Now()
	b.do(metadata.Execute, 0)
	if took := time.Since(began); took < b.agent.CallTime {
		t.Errorf("it took %v", took)
	}
}

func TestRehearsalIsCancelled(t *testing.T) {
	b := newBench(t)
	b.agent.CallTime = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := b.agent.Run(ctx, b.task)
	var fault *engine.AgentError
	if !errors.As(err, &fault) || fault.Class != metadata.StepTimeout {
		t.Errorf("error %v, want class timeout", err)
	}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	if _, err = b.agent.Run(cancelled, b.task); !errors.As(err, &fault) || fault.Class != metadata.Signal {
		t.Errorf("error %v, want class signal", err)
	}
}

func TestStubs(t *testing.T) {
	b := newBench(t)
	file := filepath.Join(t.TempDir(), "stubs.yaml")
	testenv.Must(t, put(file, `
planning/execute/1:
  text: Thought about it.
  artifact: "# Mine\n"
  files: {docs/plan.md: hello}
  report: {complexity: low}
  usage: {input_tokens: 10, output_tokens: 5, cost_usd: 0.5}
planning/execute/2:
  error: {class: rate_limited, message: slow down, retry_after: 30s}
planning/execute:
  limit: turns
planning/review/1:
  sleep: 20ms
  verdict: {verdict: fail, gates: [], findings: [{id: F9, severity: blocker, title: Bad}]}
`))
	stubs, err := ReadStubs(file)
	testenv.Must(t, err)
	b.agent.Stubs = stubs
	r := b.do(metadata.Execute, 0)
	if r.Text != "Thought about it." || string(r.Structured) != `{"complexity":"low"}` || r.Usage.USD != 0.5 || b.read(b.task.Artifact) != "# Mine\n" || b.read(filepath.Join(b.dir, "docs", "plan.md")) != "hello" {
		t.Errorf("first call: %+v", r)
	}
	_, fault := b.run()
	if fault == nil || fault.Class != metadata.RateLimited || fault.RetryAfter != 30*time.Second || fault.Error() != "rehearsal: slow down" {
		t.Errorf("second call: %+v", fault)
	}
	if r = b.do(metadata.Execute, 0); r.Limit != "turns" {
		t.Errorf("third call: %+v", r)
	}
	if v := verdictOf(t, b.do(metadata.Review, 0)); v.Verdict != metadata.Fail || v.Findings[0].ID != "F9" {
		t.Errorf("review: %+v", v)
	}
	if v := verdictOf(t, b.do(metadata.Review, 0)); v.Verdict != metadata.Pass {
		t.Errorf("a review that is not scripted: %+v", v)
	}
}

func TestStubsDoNotLeaveTheTree(t *testing.T) {
	b := newBench(t)
	outside := t.TempDir()
	testenv.Must(t, os.Symlink(outside, filepath.Join(b.dir, "out")))
	b.agent.Stubs = &Stubs{seen: map[string]int{}, calls: map[string]stub{"planning/execute": {Files: map[string]string{"out/x": "x"}}}}
	_, fault := b.run()
	if _, err := os.Stat(filepath.Join(outside, "x")); err == nil || fault == nil {
		t.Errorf("error %v; a file was written through a link: %v", fault, err == nil)
	}
}

func TestStubMistakes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stubs.yaml")
	for text, want := range map[string]string{
		"planning/execute: {tex: x}":                          `:1:20: ["planning/execute"].tex: unknown field, did you mean "text"?`,
		"execute: {text: x}":                                  `:1:1: execute: not a good name, expected PHASE/STEP or PHASE/STEP/N, where STEP is execute, review, revise or diagnose, and N counts from 1`,
		"planning/fly: {}":                                    ":1:1: [\"planning/fly\"]: not a good name, expected PHASE/STEP",
		"planning/review/0: {}":                               "not a good name",
		"planning/review/1x: {}":                              "not a good name",
		"planning/execute: {error: {class: rate_limite}}":     `did you mean "rate_limited"?`,
		"planning/execute: {error: {}}":                       `error.class: missing`,
		"planning/execute: {sleep: long}":                     `got "long", expected a time such as "2s"`,
		"planning/execute: {limit: time}":                     `got "time", expected one of "turns", "budget"`,
		"planning/execute: {usage: {cost_usd: -1}}":           `got -1, expected a number of at least 0`,
		"planning/execute: {files: {../x: y}}":                `:1:34: ["planning/execute"].files["../x"]: not below the work tree`,
		"planning/execute: {report: {a: 1}, verdict: {b: 2}}": `:1:45: ["planning/execute"].verdict: a call has a report or a verdict, not both`,
		"planning/execute: {text: x}\n oops: 1":               `:2:2: `,
		"[]":                                                  "expected an object",
	} {
		testenv.Must(t, put(file, text))
		var mistakes pipelines.Mistakes
		if _, err := ReadStubs(file); !errors.As(err, &mistakes) || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), file+":") {
			t.Errorf("%s: error %v, want it to say %q", text, err, want)
		}
	}
	if _, err := ReadStubs("no/such/file"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	testenv.Must(t, put(file, "planning/execute: {tex: x, limit: 3}\nreview: {}\n"))
	if _, err := ReadStubs(file); err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("error %v, want all three mistakes", err)
	}
	testenv.Must(t, put(file, "\n"))
	if _, err := ReadStubs(file); err != nil {
		t.Errorf("a file that scripts nothing: %v", err)
	}
}
