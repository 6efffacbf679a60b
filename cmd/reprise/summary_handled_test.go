package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

// What was answered, or is left to the next job, does not read as if nothing
// had come of it, and what somebody typed does nothing there.
func TestHandledSummary(t *testing.T) {
	for _, language := range []string{"en", "ja", "xx"} {
		c := newCommenter(nil, metadata.Run{Language: language}, told{})
		for d, want := range map[decision][]string{toRun: {c.Tell.HandedOn, c.Tell.HandedTo}, replied: {c.Tell.Answered}} {
			f := eventFacts{
				Event: "issue_comment created", Issue: "7", denial: denial{By: "ada", What: "/run <!-- x --> `a` @octo\nmore"},
				Warnings: []string{"the label is still there"}, Versions: []versioned{{"reprise", "1.0.0"}},
			}
			got := handledSummary(language, d, f)
			for _, w := range append(want, "`/run", "`ada`", "`7`", "`issue_comment created`", "the label is still there", "reprise 1.0.0") {
				if !strings.Contains(got, w) {
					t.Errorf("%s %s lacks %q:\n%s", language, d, w, got)
				}
			}
			if strings.Contains(got, c.Tell.NotStarted) || strings.Contains(got, "<!--") || strings.Contains(got, "more") {
				t.Errorf("%s %s:\n%s", language, d, got)
			}
			checkTold(t, got)
		}
	}
}
