package agents

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

func TestCommandAnswers(t *testing.T) {
	for _, tt := range []struct {
		name, printed string
		want          engine.Result
		why           string
	}{
		{"nothing", "", engine.Result{Usage: metadata.Usage{Unknown: true}}, ""},
		{"everything", "{\n \"text\": \"Done.\", \"structured\": {\"a\": 1},\n \"session\": \"s\", \"limit\": \"turns\",\n \"usage\": {\"input_tokens\": 3, \"output_tokens\": 2, \"cached_tokens\": 1, \"cost_usd\": 0.5}}\n", engine.Result{
			Text: "Done.", Structured: json.RawMessage(`{"a": 1}`), Session: "s", Limit: "turns",
			Usage: metadata.Usage{InputTokens: 3, OutputTokens: 2, CachedTokens: 1, USD: 0.5},
		}, ""},
		{"tokens without a price", `{"usage": {"input_tokens": 1000000}}`, engine.Result{Usage: metadata.Usage{InputTokens: 1000000, USD: 15, Estimated: true}}, ""},
		{"prose", "Done.", engine.Result{}, "is no result"},
		{"unknown field", `{"txt": "x"}`, engine.Result{}, `txt: unknown field`},
		{"two objects", `{} {}`, engine.Result{}, "nothing or one JSON object"},
		{"a field twice", `{"structured": {"verdict": "fail"}, "structured": {"verdict": "pass"}}`, engine.Result{}, `structured: the name occurs twice`},
		{"a field in capitals", `{"structured": {"verdict": "fail"}, "Structured": {"verdict": "pass"}}`, engine.Result{}, `Structured: unknown field`},
		{"odd limit", `{"limit": "time"}`, engine.Result{}, `limit is "time"`},
		{"negative usage", `{"usage": {"cost_usd": -1}}`, engine.Result{}, "may not be negative"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.install("worker", "answer", tt.printed)
			r, fault := b.run("command")
			if tt.why != "" {
				if !r.Usage.Unknown {
					t.Errorf("what a broken call has cost is known: %+v", r.Usage)
				}
				if fault == nil || fault.Class != metadata.Refused || fault.Agent != "worker" || !strings.Contains(fault.Error(), tt.why) {
					t.Errorf("error %+v, want it to say %q", fault, tt.why)
				}
				return
			}
			tt.want.ToolCalls = -1
			if diff := cmp.Diff(tt.want, r); diff != "" || fault != nil {
				t.Errorf("error %v, result (-want +got):\n%s", fault, diff)
			}
			for _, name := range []string{"stdin", "file"} {
				var got engine.Task
				if err := json.Unmarshal([]byte(b.read(filepath.Join(b.dir, name))), &got); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if diff := cmp.Diff(b.task, got); diff != "" {
					t.Errorf("the task as it arrived by %s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

func TestCommandThatFails(t *testing.T) {
	b := newBench(t)
	b.install("worker", "crash")
	if _, fault := b.run("command"); fault == nil || fault.Class != metadata.Crash || !strings.Contains(fault.Error(), "exit status 3") || !strings.Contains(fault.Stderr, "loading") {
		t.Errorf("error %+v", fault)
	}
	b.install("worker", "flood", "stdout", "3")
	if _, fault := b.run("command"); fault == nil || fault.Class != metadata.Refused || !strings.Contains(fault.Error(), "printed more than") {
		t.Errorf("error %+v", fault)
	}
}

// A command is a path from the top of the tree, too, and a shell script finds
// its way by variables alone.
func TestCommandInTheTree(t *testing.T) {
	b := newBench(t)
	b.write(filepath.Join(b.dir, "tools", "agent.sh"), `echo "$REPRISE_PHASE $REPRISE_STEP $REPRISE_DIR" > "$REPRISE_ARTIFACT"`)
	b.write(b.task.Artifact, "")
	a := command{newCLI("command", pipelines.Agent{Command: []string{"/bin/sh", "tools/agent.sh"}}, b.opts)}
	if _, err := a.Run(t.Context(), b.task); err != nil {
		t.Fatal(err)
	}
	if got, want := b.read(b.task.Artifact), "planning execute "+b.dir+"\n"; got != want {
		t.Errorf("artifact %q, want %q", got, want)
	}
}
