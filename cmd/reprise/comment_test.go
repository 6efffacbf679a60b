package main

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/reprise-ci/reprise/metadata"
)

var sampleLinks = links{
	Job: "https://github.com/octo/hello/actions/runs/5", Branch: "https://github.com/octo/hello/tree/reprise/issue-7",
	Files: "https://github.com/octo/hello/blob/reprise/issue-7/",
}

func TestComment(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		for name, p := range plays(t, language) {
			t.Run(language+"/"+name, func(t *testing.T) {
				golden(t, "comment-"+name+"."+language+".md", comment(p.plan, p.run, sampleLinks))
			})
		}
	}
}

func TestCommentWithoutLinks(t *testing.T) {
	p := plays(t, "en")["middle"]
	got := comment(p.plan, p.run, links{Job: "javascript:alert(1)", Branch: "not a link"})
	for _, bad := range []string{"](", "javascript"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q is in\n%s", bad, got)
		}
	}
	if want := "`.reprise/issue-7/02_design/design.md`"; !strings.Contains(got, want) {
		t.Errorf("%s is not in\n%s", want, got)
	}
}

func TestUnits(t *testing.T) {
	for _, s := range []string{"", "abc", "日本語", "😀", "e\u0301", "\xff"} {
		if got, want := units(s), len(utf16.Encode([]rune(s))); got != want {
			t.Errorf("units(%q) = %d, want %d", s, got, want)
		}
	}
}

// TestCommentIsCut holds a run with far too much to say against the limit.
func TestCommentIsCut(t *testing.T) {
	p := plays(t, "en")["rolledback"]
	p.passing("implementation")
	rec := p.run.Phase("implementation")
	long := strings.Repeat("😀 long ", 500)
	for i := range 500 {
		f := noPaging()
		f.ID, f.Problem, f.Solution = fmt.Sprintf("F%d", i), long, long
		rec.Verdict = &metadata.Verdict{Findings: append(openFindings(rec.Verdict), f)}
	}
	entry := p.run.RollbackHistory[0]
	entry.Reason = long
	for range 1000 {
		p.run.RollbackHistory = append(p.run.RollbackHistory, entry)
	}
	got := comment(p.plan, p.run, sampleLinks)
	checkComment(t, 0, got)
	if n := units(got); n < 20_000 {
		t.Errorf("only %d units are used", n)
	}
	for _, want := range []string{"### 🔄 Phase 5 of 10: implementation", "- [ ] evaluation", "are left out, as a comment has no room", "Rollbacks · 1001", `"rollbacks":1001`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%.3000s", want, got)
		}
	}
}

func TestFitting(t *testing.T) {
	for _, tt := range []struct {
		name   string
		blocks []string
		room   int
		want   string
		whole  bool
	}{
		{"all", []string{"one", "", "two"}, 10, "one\n\ntwo", true},
		{"not the long one", []string{"one", "long", "two"}, 10, "one\n\ntwo", false},
		{"surrogates count twice", []string{"😀😀"}, 5, "", false},
		{"nothing", nil, 0, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, whole := fitting(tt.blocks, tt.room); got != tt.want || whole != tt.whole {
				t.Errorf("got %q, %v, want %q, %v", got, whole, tt.want, tt.whole)
			}
		})
	}
}
