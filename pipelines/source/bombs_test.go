package source

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// bombFile is a small file that costs far more than it looks, in one of the
// languages, and a part of what is said about it.
type bombFile struct{ name, text, want string }

// quickBombs are refused before they cost much.
func quickBombs() []bombFile {
	const end = "phases: [{name: a, goal: x}]\n"
	nested := func(open, inside, shut string, n int) string {
		return strings.Repeat(open, n) + inside + strings.Repeat(shut, n)
	}
	return []bombFile{
		{"laughs.yaml", laughs(12) + end, "more than 50000 nodes"},
		{"itself.yaml", "a: &a [*a]\n" + end, "contains itself"},
		{"itself-by-name.yaml", "a: &a {b: *a}\n" + end, "contains itself"},
		{"lists.yaml", "x: " + nested("[", "", "]", 12_000) + "\n" + end, "max depth"},
		{"objects.yaml", "x: " + nested("{a: ", "", "}", 12_000) + "\n" + end, "max depth"},
		{"dashes.yml", "x:\n  " + strings.Repeat("- ", 12_000) + "1\n" + end, "max depth"},
		{"anchors.yaml", strings.Repeat("&a ", 80_000) + "\n" + end, "did not find"},
		{"lists.json", `{"x": ` + nested("[", "", "]", 10_500) + "}", "max depth"},
		{"objects.json", `{"x": ` + nested(`{"a":`, "1", "}", 10_500) + "}", "max depth"},
		{"parentheses.cue", "x: " + nested("(", "1", ")", 12_000), "nesting depth"},
		{"texts.cue", "x: " + nested(`"\(`, "1", `)"`, 12_000), "nesting depth"},
		{"minus.cue", "x: " + strings.Repeat("-", 12_000) + "1", "nesting depth"},
		{"regexp.cue", `select: title: "` + nested("(", "x", "){1,1000}", 900) + "\"\n" + `phases: [{name: "a", goal: "x"}]`, "too large"},
		{"mistakes.cue", "phases: [" + strings.Repeat(`{name: "a", goal: "x"},`, 300) + "]", "and 199 more"},
		{"mistakes.toml", strings.Repeat("[[phases]]\n", 200), "and 300 more"},
		{"text.cue", `language: "` + strings.Repeat("x", 20_000) + "\"\n" + `phases: [{name: "a", goal: "x"}]`, "xxx…"},
		{"exponent.cue", `budget: usd: 1e999999999` + "\n" + `phases: [{name: "a", goal: "x"}]`, "exponent"},
		{"exponent.json", `{"budget": {"usd": 1e-999999999}, "phases": [{"name": "a", "goal": "x"}]}`, "exponent"},
		{"exponent.toml", "[budget]\nusd = 1e999999999\n", "exponent"},
		{"bytes.cue", strings.Repeat("\xff\x00", 1000), "no text in UTF-8"},
	}
}

// laughs are lists of lists by aliases: n of them have 9 to the n items.
func laughs(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	return b.String()
}

// refuse loads bombs, each in a process of its own, and looks at what is said.
func refuse(t *testing.T, e Evaluator, bombs []bombFile) {
	for _, b := range bombs {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), b.name)
			testenv.Put(t, file, b.text)
			_, err := Load(t.Context(), Sources{Path: file, Evaluator: e}, "")
			var mistakes pipelines.Mistakes
			if !errors.As(err, &mistakes) || !strings.Contains(err.Error(), b.want) {
				t.Fatalf("got %.300v, want mistakes with %q", err, b.want)
			}
			if len(mistakes) > pipelines.MostMistakes+1 || slices.ContainsFunc(mistakes, func(m pipelines.Mistake) bool { return m.File != file || len(m.Message) > pipelines.MostMistakeBytes+3 }) {
				t.Errorf("%d mistakes, in %d bytes", len(mistakes), len(err.Error()))
			}
		})
	}
}

func TestBombsOfEveryLanguage(t *testing.T) { refuse(t, patient(t), quickBombs()) }

// patient is for what is refused before it costs much, also on a machine that
// has much else to do.
func patient(t *testing.T) Evaluator {
	e := child(t)
	e.time = time.Minute
	return e
}

// An agent may give anything for a report, and a rule sees it.
func TestReportBombs(t *testing.T) {
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	for name, tt := range map[string]struct{ report, value, want string }{
		"exponent":      {"a: number", `{"a": 1e999999999}`, "exponent"},
		"small":         {"a: number", `{"a": 1e-999999999}`, "exponent"},
		"beyond":        {"a: number", `{"a": 9e99999999999999999999}`, "exponent"},
		"deeper":        {"a: [...]", `{"a": ` + deep + deep + `}`, "not valid JSON"},
		"long text":     {`a: =~"^(x+x+)+y$"`, `{"a": "` + strings.Repeat("x", 50_000) + `"}`, "expected text that matches"},
		"unknown names": {"a: int", `{"a": 1` + strings.Repeat(`,"`+strings.Repeat("k", 5000)+`": 1`, 100) + `}`, "unknown field"},
		"deep":          {"a: [...]", `{"a": [` + strings.Repeat(deep+",", 19) + deep + `]}`, "longer than 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := patient(t)
			if name == "deep" { // which nothing but the time ends
				e.time = time.Second // the least that a system counts
			}
			err := e.CheckReport(t.Context(), tt.report, []byte(tt.value))
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 200_000 {
				t.Errorf("got %.300v, want %q", err, tt.want)
			}
		})
	}
	facts := []byte(`{"report": {"a": 1e999999999}}`)
	if ok, err := patient(t).Matches(t.Context(), "report: a: <10", facts); ok || err == nil {
		t.Errorf("a number that cannot be computed with matches: %v, %v", ok, err)
	}
}
