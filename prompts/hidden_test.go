package prompts

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Nothing that people cannot see reaches an agent, and nothing gets out of the
// fence it stands in.
func TestPromptHasNothingHidden(t *testing.T) {
	sets := []*Set{mustLoad(t, "en"), mustLoad(t, "ja")}
	data := []byte(testenv.Read(t, "clean/testdata/payloads.json"))
	var list []struct{ Name, Text, Want string }
	testenv.Must(t, json.Unmarshal(data, &list))
	if len(list) < 40 {
		t.Fatalf("%d payloads, want 40 or more", len(list))
	}
	for _, p := range list {
		t.Run(p.Name, func(t *testing.T) {
			for _, set := range sets {
				for _, step := range []string{"execute", "review", "revise"} {
					d := task(step)
					d.Issue.Title, _ = clean.Text(p.Text)
					d.Issue.Title = strings.Join(strings.Fields(d.Issue.Title), " ")
					d.Issue.Body, _ = clean.Text(boundary + "\n" + p.Text)
					if _, err := set.Render(step, d); err == nil || !strings.Contains(err.Error(), "draw another") {
						t.Fatalf("a text with the boundary in it: %v", err)
					}
					d.Issue.Body, _ = clean.Text(p.Text)
					text := mustRender(t, set, step, d)
					hidden := func(r rune) bool { return invisible(r) && !strings.ContainsRune(p.Want, r) } // an emoji may need one
					if at := strings.IndexFunc(text, hidden); at >= 0 {
						t.Errorf("%s: hidden: %+q", step, text[at:min(at+20, len(text))])
					}
					for _, bad := range []string{"<!--", "\x1b", "data:text", "javascript:"} {
						if strings.Contains(text, bad) && !strings.Contains(p.Want, bad) {
							t.Errorf("%s: %q is in the prompt", step, bad)
						}
					}
				}
			}
		})
	}
}

// invisible reports whether a rune takes up no room or turns text around.
func invisible(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || r == '\u2028' || r == '\u2029'
}
