package issue

import "testing"

// A title is what people read as a heading.
func TestTitles(t *testing.T) {
	for text, want := range map[string]string{
		"# One\n\n## Two\n": "One", "One\n===\n": "One",
		"<!--\n# Fill in\n-->\n# One\n": "One", "<!-- # Fill in -->\n# One\n": "One",
		"~~~sh\n# ls\n~~~\n# One\n": "One", "````\n```\n# quoted\n```\n# quoted\n````\n# One\n": "One",
		"```\n# quoted\n": "",
	} {
		if title, _ := cutTitle(text); title != want {
			t.Errorf("%q: %q, want %q", text, title, want)
		}
	}
}
