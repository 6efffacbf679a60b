package prompts

import (
	"encoding/base32"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts/clean"
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
	if _, known := s.files[name+".md"]; !known {
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

// minBoundary is the least length of a boundary that cannot be guessed.
const minBoundary = 16

// NewBoundary draws a boundary of 80 bits that occurs in none of the texts, usually Data.Texts. It is "",
// which Render refuses, if rand fails.
func NewBoundary(rand io.Reader, texts ...string) string {
	// One draw collides by chance never; a few more tell bad luck from a
	// broken source.
	for range 8 {
		var b [10]byte
		if _, err := io.ReadFull(rand, b[:]); err != nil {
			return ""
		}
		if boundary := strings.ToLower(base32.StdEncoding.EncodeToString(b[:])); !anyContains(texts, boundary) {
			return boundary
		}
	}
	return ""
}

// Texts returns every text of d: what a boundary must not occur in.
func (d Data) Texts() (texts []string) {
	d.Boundary = ""
	metadata.Copy(d, func(text string) string {
		texts = append(texts, text)
		return text
	})
	return texts
}

// shown is d with hidden characters shown wherever agents, their work or their
// checks have written, and how many there are.
func shown(d Data) (_ Data, count int) {
	mark := func(text string) string {
		text, n := clean.Mark(text)
		count += n
		return text
	}
	d.Diff, d.State, d.Rollback, d.Feedback = mark(d.Diff), mark(d.State), metadata.Copy(d.Rollback, mark), metadata.Copy(d.Feedback, mark)
	return d, count
}

// checkBoundary says why d.Boundary does not protect d.
func checkBoundary(d Data) error {
	b := d.Boundary
	if len(b) < minBoundary || strings.Trim(b, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		return fmt.Errorf("boundary %q: want %d or more letters, digits or hyphens, drawn at random; NewBoundary makes one", b, minBoundary)
	}
	if anyContains(d.Texts(), b) {
		return fmt.Errorf("boundary %q occurs in a text that it has to enclose; draw another with NewBoundary", b)
	}
	return nil
}

func anyContains(texts []string, s string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, s) })
}

// Doubts are what the author of an own template may not have meant: that nothing takes it, or that an agent which
// gets it is not told the issue, the rules or the artifact. Named are those that the steps of pipelines name.
func (s *Set) Doubts(named []string) (found pipelines.Mistakes) {
	d := samples()[0]
	rules, _ := s.execute("policy", newView(d, 0)) // carried out before, as all that follow
	for name, file := range s.own {
		if _, err := fs.Stat(builtin, "builtin/en/"+name+".md"); err != nil && !s.called[name] && !slices.Contains(named, name) {
			found = append(found, pipelines.Mistake{File: file, Message: "no step names this template, no template calls it, and none of this name is built in, " + pipelines.MustBeOneOf(name, steps())})
		}
		text, _ := s.execute(name, newView(d, 0))
		for _, part := range [][3]string{
			{d.Issue.Title, "the issue", `{{template "issue" .}}`},
			{strings.TrimSpace(rules), "the rules", `{{template "policy" .}}`},
			{d.Artifact, "the path of the artifact", "{{.Artifact}}"},
		} {
			if slices.Contains(append(steps()[:3], named...), name) && !strings.Contains(text, part[0]) {
				found = append(found, pipelines.Mistake{File: file, Message: fmt.Sprintf("an agent that gets this is not told %s: write %s where it belongs", part[1], part[2])})
			}
		}
	}
	return found
}
