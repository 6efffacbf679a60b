package page

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/phases"
)

// The comment names what somebody has changed by hand, until it has passed a
// review again.
func TestCommentNamesWhatWasEdited(t *testing.T) {
	for language, want := range map[string]string{
		"en": "✏️ `design.md` was changed on the branch since it was reviewed",
		"ja": "✏️ `design.md` はレビューの後に",
	} {
		p := progresstest.NewPlay(t, language)
		p.Passing("test_scenario")
		p.Run = phases.Changed(p.Run, "design", "by hand", p.At)
		if got := Comment(p.Plan, p.Run, sampleLinks); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
		p.Next(p.Judgement(""))
		if got := Comment(p.Plan, p.Run, sampleLinks); strings.Contains(got, "✏️") {
			t.Errorf("reviewed again, it still says so:\n%s", got)
		}
	}
}
