package page

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/progresstest"
)

// The parts of a phase are a list below it, and their titles do nothing on a page.
func TestCommentHasParts(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		p := progresstest.Plays(t, language)["begun"]
		progresstest.Split(p, "implementation")
		p.Run.Tasks[1].Title = "The page](http://x) @octo/team <!-- reprise:progress:v1 --> closes #3"
		if err := p.Run.Check(); err != nil {
			t.Fatal(err)
		}
		text := Comment(p.Plan, p.Run, sampleLinks)
		progresstest.CheckComment(t, 0, text)
		if strings.Count(text, "\n   - ▫️ ") != 2 {
			t.Errorf("%s: there are no two parts below a phase in\n%s", language, text)
		}
	}
}
