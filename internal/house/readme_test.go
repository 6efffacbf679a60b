package house_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A document in Japanese has what the English one has: as many headings of each rank,
// in the same order, the same commands, names in code, and links.
func TestDocumentsInJapanese(t *testing.T) {
	for _, name := range []string{"README", "docs/commands", "docs/reference/commands"} {
		english, japanese := partsOf(read(t, name+".md")), partsOf(read(t, name+".ja.md"))
		for i, what := range []string{"headings", "commands", "code", "links", "rows of tables"} {
			if diff := cmp.Diff(english[i], japanese[i]); diff != "" {
				t.Errorf("the %s of %s.md (-) and of %s.ja.md (+) differ; change both:\n%s", what, name, name, diff)
			}
		}
	}
}

var headingRank = regexp.MustCompile(`(?m)^#{1,6} `)

// partsOf are what two documents have in common that say the same in two languages:
// the ranks of headings, lines of shell, inline code and links, each once, and how many
// rows each table has.
func partsOf(text string) [5][]string {
	p := parse(text)
	once := func(all []located) []string {
		var out []string
		for _, l := range all {
			out = append(out, strings.Replace(l.text, ".ja.md", ".md", 1)) // each links to pages in its own language, and to the other
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	var rows []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|") {
			rows = append(rows, strings.Repeat("|", strings.Count(line, "|")))
		}
	}
	var typed []string
	for _, c := range p.commands {
		typed = append(typed, c.text)
	}
	return [5][]string{headingRank.FindAllString(text, -1), typed, once(p.spans), once(p.links), rows}
}
