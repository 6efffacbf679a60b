package prompts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a rendered prompt.
const (
	maxText   = 50_000  // characters of the issue's body, and of a diff
	maxPrompt = 2 << 20 // bytes in all
	maxWrites = 1 << 20 // pieces of text in all, and turns of loops
)

// view is what a template sees: the data, cut to its limits.
type view struct {
	Data
	Cut   Cut
	Shown int // hidden characters that are shown as marks, such as <U+202E>
}

// Cut says what was cut, so that a template can announce it.
type Cut struct {
	Limit int // characters that were kept of a text that was cut
	Body  int // characters of the whole issue body; 0 if it was not cut
	Diff  int // characters of the whole diff; 0 if it was not cut
}

func newView(d Data, marks int) view {
	v := view{Data: d, Cut: Cut{Limit: maxText}, Shown: marks}
	v.Issue.Body, v.Cut.Body = cut(d.Issue.Body)
	v.Diff, v.Cut.Diff = cutDiff(d.Diff, maxText)
	return v
}

// cut returns the first maxText characters of text, and how many it has if
// that is not all of it.
func cut(text string) (string, int) {
	if n := utf8.RuneCountInString(text); n > maxText {
		return firstRunes(text, maxText), n
	}
	return text, 0
}

// Render returns the prompt that the template of that name makes of d. Long bodies and diffs are cut, and
// characters that nobody sees are shown as marks in what agents have written. The reason of a rollback and
// what people have said come first if the template leaves them out.
func (s *Set) Render(name string, d Data) (string, error) {
	if !s.has(name) {
		return "", fmt.Errorf("prompt %q: no such template; known: %s", name, strings.Join(slices.Sorted(maps.Keys(s.files)), ", "))
	}
	if err := checkBoundary(d); err != nil {
		return "", fmt.Errorf("prompt %s: %w", name, err)
	}
	d, marks := shown(d)
	text, err := s.execute(name, newView(d, marks))
	// Whatever an own template leaves out, what people say has to arrive.
	for _, said := range []struct {
		name    string
		missing bool
	}{
		{"answers", slices.ContainsFunc(d.Answers, func(a Answer) bool { return !strings.Contains(text, a.Answer) })},
		{"symptom", !strings.Contains(text, d.Symptom)},
		{"rollback", d.Rollback != nil && !strings.Contains(text, d.Rollback.Reason)},
	} {
		if err == nil && name != "retry" && said.missing {
			var part string
			part, err = s.execute(said.name, newView(d, marks))
			text = strings.Trim(part, "\n") + "\n\n" + text
		}
	}
	if err != nil {
		return "", fmt.Errorf("prompt %s: %w", name, err)
	}
	if text = strings.Trim(text, "\n"); strings.TrimSpace(text) == "" {
		return "", fmt.Errorf("prompt %s: the template made no text of this task", name)
	}
	return text + "\n", nil
}

func (s *Set) execute(name string, v view) (string, error) {
	var out limited
	err := s.root.ExecuteTemplate(&out, name, v)
	return out.String(), err
}

// limited keeps what is written, up to maxPrompt in maxWrites pieces.
type limited struct {
	strings.Builder
	writes int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxPrompt {
		return 0, fmt.Errorf("larger than %d bytes, the most a prompt may have", maxPrompt)
	}
	if l.writes++; l.writes > maxWrites {
		return 0, fmt.Errorf("more than %d pieces of text and turns of loops, the most a template may take", maxWrites)
	}
	return l.Builder.Write(p)
}
