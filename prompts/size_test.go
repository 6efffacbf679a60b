package prompts

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

// tenPhases are a run of ten phases that pass at once, with goals, gates and
// documents as long as real ones. The issue is empty: its length is not ours.
func tenPhases() []Data {
	names := []string{"planning", "requirements", "design", "test_scenario", "implementation", "test_implementation", "testing", "documentation", "report", "evaluation"}
	var run []Data
	var documents []Document
	for i, name := range names {
		artifact := fmt.Sprintf("/home/runner/.cache/reprise/hello-1a2b3c4d/7/tree/.reprise/issue-7/%02d_%s/%s.md", i, name, name)
		d := Data{
			Pipeline: "full", Phase: name, Access: "artifacts", Artifact: artifact, Dir: "/home/runner/.cache/reprise/hello-1a2b3c4d/7/tree",
			Goal:      "Say what has to be built and for whom, what is out of scope, and how it will be known to work; name every part of the repository that is concerned, with the reason.",
			Gates:     []string{"Every requirement can be tested", "What is out of scope is said", "Each part concerned is named with its path"},
			Documents: documents,
			Boundary:  "0123456789abcdef",
		}
		if i >= 4 && i <= 7 {
			d.Access = "tree"
		}
		if i == 0 || i == 9 {
			d.Schema = reportSchema
		}
		execute, review := d, d
		execute.Step, review.Step = "execute", "review"
		review.Access, review.Schema = "read", verdictSchema
		run = append(run, execute, review)
		documents = append(documents, Document{name, artifact})
	}
	return run
}

func TestSize(t *testing.T) {
	for _, language := range metadata.Languages() {
		set := mustLoad(t, language)
		total, most := 0, 0
		for _, d := range tenPhases() {
			text, err := set.Render(d.Step, d)
			if err != nil {
				t.Fatal(err)
			}
			total, most = total+len(text), max(most, len(text))
		}
		t.Logf("%s: ten phases %d bytes, longest prompt %d", language, total, most)
		if total > 46_000 {
			t.Errorf("%s: the prompts of ten phases have %d bytes, want at most 46,000", language, total)
		}
		if most > 3000 {
			t.Errorf("%s: the longest prompt has %d bytes, want at most 3,000", language, most)
		}
	}
}

// Prompts stay small only if templates do: what one prompt has is paid for in
// every step of every phase.
func TestTemplatesAreSmall(t *testing.T) {
	for _, language := range metadata.Languages() {
		var all bytes.Buffer
		for name, text := range mustLoad(t, language).Files() {
			if name != "choose.md" { // which is paid for once, if at all
				all.WriteString(text)
			} else if len(text) > 1200 {
				t.Errorf("%s: choose.md has %d bytes, want at most 1,200", language, len(text))
			}
		}
		if all.Len() > 16_100 {
			t.Errorf("%s: the templates have %d bytes, want at most 16,100", language, all.Len())
		}
	}
}
