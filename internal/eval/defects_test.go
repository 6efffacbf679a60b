package eval

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
)

// every has all lines that a test looks at.
var every = func() map[int]bool {
	all := map[int]bool{}
	for n := range 200 {
		all[n] = true
	}
	return all
}()

// TestOperators plants each mistake once in a line that has it, and none in comments and
// texts.
func TestOperators(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"a.go", "	for i := 0; i < n; i++ {", "	for i := 0; i <= n; i++ {"},
		{"a.go", "	if err != nil && ok {", "	if err == nil && ok {|	if err != nil || ok {"},
		{"a.go", "	return true", "	return false"},
		{"a.go", "	defer f.Close()", "	"},
		{"a.go", "	x := n - 1", "	x := n + 1"},
		{"a.go", `	s := "a < b"`, ""},
		{"a.go", "	// a < b", ""},
		{"a.go", "	ch <- v", ""},
		{"a.js", "  if (a === b || c >= 1) {", "  if (a === b || c > 1) {|  if (a !== b || c >= 1) {|  if (a === b && c >= 1) {"},
		{"a.ts", "  const x = await load();", "  const x = load();"},
		{"a.py", "    if a and b == 1:", "    if a and b != 1:|    if a or b == 1:"},
		{"a.py", "    return False", "    return True"},
		{"a.py", "    # a < b", ""},
		{"a.md", "a < b", ""},
	} {
		var got []string
		for _, d := range defectsIn(tt.name, tt.line+"\n", every) {
			if d.Find != tt.line || d.Line != 1 || d.File != tt.name || d.Operator == "" {
				t.Errorf("%+v", d)
			}
			got = append(got, d.Replace)
		}
		if s := strings.Join(got, "|"); s != tt.want {
			t.Errorf("%s: %q: got %q, want %q", tt.name, tt.line, s, tt.want)
		}
	}
}

// TestOnlyLinesOfTheWork plants in lines that a diff adds.
func TestOnlyLinesOfTheWork(t *testing.T) {
	diff := "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,0 +2 @@ x\n+new\n@@ -5,2 +7,2 @@\n+a\n+b\n--- a/b.go\n+++ b/b.go\n@@ -3 +2,0 @@\n-x\n"
	added := addedLines(diff)
	var got []int
	for line := range 12 {
		if added["a.go"][line] {
			got = append(got, line)
		}
	}
	if d := cmp.Diff([]int{2, 7, 8}, got); d != "" {
		t.Error(d)
	}
	if added["b.go"][2] || added["b.go"][3] {
		t.Error("a line that was removed is not there")
	}
	found := defectsIn("a.go", strings.Repeat("return true\n", 10), added["a.go"])
	if len(found) != 3 || found[1].Line != 7 {
		t.Errorf("%v", found)
	}
	all := defectsIn("a.go", strings.Repeat("return true\n", 100), every)
	first, again := someDefects(all, 5), someDefects(all, 5)
	if len(first) != 5 || cmp.Diff(first, again) != "" || len(someDefects(all[:2], 5)) != 2 {
		t.Errorf("%v, %v", first, again)
	}
}

// TestWorth counts what is found, what is refused for another reason, and false alarms.
func TestWorth(t *testing.T) {
	planted := &Mutation{File: "a.go", Line: 10, Operator: "logic"}
	says := func(r metadata.Ruling, file string, line int) metadata.Verdict {
		v := metadata.Verdict{Verdict: r, Gates: []metadata.Gate{{Gate: "It is right.", Pass: r != metadata.Fail}}}
		if file != "" {
			v.Findings = []metadata.Finding{{File: file, Line: line}}
		}
		return v
	}
	said := func(planted *Mutation, v metadata.Verdict, usd float64) Result {
		r := Result{Trial: Trial{Variant: "v"}, Review: &v, of: "c", planted: planted}
		r.Facts.Cost.USD = usd
		return r
	}
	people := &Mutation{Operator: byPeople}
	all := []Result{
		said(planted, says(metadata.Fail, "a.go", 12), 1),
		said(planted, says(metadata.Fail, "a.go", 0), 0),
		said(planted, says(metadata.Fail, "a.go", 14), 0),
		said(planted, says(metadata.Fail, "b.go", 10), 0),
		said(planted, says(metadata.Pass, "a.go", 10), 0),
		said(planted, metadata.Verdict{}, 0),
		said(nil, says(metadata.Fail, "a.go", 10), 0),
		said(nil, says(metadata.Pass, "", 0), 1),
		{Trial: Trial{Variant: "other"}, planted: planted},
	}
	w := worthOf("v", all)
	seen := worthOf("v", []Result{said(people, says(metadata.Fail, "", 0), 0), said(people, says(metadata.Pass, "", 0), 0), {Trial: Trial{Variant: "v"}, Why: "it crashed"}})
	if seen.Planted != 2 || seen.Found != 1 || seen.Good != 0 || len(seen.Silent) != 1 || seen.Missed[0].String() != "what people found in this work" {
		t.Errorf("%+v", seen)
	}
	if w.Planted != 6 || w.Found != 2 || w.Beside != 2 || w.Good != 2 || w.Wolf != 1 || w.Refusals() != 5 || w.USD != 0.25 || len(w.Missed) != 4 {
		t.Errorf("%+v", w)
	}
	if !w.Recall.holds(2.0/6) || !w.Precision.holds(2.0/5) || w.Recall.holds(0.9) {
		t.Errorf("recall %v, precision %v", w.Recall, w.Precision)
	}
}
