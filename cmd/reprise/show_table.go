package main

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// table is text in columns that line up in terminal cells, also where
// characters are two cells wide.
type table struct {
	align string // per column: l or r; columns beyond it are l
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// lines lays the table out with two spaces between columns. A column that is
// empty everywhere is left out. The last one is not padded.
func (t *table) lines() []string {
	widths := t.widths()
	out := make([]string, 0, len(t.rows))
	for _, row := range t.rows {
		var cells []string
		for i, cell := range row {
			if widths[i] == 0 {
				continue
			}
			fill := strings.Repeat(" ", max(widths[i]-ansi.StringWidth(cell), 0))
			if i < len(t.align) && t.align[i] == 'r' {
				cells = append(cells, fill+cell)
			} else {
				cells = append(cells, cell+fill)
			}
		}
		out = append(out, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
	return out
}

func (t *table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	return widths
}
