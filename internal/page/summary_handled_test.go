package page

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/metadata"
)

// What was answered, or is left to the next job, does not read as if nothing
// had come of it, and what somebody typed does nothing there.
func TestHandledSummary(t *testing.T) {
	for _, language := range []string{"en", "ja", "xx"} {
		c := newWriter(nil, metadata.Run{Language: language}, Notices{})
		for goesOn, want := range map[bool][]string{true: {c.Say("tell.handedOn"), c.Say("tell.handedTo")}, false: {c.Say("tell.answered")}} {
			f := EventFacts{
				Event: "issue_comment created", Issue: "7", Denial: Denial{By: "ada", What: "/run <!-- x --> `a` @octo\nmore"},
				Warnings: []string{"the label is still there"}, Versions: []Versioned{{"reprise", "1.0.0"}},
			}
			got := HandledSummary(language, goesOn, f)
			for _, w := range append(want, "`/run", "`ada`", "`7`", "`issue_comment created`", "the label is still there", "reprise 1.0.0") {
				if !strings.Contains(got, w) {
					t.Errorf("%s %v lacks %q:\n%s", language, goesOn, w, got)
				}
			}
			if strings.Contains(got, c.Say("tell.notStarted")) || strings.Contains(got, "<!--") || strings.Contains(got, "more") {
				t.Errorf("%s %v:\n%s", language, goesOn, got)
			}
			progresstest.CheckTold(t, got)
		}
	}
}
