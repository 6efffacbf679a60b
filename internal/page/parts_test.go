package page

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
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
		// Once they are next, each says what it waits for.
		for i := range p.Run.Phases {
			if rec := &p.Run.Phases[i]; rec.Name == "implementation.t1" {
				break
			} else if rec.Status != metadata.PhaseSkipped {
				*rec = metadata.Phase{Name: rec.Name, Status: metadata.PhaseSkipped}
			}
		}
		p.Run.CurrentPhase, p.Run.Questions = "", nil
		text, why := Comment(p.Plan, p.Run, sampleLinks), metadata.Because("part_needs", "parts", []string{"implementation.t1"}).In(prompts.Words(language))
		if got := strings.Count(text, " · "+why+"\n"); got != 1 {
			t.Errorf("%s: %d parts say what they wait for in\n%s", language, got, text)
		}
	}
}
