package pipelines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bombs are small pipelines that cost far more than they look.
func bombs() map[string]string {
	doubling := func(first, format string, n int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "a0: %s\n", first)
		for i := 1; i <= n; i++ {
			fmt.Fprintf(&b, format+"\n", i, i-1)
		}
		return b.String()
	}
	return map[string]string{
		"text that doubles":    doubling(`"xxxxxxxxxxxxxxxx"`, `a%d: "\(a%[2]d)\(a%[2]d)"`, 40),
		"structs that double":  doubling(`{x: 1}`, `a%d: {l: a%[2]d, r: a%[2]d}`, 40),
		"disjunctions":         doubling(`{x: 1} | {y: 1} | {z: 1}`, `a%d: a%[2]d & ({x%[1]d: 1} | {y%[1]d: 1} | {z%[1]d: 1})`, 16),
		"a product of loops":   "import \"list\"\nl: list.Range(0, 3000, 1)\nn: [for a in l for b in l for c in l {a+b+c}]\n",
		"one huge repetition":  "import \"strings\"\nname: strings.Repeat(\"a\", 2_000_000_000)\n",
		"a list without end":   "import \"list\"\nl: list.Repeat([1, 2, 3], 500_000_000)\n",
		"a list of references": doubling(`[1, 2, 3, 4]`, `a%d: [for x in a%[2]d for y in a%[2]d {x}]`, 6),
		"deep nesting":         "x: " + strings.Repeat("[", 120_000) + strings.Repeat("]", 120_000) + "\n",
	}
}

func TestBombs(t *testing.T) {
	e := child(t)
	e.time = 1500 * time.Millisecond
	for name, text := range bombs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "bomb.cue")
			text += "phases: [{name: \"a\", goal: \"x\"}]\n"
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			_, err := Load(t.Context(), Sources{Path: file, Evaluator: e}, "")
			t.Logf("%v after %v", err, time.Since(begin))
			var mistakes Errors
			if !errors.As(err, &mistakes) || len(mistakes) != 1 || mistakes[0].File != file {
				t.Fatalf("got %v, want one mistake of the file", err)
			}
			if m := mistakes[0].Message; !strings.Contains(m, "longer than 1.5s") && !strings.Contains(m, "more than 300 MB") {
				t.Errorf("got %q, want it to name a limit", m)
			}
			if took := time.Since(begin); took > 4*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestTooLarge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large.cue")
	if err := os.WriteFile(file, []byte("// "+strings.Repeat("x", maxInput)), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Load(t.Context(), Sources{Path: file, Evaluator: child(t)}, "")
	if want := file + ": too large, expected at most 262144 bytes"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestHugeAnswer has a pipeline within all limits but that of what comes out.
func TestHugeAnswer(t *testing.T) {
	text := `import ("list", "strings")
phases: [for i in list.Range(0, 2500, 1) {name: "p\(i)", goal: strings.Repeat("x", 9000)}]`
	file := filepath.Join(t.TempDir(), "huge.cue")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Load(t.Context(), Sources{Path: file, Evaluator: child(t)}, "")
	if err == nil || !strings.Contains(err.Error(), "expected at most 16777216") {
		t.Errorf("got %v, want the limit on the answer", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("somebody pressed a key")
	time.AfterFunc(100*time.Millisecond, func() { cancel(why) })
	begin := time.Now()
	_, err := child(t).Matches(ctx, bombs()["a product of loops"], []byte("{}"))
	if !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
	if took := time.Since(begin); took > 2*time.Second {
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
		"fails":     {[]string{"/bin/sh", "-c", "echo broken >&2; exit 3"}, "exit status 3: broken"},
		"says junk": {[]string{"/bin/sh", "-c", "echo junk"}, "unreadable answer"},
	} {
		_, err := Evaluator{Argv: test.argv}.Matches(t.Context(), "a: 1", []byte("{}"))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
