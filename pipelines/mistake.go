package pipelines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// Mistake is one mistake in a pipeline, or in a value that a pipeline describes.
type Mistake = metadata.Mistake

// Mistakes are all the mistakes that were found, in the order of the files.
type Mistakes []Mistake

// Error gives one line for each mistake.
func (es Mistakes) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// The most that is told of the mistakes in one file.
const (
	MostMistakes     = 100
	MostMistakeBytes = 1000 // bytes, of one
)

// Few leaves out what nobody would read: a file made to be wrong has more mistakes than a log can hold.
func (es Mistakes) Few() Mistakes {
	for i := range es {
		for _, s := range []*string{&es[i].Message, &es[i].Path} {
			if len(*s) > MostMistakeBytes {
				*s = strings.ToValidUTF8((*s)[:MostMistakeBytes], "") + "..."
			}
		}
	}
	if more := len(es) - MostMistakes; more > 0 {
		es = append(es[:MostMistakes:MostMistakes], Mistake{File: es[0].File, Message: fmt.Sprintf("and %d more", more)})
	}
	return es
}

// Sorted returns the mistakes in the order of their places, each once.
func (es Mistakes) Sorted() Mistakes {
	slices.SortStableFunc(es, func(a, b Mistake) int {
		return cmp.Or(
			strings.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			strings.Compare(a.Path, b.Path),
			strings.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(es)
}

// OrNil keeps an empty list from becoming an error.
func (es Mistakes) OrNil() error {
	if len(es) == 0 {
		return nil
	}
	return es.Sorted()
}

// MustBeOneOf says which names were expected, and which one was probably meant.
func MustBeOneOf(name string, valid []string) string {
	valid = slices.DeleteFunc(slices.Clone(valid), func(s string) bool { return s == "" })
	if len(valid) == 0 {
		return "there are none"
	}
	if best := Nearest(name, valid); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	slices.Sort(valid)
	return "expected one of " + strings.Join(slices.Compact(valid), ", ")
}

// Nearest returns the valid name within two edits of name, or "".
func Nearest(name string, valid []string) string {
	best, least := "", 3
	for _, v := range valid {
		if d := text.Edits(name, v); d < least && d < len(v) {
			best, least = v, d
		}
	}
	return best
}

// OneLine keeps a message from being more than that, whatever it quotes.
func OneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// JoinPath extends a path by the name of a field.
func JoinPath(path, name string) string {
	if strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return fmt.Sprintf("%s[%q]", path, name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}
