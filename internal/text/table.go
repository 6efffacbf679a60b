package text

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Table is text in columns that line up in terminal cells, also where
// characters are two cells wide.
type Table struct {
	Align string // per column: l or r; columns beyond it are l
	Rows  [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Lines lays the table out with two spaces between columns. A column that is
// empty everywhere is left out. The last one is not padded.
func (t *Table) Lines() []string {
	widths := t.widths()
	out := make([]string, 0, len(t.Rows))
	for _, row := range t.Rows {
		var cells []string
		for i, cell := range row {
			if widths[i] == 0 {
				continue
			}
			fill := strings.Repeat(" ", max(widths[i]-ansi.StringWidth(cell), 0))
			if i < len(t.Align) && t.Align[i] == 'r' {
				cells = append(cells, fill+cell)
			} else {
				cells = append(cells, cell+fill)
			}
		}
		out = append(out, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
	return out
}

func (t *Table) widths() (widths []int) {
	for _, row := range t.Rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	return widths
}
