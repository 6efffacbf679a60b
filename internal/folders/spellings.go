package folders

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Spellings are paths by what they are folded to.
type Spellings map[string][]string

// Add adds a path, once.
func (s Spellings) Add(p string) {
	if folded := FoldCase(p); !slices.Contains(s[folded], p) {
		s[folded] = append(s[folded], p)
	}
}

// FoldCase gives a path as file systems compare it that fold case and accept an
// accent as a character of its own.
func FoldCase(p string) string {
	if !strings.ContainsFunc(p, func(c rune) bool { return c > unicode.MaxASCII }) {
		return strings.ToUpper(p) // the same, and quick
	}
	return norm.NFC.String(strings.Map(func(c rune) rune {
		least := c
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, norm.NFC.String(p)))
}
