package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/markdown"
	"github.com/reprise-ci/reprise/prompts"
)

// codesPage gives the page of the documents that lists every reason code, from
// the words that people read when it happens.
func codesPage() string {
	var b strings.Builder
	b.WriteString(`# Reason codes

Whatever reprise does not do, and however a run ends, has a reason code. The
list is closed, so programs can rely on it. The code stands in the output
` + "`reason-code`" + ` of the action, in the comment on the issue, in the summary of the
job, and in the record of the run. This page is made from the words that the
program says.
`)
	for _, language := range prompts.Languages() {
		c := prompts.Words(language)
		fmt.Fprintf(&b, "\n## %s\n\n", map[string]string{"en": "In English", "ja": "In Japanese"}[language])
		var rows [][]string
		for _, name := range slices.Sorted(maps.Keys(c.Codes)) {
			rows = append(rows, []string{markdown.Code(name), c.Codes[name].Meaning, c.Codes[name].Do})
		}
		b.WriteString(strings.Join(grid("", []string{c.Tell.Code, c.Tell.Meaning, c.WhatNow}, rows), "\n") + "\n")
	}
	b.WriteString(`
## Why, in the record

Beside the code the record says why: in ` + "`why`, `ask` and `rule`" + `. What reprise
says is ` + "`{\"code\": ..., \"args\": {...}}`" + `, several at once are ` + "`{\"all\": [...]}`" + `, and
what people, agents or programs said is text. It is put into words where it is
shown, in the language of the run. Output for programs has it in English as well.
Records of earlier versions have text only. ` + "`{n|one|many}`" + ` is a word that goes
with a number. New codes may come: take one that you do not know as it stands.

`)
	en, ja := prompts.Words("en"), prompts.Words("ja")
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(en.Reasons)) {
		rows = append(rows, []string{markdown.Code(name), strings.ReplaceAll(en.Reasons[name], "|", `\|`), strings.ReplaceAll(ja.Reasons[name], "|", `\|`)})
	}
	b.WriteString(strings.Join(grid("", []string{"Code", "In English", "In Japanese"}, rows), "\n") + "\n")
	return b.String()
}
