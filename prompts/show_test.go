package prompts

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

// What agents and their work have written reaches the next agent with marks in the
// place of what nobody would see, and that is said to it; what it is given stays.
func TestHiddenCharactersAreShown(t *testing.T) {
	const hidden, mark = "a\u202eb\u200bc", "a<U+202E>b<U+200B>c"
	for _, language := range []string{"en", "ja"} {
		set := mustLoad(t, language)
		for _, step := range []string{"review", "revise"} {
			d := task(step)
			d.Diff = "diff --git a/x b/x\n@@ -1 +1 @@\n+" + hidden + " in the diff\n"
			d.Rollback = &Rollback{FromPhase: "p", Automatic: true, Reason: hidden + " in the reason"}
			d.Feedback = &Feedback{
				Gates:      []metadata.Gate{{Gate: "Every changed behaviour has a test", Why: hidden + " in the gate"}},
				Findings:   []metadata.Finding{{ID: "F1", Severity: "blocker", Status: "new", Title: hidden + " in the title", Problem: hidden + " in the problem", Impact: "i", Solution: "s"}},
				Checks:     []Check{{CheckResult: metadata.CheckResult{Name: "c", Run: "r", Output: hidden + " in the output"}}},
				Violations: []string{hidden + " in the violation"},
			}
			text := mustRender(t, set, step, d)
			for _, where := range []string{"diff", "reason", "gate", "title", "problem", "output", "violation"} {
				if !strings.Contains(text, mark+" in the "+where) {
					t.Errorf("%s, %s: what is hidden in the %s is not shown", language, step, where)
				}
			}
			if at := strings.IndexFunc(text, invisible); at >= 0 {
				t.Errorf("%s, %s: hidden is %+q", language, step, text[at:min(at+20, len(text))])
			}
			if !strings.Contains(text, "`<U+202E>`") || !strings.Contains(text, "14") {
				t.Errorf("%s, %s: it is not said that there are 14 marks", language, step)
			}
			if d.Feedback.Findings[0].Title != hidden+" in the title" {
				t.Error("what was given was changed")
			}
		}
	}
	d := task("review")
	d.Diff = "+nothing\n"
	if text := mustRender(t, mustLoad(t, "en"), "review", d); strings.Contains(text, "<U+") {
		t.Error("marks are explained where there are none")
	}
}
