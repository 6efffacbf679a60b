package terminal

import (
	"io"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/metadata"
)

// Canvas is a place at the bottom of a terminal at which lines are drawn over those
// that were drawn before. Their texts have to be harmless: they are not looked at.
type Canvas struct {
	w     io.Writer
	drawn []string
	width int
}

// NewCanvas gives a canvas on a terminal, or nil if w is none.
func NewCanvas(w io.Writer) *Canvas {
	if !environ.IsTerminal(w) {
		return nil
	}
	return &Canvas{w: drawing(w)}
}

// Draw shows lines in place of those before. Of more than fit the first are shown.
func (c *Canvas) Draw(lines []string) {
	width, height, ok := sizeOf(c.w)
	if ok {
		lines = lines[:min(len(lines), max(height-1, 1))] // the cursor needs a line
		for i, l := range lines {
			lines[i] = ansi.Truncate(l, width, "")
		}
	}
	// What cannot be drawn stops nothing.
	_, _ = io.WriteString(c.w, repaint(c.drawn, nil, lines, width, width != c.width))
	c.drawn, c.width = lines, width
}

// Ring calls the person at the terminal, as the run goes no further.
func (c *Canvas) Ring(run metadata.Run) {
	_, _ = io.WriteString(c.w, ring(run)) // who cannot be called finds out
}
