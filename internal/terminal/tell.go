package terminal

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Tell prints a message for a person, which may have several lines. On a terminal it
// breaks lines between words: the terminal would break within them. Elsewhere a line
// stays one.
func Tell(w io.Writer, message string) {
	if width, _, ok := sizeOf(w); ok {
		message = folded(message, width)
	}
	_, _ = io.WriteString(w, message+"\n") // what cannot be told stops nothing
}

// folded breaks lines at spaces alone: a path, an option or an address that is cut
// could not be copied. A word that is wider than a line is left to the terminal.
func folded(message string, width int) string {
	var out strings.Builder
	for i, line := range strings.Split(message, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		used := 0
		for part := range strings.SplitAfterSeq(line, " ") {
			if used > 0 && used+ansi.StringWidth(strings.TrimSuffix(part, " ")) > width {
				out.WriteByte('\n')
				used = 0
			}
			out.WriteString(part)
			used += ansi.StringWidth(part)
		}
	}
	return out.String()
}
