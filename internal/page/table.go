package page

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/prompts/clean"
)

// cell makes text from outside fit for a cell of a table in Markdown. There a
// bar ends a cell even within code, so code becomes plain text.
func cell(text string, limit int) string {
	return clean.Inline(strings.NewReplacer("`", "'", "|", "/").Replace(clean.Truncate(text, limit)), limit)
}

// grid is a table in Markdown. The cells are Markdown fit for it. Align has a
// letter for each column: l or r.
func grid(align string, head []string, rows [][]string) []string {
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = "---"
		if i < len(align) && align[i] == 'r' {
			rule[i] = "--:"
		}
	}
	var lines []string
	for _, r := range slices.Concat([][]string{head, rule}, rows) {
		lines = append(lines, "| "+strings.Join(r, " | ")+" |")
	}
	return lines
}

// cellCode makes text fit for inline code in a cell, where a bar would end it.
func cellCode(text string) string { return strings.ReplaceAll(clean.Truncate(text, 200), "|", "/") }
