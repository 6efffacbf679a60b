package folders

import (
	"path"
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

// Aliases gives, for new paths, an existing one that is not gone, or an earlier new one,
// that some file systems take for the same. The folders above count, too: such a system
// would put both into one folder.
func Aliases(added, existing []string, gone map[string]bool) map[string]string {
	wanted := map[string]bool{}
	for _, name := range added {
		for _, p := range append(Parents(name), name) {
			wanted[FoldCase(p)] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	there := Spellings{}
	last := ""
	for _, name := range existing {
		if gone[name] {
			continue
		}
		if wanted[FoldCase(name)] {
			there.Add(name)
		}
		if dir := path.Dir(name); dir != last {
			last = dir
			for _, p := range Parents(name) {
				if wanted[FoldCase(p)] {
					there.Add(p)
				}
			}
		}
	}
	same := map[string]string{}
	for _, name := range added {
		all := append(Parents(name), name)
		for _, p := range all {
			if known := there[FoldCase(p)]; len(known) > 0 && !slices.Contains(known, p) {
				same[name] = known[0]
				break
			}
		}
		for _, p := range all {
			there.Add(p)
		}
	}
	return same
}
