package text

import (
	"fmt"
	"io"
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

// Palette colours text, or leaves it as it is.
type Palette bool

func (p Palette) paint(code, text string) string {
	if !p || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold gives a text in bold. As with the colours, a text of spaces stays as it is.
func (p Palette) Bold(text string) string { return p.paint("1", text) }

// Faint gives a text faint.
func (p Palette) Faint(text string) string { return p.paint("2", text) }

// Red gives a text in red.
func (p Palette) Red(text string) string { return p.paint("31", text) }

// Green gives a text in green.
func (p Palette) Green(text string) string { return p.paint("32", text) }

// Yellow gives a text in yellow.
func (p Palette) Yellow(text string) string { return p.paint("33", text) }

// Cyan gives a text in cyan.
func (p Palette) Cyan(text string) string { return p.paint("36", text) }

// Printer writes lines. What cannot be written is lost: showing something
// never stops the work.
type Printer struct {
	W io.Writer
	Palette
}

// Line writes one line, with the verbs of fmt.Printf and without spaces at its
// end.
func (p Printer) Line(format string, args ...any) {
	_, _ = fmt.Fprintln(p.W, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}
