package terminal

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/reprise-ci/reprise/internal/text"
)

// sizeOf gives the size of the terminal that w is, in cells; zeros if it is none.
func sizeOf(w io.Writer) (width, height int, ok bool) {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0, 0, false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 0, 0, false
	}
	return width, height, true
}

// Width is that of the terminal that w is, in cells; 0 if it is none.
func Width(w io.Writer) int {
	width, _, _ := sizeOf(w)
	return width
}

// Hanging breaks what stands behind so many cells of a line between words, for a terminal of a
// width: later lines begin below the first. 0 is no terminal.
func Hanging(value string, behind, width int) string {
	if room := width - behind; width > 0 && room > 20 {
		return strings.ReplaceAll(folded(value, room), "\n", "\n"+strings.Repeat(" ", behind))
	}
	return value
}

// Fold breaks the lines of a text between words, for a terminal of a width. What goes on of a
// line that is indented, or an entry of a list, is indented as far. 0 is no terminal.
func Fold(body string, width int) string {
	lines := strings.Split(body, "\n")
	for i, l := range lines {
		lead := listed().FindString(l)
		lines[i] = lead + Hanging(l[len(lead):], len(lead), width)
	}
	return strings.Join(lines, "\n")
}

// listed is how a line begins that is indented, or is an entry of a list.
var listed = text.Pattern(`^ *([0-9]+\. |- )?`)

// Paragraphs breaks a text anew, between words. Paragraphs are parted by empty lines;
// one with lines that are indented stays as it is.
func Paragraphs(body string, width int) string {
	all := strings.Split(body, "\n\n")
	for i, p := range all {
		if !strings.HasPrefix(p, " ") && !strings.Contains(p, "\n ") {
			all[i] = folded(strings.ReplaceAll(p, "\n", " "), width)
		}
	}
	return strings.Join(all, "\n\n")
}

// folded breaks lines at spaces alone: a path, an option or an address that is cut
// could not be copied. Neither could a command at the end of a line: it begins a line of
// its own where it does not fit, and one that has an indented line stays as it is. What is wider than a line is left to the terminal, from
// which it is copied in one piece.
func folded(message string, width int) string {
	var out strings.Builder
	for i, line := range strings.Split(message, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		if strings.HasPrefix(line, "  reprise ") {
			out.WriteString(line) // a command alone
			continue
		}
		used, command, space := 0, "", ""
		if at := strings.LastIndex(line, ": reprise "); at >= 0 {
			line, command = line[:at+2], line[at+2:]
		}
		for _, part := range append(strings.SplitAfter(line, " "), command) {
			word := strings.TrimSuffix(part, " ")
			if part == "" {
				continue
			}
			if used > 0 && used+ansi.StringWidth(space+word) > width {
				out.WriteByte('\n')
				used, space = 0, "" // at the end of a full line, it would begin the next one
			}
			out.WriteString(space + word)
			used += ansi.StringWidth(space + word)
			space = part[len(word):]
		}
		out.WriteString(space)
	}
	return out.String()
}
