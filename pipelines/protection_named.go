package pipelines

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// mostNamed is how many paths are found in a text.
const mostNamed = 5

// NamedPaths finds the protected paths that a text names, each once and in its order. There are
// the protected files of the repository: a workflow of them may also be named by its
// file name alone, and any by an address that ends with it. Patterns are those that the
// pipeline protects.
func NamedPaths(text string, there, patterns []string) (found []string) {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("\"'`()[]{}<>|,;!?*#=", r)
	})
	for _, word := range words {
		word = strings.TrimRight(strings.TrimPrefix(word, "./"), ".:")
		i := slices.IndexFunc(there, func(p string) bool {
			return word == p || strings.HasSuffix(word, "/"+p) || word == path.Base(p) && path.Dir(p) == ".github/workflows"
		})
		switch {
		case i >= 0:
			word = there[i]
		case strings.Contains(word, ":") || strings.HasPrefix(word, "/") || strings.HasSuffix(word, "/") || path.Clean(word) != word || !strings.Contains(word, ".") && path.Base(word) != "CODEOWNERS" || !IsProtected(word, patterns):
			continue
		}
		if len(found) < mostNamed && !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
	return found
}
