package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
)

// coloured gives the page of one attempt with a diff.
func coloured(t *testing.T, patch string) string {
	t.Helper()
	p := progresstest.NewPlay(t, "en")
	p.Passing("report")
	p.Run.Attempts = p.Run.Attempts[:1]
	p.Run.Attempts[0].N = 1
	page := pageOf(t, Facts{Plan: p.Plan, Run: p.Run, Changes: []Change{{Attempt: 1, Patch: patch}}})
	checkPage(t, page)
	_, diff, _ := strings.Cut(page, `<pre class="diff">`)
	diff, _, _ = strings.Cut(diff, "</pre>")
	return diff
}

// Words have colours by the language of their file. A comment that a deleted line opens
// stays on the old side, and a hunk begins anew.
func TestColours(t *testing.T) {
	diff := coloured(t, "diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1,3 +1,3 @@\n-/* <old>\n-b */\n+return 1\n func f() {}\n\\ No newline at end of file\n@@ -9 +9 @@\n+return\n"+
		"diff --git a/a b.py b/a b.py\n--- a/a b.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-# <b>\n"+
		"diff --git a/x.odd b/x.odd\n--- /dev/null\n+++ b/x.odd\n@@ -0,0 +1 @@\n+return 1\n")
	for _, want := range []string{
		`<span class="del">-<i class="cm">/* &lt;old&gt;` + "\n</i>-<i class=\"cm\">b */\n</i></span>", `<span class="add">&#43;<i class="kw">return </i><i class="vl">1` + "\n</i></span>",
		`<span class="same"> <i class="kw">func </i><i class="nm">f</i>() {}` + "\n\\ No newline at end of file\n</span>", `<span class="add">&#43;<i class="kw">return` + "\n</i></span>",
		`<span class="del">-<i class="cm"># &lt;b&gt;` + "\n</i></span>", `<span class="add">&#43;return 1` + "\n</span>",
	} {
		if !strings.Contains(diff, want) {
			t.Errorf("the diff has no %s", want)
		}
	}
	if t.Failed() {
		t.Log(diff)
	}
}

// Colours take no line from a diff, and there are only so many of them.
func TestMostColours(t *testing.T) {
	f := large(t, 300)
	for i := range f.Changes {
		var b strings.Builder
		b.WriteString("diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n")
		for n := range 400 {
			fmt.Fprintf(&b, "%cif x%d := f(%d); x == \"a\" { return } // why\n", "+- "[n%3], n, n)
		}
		f.Changes[i].Patch = b.String()
	}
	page := pageOf(t, f)
	if len(page) > 2_000_000 {
		t.Errorf("the page of 300 attempts has %d bytes", len(page))
	}
	marks := strings.Count(page, `<i class="`)
	if most := leastOfColours / leastMark; marks > most || marks < most/2 {
		t.Errorf("%d words have colours, and the most is %d", marks, most)
	}
	plain := regexp.MustCompile(`<i class="..">|</i>`).ReplaceAllString(page, "")
	for i := range f.Changes {
		f.Changes[i].Patch = strings.ReplaceAll(f.Changes[i].Patch, "/x.go", "/x.un")
	}
	if want := strings.ReplaceAll(pageOf(t, f), "/x.un", "/x.go"); plain != want {
		t.Error("colours change more than the colours of a page")
	}
}

// Every colour can be read on every ground that a diff has, by day and by night.
func TestContrastOfColours(t *testing.T) {
	day, night, _ := strings.Cut(styleText, "@media (prefers-color-scheme: dark)")
	for scheme, style := range map[string]string{"light": day, "dark": night} {
		lightOf := func(name string) float64 {
			m := regexp.MustCompile(`--` + name + `: #(\w{2})(\w{2})(\w{2});`).FindStringSubmatch(style)
			if m == nil {
				t.Fatalf("%s has no colour %s", scheme, name)
			}
			var sum float64
			for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
				n, err := strconv.ParseUint(m[i+1], 16, 8)
				if err != nil {
					t.Fatal(err)
				}
				if c := float64(n) / 255; c <= 0.04045 {
					sum += weight * c / 12.92
				} else {
					sum += weight * math.Pow((c+0.055)/1.055, 2.4)
				}
			}
			return sum
		}
		for _, ground := range []string{"box", "added", "removed"} {
			for _, word := range []string{"text", "kw", "nm", "vl", "st", "cm"} {
				a, b := lightOf(ground), lightOf(word)
				if contrast := (max(a, b) + 0.05) / (min(a, b) + 0.05); contrast < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.1f", scheme, word, ground, contrast)
				}
			}
		}
	}
}
