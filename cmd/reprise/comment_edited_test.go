package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/phases"
)

// The comment names what somebody has changed by hand, until it has passed a
// review again.
func TestCommentNamesWhatWasEdited(t *testing.T) {
	for language, want := range map[string]string{
		"en": "✏️ `design.md` was changed on the branch since it was reviewed",
		"ja": "✏️ `design.md` はレビューの後に",
	} {
		p := newPlay(t, language)
		p.passing("test_scenario")
		p.run = phases.Changed(p.run, "design", "by hand", p.at)
		if got := comment(p.plan, p.run, sampleLinks); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
		p.next(p.judgement(""))
		if got := comment(p.plan, p.run, sampleLinks); strings.Contains(got, "✏️") {
			t.Errorf("reviewed again, it still says so:\n%s", got)
		}
	}
}
