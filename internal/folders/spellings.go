package folders

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// foldCase gives a path as file systems compare it that fold case and take an accent for a character of its own.
func foldCase(p string) string {
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

// Aliases gives, for new paths, an existing one that is not gone, or an earlier new one, that some file systems take
// for the same. The folders above count, too: such a system would put both into one folder.
func Aliases(added, existing []string, gone map[string]bool) map[string]string {
	there := map[string][]string{} // by what they are folded to
	for _, name := range existing {
		if !gone[name] {
			spell(there, name)
		}
	}
	same := map[string]string{}
	for _, name := range added {
		for _, p := range append(Parents(name), name) {
			if known := there[foldCase(p)]; len(known) > 0 && !slices.Contains(known, p) {
				same[name] = known[0]
				break
			}
		}
		spell(there, name)
	}
	return same
}

// spell notes a path, and the folders above it, by what they are folded to.
func spell(there map[string][]string, name string) {
	for _, p := range append(Parents(name), name) {
		if folded := foldCase(p); !slices.Contains(there[folded], p) {
			there[folded] = append(there[folded], p)
		}
	}
}
