package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// doubling is a chain of n fields, each made of the one before.
func doubling(first, format string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "_a0: %s\n", first)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, format+"\n", i, i-1)
	}
	return b.String()
}

// TestBombs evaluates small pipelines that cost far more than they look.
// Either limit may be the first to be reached: that depends on the machine.
func TestBombs(t *testing.T) {
	e := child(t)
	e.time = time.Second
	for name, text := range map[string]string{
		"texts in texts":     doubling(`"xxxxxxxxxxxxxxxx"`, `_a%d: "\(_a%[2]d)\(_a%[2]d)"`, 40),
		"structs in structs": doubling(`{x: 1}`, `_a%d: {l: _a%[2]d & {k: 1}, r: _a%[2]d & {k: 2}}`, 40),
		"disjunctions": doubling(`{x: 1} | {y: 1} | {z: 1}`,
			`_a%d: _a%[2]d & ({x%[1]d: 1} | {y%[1]d: 1} | {z%[1]d: 1})`, 16),
		"loops in loops":      "import \"list\"\n_l: list.Range(0, 3000, 1)\n_n: [for a in _l for b in _l for c in _l {a+b+c}]\n",
		"lists squared":       doubling(`[1, 2, 3, 4]`, `_a%d: [for x in _a%[2]d for y in _a%[2]d {x}]`, 6),
		"repeated repetition": "import \"strings\"\n" + doubling(`strings.Repeat("x", 1_000_000)`, `_a%d: strings.Repeat(_a%[2]d, 1000)`, 5),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := bomb(t, text)
			_, err := Load(t.Context(), Sources{Path: file, Evaluator: e}, "")
			var mistakes pipelines.Mistakes
			if !errors.As(err, &mistakes) || len(mistakes) != 1 || mistakes[0].File != file {
				t.Fatalf("got %v, want one mistake of the file", err)
			}
			if m := mistakes[0].Message; !strings.Contains(m, "longer than 1s") && !strings.Contains(m, "more than 300 MB") {
				t.Errorf("got %q, want it to name a limit", m)
			}
		})
	}
}

// bomb writes a pipeline that is fine but for the text in front of it.
func bomb(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bomb.cue")
	testenv.Put(t, file, text+"phases: [{name: \"a\", goal: \"x\"}]\n")
	return file
}

// TestMemory evaluates at once what would take no time where memory is not
// limited. Out of memory, Go now and then takes longer to die than it may.
func TestMemory(t *testing.T) {
	file := bomb(t, "import \"strings\"\n"+doubling(`strings.Repeat("x", 1_000_000)`, `_a%d: strings.Repeat(_a%[2]d, 700)`, 1))
	_, err := Load(t.Context(), Sources{Path: file, Evaluator: child(t)}, "")
	if err == nil || !strings.Contains(err.Error(), "evaluating it took more than 300 MB") &&
		!strings.Contains(err.Error(), "evaluating it took longer than 5s") {
		t.Errorf("got %v, want it to name a limit", err)
	}
}

func TestNesting(t *testing.T) {
	file := bomb(t, "_x: "+strings.Repeat("[", 120_000)+strings.Repeat("]", 120_000)+"\n")
	e := child(t)
	e.time = 4 * maxTime // a slow machine may take longer than the usual
	_, err := Load(t.Context(), Sources{Path: file, Evaluator: e}, "")
	if err == nil || !strings.Contains(err.Error(), "nesting depth") {
		t.Errorf("got %v, want a limit on nesting", err)
	}
}

func TestTooLarge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large.cue")
	testenv.Put(t, file, "// "+strings.Repeat("x", maxInput))
	_, err := Load(t.Context(), Sources{Path: file, Evaluator: child(t)}, "")
	if want := file + ": too large with what it builds on, expected at most 262144 bytes"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestHugeAnswer has a pipeline within all limits but that of what comes out.
func TestHugeAnswer(t *testing.T) {
	text := `import ("list", "strings")
phases: [for i in list.Range(0, 550, 1) {name: "p\(i)", goal: strings.Repeat("x", 8500)}]`
	in, err := json.Marshal(request{Files: []file{{Name: "huge.cue", Text: text}}})
	testenv.Must(t, err)
	var out bytes.Buffer
	err = reply(bytes.NewReader(in), &out)
	if err == nil || !strings.Contains(err.Error(), "expected at most 4194304") || out.Len() > 0 {
		t.Errorf("got %v and %d bytes, want the limit on the answer", err, out.Len())
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("somebody pressed a key")
	time.AfterFunc(100*time.Millisecond, func() { cancel(why) })
	begin := time.Now()
	when := "import \"list\"\n_l: list.Range(0, 3000, 1)\n_n: [for a in _l for b in _l for c in _l {a+b+c}]\n"
	e := child(t)
	e.time = 10 * time.Minute
	_, err := e.Matches(ctx, when, []byte("{}"))
	if !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
	if took := time.Since(begin); took > 5*time.Minute {
		t.Errorf("took %v", took)
	}
}

// TestNoSecrets has the child say what it can see of the environment.
func TestNoSecrets(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "canary")
	e := Evaluator{Argv: []string{"/bin/sh", "-c", "env >&2; exit 1"}}
	err := e.CheckReport(t.Context(), "a: int", []byte("{}"))
	if err == nil || !strings.Contains(err.Error(), "GOTRACEBACK=none") || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v, want an environment without the canary", err)
	}
}

func TestBadChild(t *testing.T) {
	for name, test := range map[string]struct {
		argv []string
		want string
	}{
		"missing":   {[]string{"/nowhere/reprise"}, "no such file"},
		"fails":     {[]string{"/bin/sh", "-c", "echo broken >&2; exit 2"}, "exit status 2: broken"},
		"says junk": {[]string{"/bin/sh", "-c", "echo junk"}, "unreadable answer"},
	} {
		_, err := Evaluator{Argv: test.argv}.Matches(t.Context(), "a: 1", []byte("{}"))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
