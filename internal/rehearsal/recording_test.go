package rehearsal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// fake is an agent that does what a test says.
type fake func(t engine.Task) (engine.Result, error)

func (f fake) Run(_ context.Context, t engine.Task) (engine.Result, error) { return f(t) }

// folder is a tree in which all these paths have changed.
type folder struct {
	dir     string
	changed []string
}

func (f folder) Dir() string { return f.dir }

func (f folder) Changes(context.Context) (out []phases.Change, err error) {
	for _, name := range f.changed {
		out = append(out, phases.Change{Path: name, Kind: phases.FileKind})
	}
	return out, nil
}

// opened opens a recording by the variables of a process.
func opened(t *testing.T, variable, file string) *Recording {
	t.Helper()
	getenv := func(name string) string { return map[string]string{variable: file}[name] }
	r, err := OpenRecording(getenv, func(s string) string { return strings.ReplaceAll(s, "swordfish", "***") })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func agent(t *testing.T, r *Recording, tree RecordedTree, a engine.Agent) engine.Agent {
	t.Helper()
	out, err := r.Agent(tree, func() (engine.Agent, error) { return a, nil })
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func asked(dir string, attempt int, prompt string) engine.Task {
	return engine.Task{Issue: "7", Phase: "solve", Step: metadata.Execute, Attempt: attempt, Access: pipelines.AccessTree, Dir: dir, Prompt: prompt, Session: "s"}
}

// TestWhatAnAgentLeftIsGivenAgain records what a call wrote, removed, linked and made
// executable, and plays it in another tree.
func TestWhatAnAgentLeftIsGivenAgain(t *testing.T) {
	file, first, second := filepath.Join(t.TempDir(), "r.jsonl"), t.TempDir(), t.TempDir()
	files := []string{"a/text", "bytes", "runs", "link", "gone", "empty", ".reprise/issue-7/metadata.json"}
	wrote := fake(func(task engine.Task) (engine.Result, error) {
		err := errors.Join(
			os.MkdirAll(filepath.Join(task.Dir, "a"), 0o755), os.MkdirAll(filepath.Join(task.Dir, ".reprise/issue-7"), 0o755),
			os.WriteFile(filepath.Join(task.Dir, "a/text"), []byte("the word is swordfish\n"), 0o644),
			os.WriteFile(filepath.Join(task.Dir, "bytes"), []byte{0xff, 0}, 0o644),
			os.WriteFile(filepath.Join(task.Dir, "runs"), []byte("#!\n"), 0o755),
			os.WriteFile(filepath.Join(task.Dir, "empty"), nil, 0o644),
			os.WriteFile(filepath.Join(task.Dir, ".reprise/issue-7/metadata.json"), []byte("{}"), 0o644),
			os.Symlink("a/text", filepath.Join(task.Dir, "link")))
		return engine.Result{
			Text: "swordfish", Structured: []byte(`{"a":"swordfish"}`), Model: "m", Usage: metadata.Usage{USD: 0.5}, ToolCalls: 3, Session: "other",
		}, err
	})
	recorder := agent(t, opened(t, Records, file), folder{first, files}, wrote)
	if _, err := recorder.Run(t.Context(), asked(first, 1, "Do it in "+first+".")); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(file); err != nil || strings.Contains(string(data), "swordfish") {
		t.Errorf("%v: %s", err, data)
	}
	for _, name := range []string{"gone", "text/inside"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(second, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(second, name), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	player := agent(t, opened(t, Plays, file), nil, fake(nil))
	got, err := player.Run(t.Context(), asked(second, 1, "Do it in "+second+"."))
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Result{Text: "***", Structured: []byte(`{"a":"***"}`), Model: "m", Usage: metadata.Usage{USD: 0.5}, ToolCalls: 3, Session: "s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"a/text": "the word is ***\n", "bytes": "\xff\x00", "runs": "#!\n", "link": "the word is ***\n", "empty": ""} {
		if data, err := os.ReadFile(filepath.Join(second, name)); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if to, err := os.Readlink(filepath.Join(second, "link")); to != "a/text" {
		t.Errorf("link: %q, %v", to, err)
	}
	if info, err := os.Stat(filepath.Join(second, "runs")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("runs: %v, %v", info, err)
	}
	for _, name := range []string{"gone", ".reprise/issue-7/metadata.json"} {
		if _, err := os.Lstat(filepath.Join(second, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	if _, err := os.Stat(StaleFile(file)); err == nil {
		t.Error("it is stale")
	}
}

// TestToolsAreRecorded plays what reviews are held against: that tools were used, that none was,
// that some were refused, and that an agent does not tell.
func TestToolsAreRecorded(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "r.jsonl"), t.TempDir()
	results := []engine.Result{{ToolCalls: 2}, {}, {RanNothing: true}, {ToolCalls: 1, Denials: []string{"Read"}}, {ToolCalls: -1}}
	recorder := agent(t, opened(t, Records, file), folder{dir: dir}, fake(func(task engine.Task) (engine.Result, error) {
		return results[task.Attempt-1], nil
	}))
	for i := range results {
		if _, err := recorder.Run(t.Context(), asked(dir, i+1, "Judge it.")); err != nil {
			t.Fatal(err)
		}
	}
	player := agent(t, opened(t, Plays, file), nil, fake(nil))
	for i, want := range results {
		got, err := player.Run(t.Context(), asked(dir, i+1, "Judge it."))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("call %d, %v (-want +got):\n%s", i+1, err, diff)
		}
	}
}

// TestStale plays calls that are not those that were recorded.
func TestStale(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "r.jsonl"), t.TempDir()
	said := 0
	recorder := agent(t, opened(t, Records, file), folder{dir: dir}, fake(func(task engine.Task) (engine.Result, error) {
		if said++; said == 2 {
			return engine.Result{}, errors.New("the network was down")
		}
		return engine.Result{Text: task.Prompt}, nil
	}))
	for i, prompt := range []string{"one\ntwo", "not recorded", "killed after it was recorded", "three"} {
		_, err := recorder.Run(t.Context(), asked(dir, min(i+1, 3), prompt))
		if (err != nil) != (i == 1) {
			t.Fatal(err)
		}
	}
	for want, change := range map[string]func(*engine.Task){
		"":                                 func(*engine.Task) {},
		`the model is "large", and was ""`: func(t *engine.Task) { t.Model = "large" },
		`the prompt is another one from line 2 on: "2", recorded "two"`: func(t *engine.Task) { t.Prompt = "one\n2" },
		"no answer is recorded; there are 0 of this step":               func(t *engine.Task) { t.Step = metadata.Review },
	} {
		player := agent(t, opened(t, Plays, file), nil, nil)
		task := asked(dir, 1, "one\ntwo")
		change(&task)
		got, err := player.Run(t.Context(), task)
		stale, _ := os.ReadFile(StaleFile(file))
		if want == "" && (err != nil || got.Text != task.Prompt) || want != "" && (err == nil || string(stale) != "solve "+string(task.Step)+", call 1: "+want) {
			t.Errorf("%q: %q, %v", stale, got.Text, err)
		}
	}
	player := agent(t, opened(t, Plays, file), nil, nil)
	for i, prompt := range []string{"one\ntwo", "three", "more"} {
		if got, err := player.Run(t.Context(), asked(dir, i+1, prompt)); (err != nil) != (i == 2) || err == nil && got.Text != prompt {
			t.Errorf("%d: %q, %v", i, got.Text, err)
		}
	}
}

// TestSteady leaves out of a prompt what is another thing in each run, and nothing else.
func TestSteady(t *testing.T) {
	for prompt, want := range map[string]string{
		"<<<abcdefghij234567 issue\nText\nabcdefghij234567>>>":              "<<<BOUNDARY issue\nText\nBOUNDARY>>>",
		"in /h/run/tree/a and /h/run/copies/b":                              "in TREE/a and RUN/copies/b",
		"ok  \tpkg\t0.013s\nok  \tother\t(cached)":                          "ok  \tpkg\t…\nok  \tother\t…",
		"--- FAIL: TestX (0.00s)":                                           "--- FAIL: TestX (…)",
		"# duration_ms 12.5":                                                "# …",
		"HEAD is 0123456789012345678901234567890123456789":                  "HEAD is …",
		"at 2026-01-02T03:04:05Z and 03:04:05":                              "at … and …",
		"/tmp/reprise-0123456789ab-77x/f.go":                                "…/f.go",
		"It answers within 2 s, 3 times, as a defaced facade does; v1.2.3":  "It answers within 2 s, 3 times, as a defaced facade does; v1.2.3",
		"Budget: 1.5 dollars, line 12, port 8080, on 2026-01-02, ratio 0.5": "Budget: 1.5 dollars, line 12, port 8080, on 2026-01-02, ratio 0.5",
	} {
		if got := steady(engine.Task{Prompt: prompt, Dir: "/h/run/tree"}); got != want {
			t.Errorf("%q: got %q, want %q", prompt, got, want)
		}
	}
}

// TestBrokenRecordings names the line.
func TestBrokenRecordings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.jsonl")
	for text, want := range map[string]string{"": "", "{}\n{\n": ":2: "} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := OpenRecording(func(name string) string { return map[string]string{Plays: file}[name] }, nil)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if r, err := OpenRecording(func(string) string { return "" }, nil); r != nil || err != nil {
		t.Errorf("without a recording: %v, %v", r, err)
	}
}
