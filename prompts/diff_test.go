package prompts

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

const most = 50_000

func patchOf(name string, lines int, line string) string {
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -1,1 +1,%[2]d @@\n-old\n", name, lines) + strings.Repeat("+"+line+"\n", lines)
}

// A file with a great many lines hides neither the name nor the beginning of
// another one, wherever it stands.
func TestLongDiff(t *testing.T) {
	noise := patchOf("noise.txt", 40_000, "diff --git a/fake b/fake 漢")
	small := patchOf("calc.go", 3, "return 0")
	also := patchOf("more.txt", 20_000, "x")
	text, whole := cutDiff(noise+small+also, most)
	if want := utf8.RuneCountInString(noise + small + also); whole != want {
		t.Errorf("it had %d characters, want %d", whole, want)
	}
	if n := utf8.RuneCountInString(text); n < most-100 || n > most+300 {
		t.Errorf("it has %d characters, at most about %d are wanted", n, most)
	}
	begins := "a/noise.txt b/noise.txt | +40000 -1\na/calc.go b/calc.go | +3 -1\na/more.txt b/more.txt | +20000 -1\n\ndiff --git a/noise.txt"
	if !strings.HasPrefix(text, begins) {
		t.Errorf("it begins with %q", text[:200])
	}
	if !strings.Contains(text, small) || strings.Count(text, "+x\n") < 5000 {
		t.Error("a file behind the long one has no fair share")
	}
	if !strings.Contains(text, ": a/noise.txt b/noise.txt\n") {
		t.Error("what is left out of a file is not said")
	}

	var many strings.Builder
	for i := range 3000 {
		many.WriteString(patchOf(fmt.Sprintf("file-%d", i), 5, "x"))
	}
	if text, _ = cutDiff(many.String(), most); utf8.RuneCountInString(text) > 2*most || !strings.Contains(text, "\n… +") {
		t.Errorf("of very many files it has %d characters", utf8.RuneCountInString(text))
	}
	if text, whole := cutDiff(small, most); text != small || whole != 0 {
		t.Errorf("a short one was cut: %q", text)
	}
}
