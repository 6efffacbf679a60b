package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// printing is an agent whose program prints lines.
type printing struct {
	keeper *Keeper
	lines  []string
	result engine.Result
	err    error
}

func (a printing) Run(_ context.Context, t engine.Task) (engine.Result, error) {
	for _, l := range a.lines {
		a.keeper.Line(t, []byte(l))
	}
	return a.result, a.err
}

var at = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func keeper(dir string) *Keeper {
	return NewKeeper(dir, 0, func(s string) string { return strings.ReplaceAll(s, "hunter2", "[a password]") }, func() time.Time { return at })
}

func task(n int) engine.Task {
	return engine.Task{Attempt: n, Phase: "planning", Step: metadata.Execute, Dir: "/home/runner/demo", Prompt: "Write a plan.\nThe password is hunter2."}
}

// call has an agent print the lines of a recorded stream, and gives how that reads.
func call(t *testing.T, use string, lines []string, r engine.Result, fault error) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "transcripts")
	k := keeper(dir)
	_, err := k.Agent("writer", use, printing{k, lines, r, fault}).Run(t.Context(), task(3))
	if !errors.Is(err, fault) {
		t.Fatal(err)
	}
	return shown(t, dir, 3)
}

func shown(t *testing.T, dir string, n int) string {
	t.Helper()
	entries, err := ReadTranscript(dir, n)
	testenv.Must(t, err)
	var out bytes.Buffer
	p := TranscriptPrinter{Printer: text.Printer{W: &out}, Width: 80}
	for _, e := range entries {
		p.Print(n, e)
	}
	return out.String()
}

// What real programs have printed reads like a conversation.
func TestStreamsRead(t *testing.T) {
	for name, want := range map[string]string{
		"claude-write": `#3 planning execute, writer (claude)
  prompt: 43 characters (--prompts shows it)
  → Write .reprise/issue-7/00_planning/planning.md
    ← File created successfully at: .reprise/issue-7/00_planning/planning.md (f…
  Done.
  ✓ done
`,
		"claude-permission-denied": `#3 planning execute, writer (claude)
  prompt: 43 characters (--prompts shows it)
  → Write .reprise/issue-7/00_planning/x.md
    ✗ Claude requested permissions to write to .reprise/issue-7/00_planning/x.m…
  Done.
  ✓ done
`,
		"claude-structured": `#3 planning execute, writer (claude)
  prompt: 43 characters (--prompts shows it)
  ✓ Done.
`,
		"codex-write": `#3 planning execute, writer (codex)
  prompt: 43 characters (--prompts shows it)
  · Model metadata for ` + "`gpt-5-codex`" + ` not found. Defaulting to fallback metadata…
  → shell mkdir -p $(dirname .reprise/issue-7/00_planning/planning9.md) && cat …
    ← nothing
  Done.
  ✓ done
`,
		"gemini-write": `#3 planning execute, writer (gemini)
  prompt: 43 characters (--prompts shows it)
  → write_file art/g.md
    ← success
  Done.
  ✓ done
`,
		"gemini-denied": `#3 planning execute, writer (gemini)
  prompt: 43 characters (--prompts shows it)
  → run_shell_command touch zzz
    ✗ Tool "run_shell_command" not found. Did you mean one of: "update_topic", …
  Done.
  ✓ done
`,
	} {
		t.Run(name, func(t *testing.T) {
			data := testenv.Read(t, "testdata/"+name+".jsonl")
			use, _, _ := strings.Cut(name, "-")
			got := call(t, use, strings.Split(strings.TrimSpace(data), "\n"), engine.Result{Text: "Done."}, nil)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A program that prints no events, and an agent that prints nothing, have a transcript,
// too, and secrets are in none.
func TestOtherPrograms(t *testing.T) {
	got := call(t, "command", []string{"hello", `{"text": "the password is hunter2"}`}, engine.Result{Structured: json.RawMessage(`{"verdict":"pass"}`)}, errors.New("exit status 1: hunter2"))
	want := `#3 planning execute, writer (command)
  prompt: 43 characters (--prompts shows it)
  · hello
  · {"text": "the password is [a password]"}
  ✗ exit status 1: [a password]
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := call(t, "rehearsal", nil, engine.Result{
		Structured: json.RawMessage(`{"verdict":"fail","gates":[{"gate":"It works","pass":false},{"gate":"It is fast","pass":true}],"findings":[{"id":"R1","title":"It is slow"}]}`),
	}, nil); !strings.HasSuffix(got, "  ✓ fail; gate fails: It works; R1 It is slow\n") {
		t.Errorf("got %q", got)
	}
}

// An answer that has fields is read as a person writes such things down.
func TestFieldsOfAnAnswer(t *testing.T) {
	for data, want := range map[string]string{
		`{"sure":true,"files":[],"cause":"The \u2713 is cut: \u001b[2J","tasks":[{"id":"t1","title":"One","size":3}]}`: `  cause: "The ✓ is cut: \e[2J"
  files: []
  sure: true
  tasks:
    - id: t1
      size: 3
      title: One
  ✓ done
`,
		`{"x": "a\nb"}`: "  x: |-\n    a\n    b\n  ✓ done\n",
		`{}`:            "  ✓ {}\n",
	} {
		got := call(t, "rehearsal", nil, engine.Result{Structured: json.RawMessage(data)}, nil)
		if _, got, _ := strings.Cut(got, "shows it)\n"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", data, got, want)
		}
	}
}

// Of a program that prints without end, a part is kept; what came of its call is there.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	k := keeper(dir)
	lines := []string{strings.Repeat("a", 2*mostOfLine)}
	for range mostOfCall / mostOfLine {
		lines = append(lines, strings.Repeat("b", mostOfLine))
	}
	if _, err := k.Agent("writer", "command", printing{k, lines, engine.Result{Text: "the end"}, nil}).Run(t.Context(), task(1)); err != nil {
		t.Fatal(err)
	}
	short := slices.Repeat([]string{"y"}, mostOfCall/50) // what is around a line is longer than the line
	if _, err := k.Agent("writer", "command", printing{k, short, engine.Result{}, nil}).Run(t.Context(), task(2)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"attempt-1.jsonl", "attempt-2.jsonl"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Size() > mostOfCall+2*mostOfLine || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if got := shown(t, dir, 1); strings.Count(got, "the rest is left out") != 2 || !strings.HasSuffix(got, "✓ the end\n") {
		t.Errorf("it ends with %q", got[max(0, len(got)-200):])
	}
}

// What is old goes, and nothing that somebody else has put there.
func TestOldTranscriptsGo(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"attempt-1.jsonl": keptFor + time.Hour, "attempt-2.jsonl": time.Hour, "attempt-x.jsonl": 2 * keptFor, "attempt-01.jsonl": 2 * keptFor} {
		file := filepath.Join(dir, name)
		testenv.Must(t, os.WriteFile(file, nil, 0o600))
		testenv.Must(t, os.Chtimes(file, at.Add(-age), at.Add(-age)))
	}
	keeper(dir)
	left, err := KeptAttempts(dir)
	if err != nil || !cmp.Equal(left, []int{2}) {
		t.Errorf("left are %v, %v", left, err)
	}
	if all, _ := filepath.Glob(dir + "/*"); len(all) != 3 {
		t.Errorf("left are %q", all)
	}
	NewKeeper(dir, 30*time.Minute, nil, func() time.Time { return at })
	if left, err := KeptAttempts(dir); err != nil || len(left) > 0 {
		t.Errorf("where they are kept for half an hour, left are %v, %v", left, err)
	}
}

// One that is still written is read as far as it is there.
func TestReadWhileItIsWritten(t *testing.T) {
	dir := t.TempDir()
	k := keeper(dir)
	k.begin(task(1), callStart{Attempt: 1, Use: "gemini", Prompt: "go"})
	r, err := OpenTranscript(dir, 1)
	testenv.Must(t, err)
	defer r.Close()
	read := func() []Entry {
		all, err := r.Entries()
		testenv.Must(t, err)
		return all
	}
	if all := read(); len(all) != 1 || all[0].Kind != Begins {
		t.Errorf("got %v", all)
	}
	k.Line(task(1), []byte(`{"type":"message","role":"assistant","content":"I am ","delta":true}`))
	if all := read(); len(all) != 0 {
		t.Errorf("half of what is said: %v", all)
	}
	k.Line(task(1), []byte(`{"type":"message","role":"assistant","content":"here.","delta":true}`))
	k.Line(task(1), []byte(`{"type":"tool_use","tool_name":"ls","parameters":{}}`))
	if all := read(); len(all) != 2 || all[0].Text != "I am here." || all[1].Tool != "ls" {
		t.Errorf("got %v", all)
	}
	k.end(task(1), callEnd{Text: "ok"})
	if all := read(); len(all) != 1 || all[0].Kind != Ends {
		t.Errorf("got %v", all)
	}
	k.Line(task(1), []byte("late")) // nobody has it open any more
}

// Whatever a program prints, nothing of it moves the cursor, and no line makes reading it
// stop.
func FuzzTranscript(f *testing.F) {
	for _, s := range progresstest.HostileTexts() {
		f.Add(s)
		quoted, err := json.Marshal(s)
		testenv.Must(f, err)
		f.Add(`{"type":"assistant","message":{"content":[{"type":"text","text":` + string(quoted) + `},{"type":"tool_use","name":` + string(quoted) + `,"input":{"path":` + string(quoted) + `}}]}}`)
		f.Add(`{"type":"item.completed","item":{"type":"command_execution","exit_code":1,"aggregated_output":` + string(quoted) + `}}`)
		f.Add(`{"type":"tool_result","status":"error","error":{"message":` + string(quoted) + `}}`)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > 20_000 {
			return
		}
		for _, use := range []string{"claude", "codex", "gemini", "command"} {
			r := TranscriptReader{call: callStart{Use: use, Dir: "/tree", Prompt: line, Agent: line}}
			var out bytes.Buffer
			p := TranscriptPrinter{Printer: text.Printer{W: &out}, Width: 80, Prompts: true}
			begin, end := r.call, callEnd{Text: line}
			for _, rec := range []record{{Call: &begin}, {Line: &line}, {End: &end}} {
				for _, e := range r.entries(rec) {
					p.Print(0, e)
				}
			}
			if i := strings.IndexFunc(out.String(), func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) || r == '\u202e' }); i >= 0 {
				t.Fatalf("a control character got through: %q", out.String())
			}
		}
	})
}

// A copy has the newest transcripts that there is room for.
func TestCopy(t *testing.T) {
	from := t.TempDir()
	write := func(name string, size int) {
		t.Helper()
		testenv.Must(t, os.WriteFile(filepath.Join(from, name), bytes.Repeat([]byte("x"), size), 0o600))
	}
	for n, size := range map[int]int{1: 30, 2: 10, 3: 40} {
		write(name(n), size)
	}
	to := filepath.Join(t.TempDir(), "transcripts")
	left, err := CopyTranscripts(from, to, 52, func(s string) string { return strings.ReplaceAll(s, "x", "y") })
	var got []string
	entries, _ := os.ReadDir(to) // it is found out below
	for _, e := range entries {
		data, _ := os.ReadFile(filepath.Join(to, e.Name()))
		if strings.Trim(string(data), "y") != "" {
			t.Errorf("%s was not masked: %s", e.Name(), data)
		}
		got = append(got, e.Name())
	}
	if want := []string{name(2), name(3)}; left != 1 || err != nil || !slices.Equal(got, want) {
		t.Errorf("it has %q, %d are left out (%v)", got, left, err)
	}
	empty := filepath.Join(t.TempDir(), "transcripts")
	if left, err := CopyTranscripts(t.TempDir(), empty, 72, nil); left != 0 || err != nil {
		t.Errorf("of nothing %d are left out (%v)", left, err)
	}
	if _, err := os.Stat(empty); err == nil {
		t.Error("of nothing a folder is left")
	}
}
