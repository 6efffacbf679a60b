package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// inCell keeps a message of several lines in one cell of a table.
var inCell = strings.NewReplacer("|", `\|`, "\n", "<br>")

// codesPage gives the page of the documents that lists every reason code, from
// the words that people read when it happens.
func codesPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`# Reason codes

Whenever reprise refuses something or a run ends, it gives a reason code. The
list is closed, so programs can rely on it. The code stands in the output
` + "`reason-code`" + ` of the action, in the comment on the issue, in the summary of the
job, and in the record of the run. This page is generated from the messages of
the program.
`)
	for _, language := range prompts.Languages() {
		c := prompts.Words(language)
		fmt.Fprintf(&b, "\n## %s\n\n", map[string]string{"en": "In English", "ja": "In Japanese"}[language])
		var rows [][]string
		for _, name := range strings.Fields(closedCodes) {
			a := c.Explain(name)
			rows = append(rows, []string{clean.Code(name), a.Meaning, a.Do})
		}
		b.WriteString(strings.Join(grid("", map[string][]string{"en": {"Code", "Meaning", "What to do"}, "ja": {"コード", "意味", "対処"}}[language], rows), "\n") + "\n")
	}
	b.WriteString(`
## Why, in the record

Besides the code the record says why, in ` + "`why`, `ask` and `rule`" + `. A message of
reprise is kept as ` + "`{\"code\": ..., \"args\": {...}}`" + `, several as ` + "`{\"all\": [...]}`" + `; what
people, agents or programs said is kept as text. A message is put into words where
it is shown, in the language of the run; output for programs has the English words
as well. Records of earlier versions have text only. In the table, ` + "`{n|one|many}`" + `
is a word that depends on a number. Later versions may add codes: show those that
you do not know as they are.

`)
	en, ja := progresstest.Texts(t, "en"), progresstest.Texts(t, "ja")
	var rows [][]string
	for _, key := range slices.Sorted(maps.Keys(en)) {
		if name, is := strings.CutPrefix(key, "reasons."); is {
			rows = append(rows, []string{clean.Code(name), inCell.Replace(en[key]), inCell.Replace(ja[key])})
		}
	}
	b.WriteString(strings.Join(grid("", []string{"Code", "In English", "In Japanese"}, rows), "\n") + "\n")
	return b.String()
}
