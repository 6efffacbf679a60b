package agents

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/text"
)

// Printer prints entries for people: one line for a tool and for what came back, and
// in full what was said.
type TranscriptPrinter struct {
	text.Printer
	Width   int  // of the terminal in cells; 0 if unknown
	Prompts bool // in full
}

// Print prints an entry.
func (p TranscriptPrinter) Print(e Entry) {
	switch e.Kind {
	case Begins:
		p.begin(e)
	case Said:
		p.block(e.Text, "  ", func(s string) string { return s })
	case Thought:
		p.block(e.Text, "  ", p.Faint)
	case Used:
		p.one("  ", p.Cyan("→ "+text.Flat(e.Tool)), e.Text, func(s string) string { return s })
	case Back:
		p.one("    ", mark(p.Palette, e.Bad, p.Faint("←")), cmp.Or(firstLine(e.Text), "nothing"), p.Faint)
	case Note:
		p.one("  ", mark(p.Palette, e.Bad, p.Faint("·")), firstLine(e.Text), p.Faint)
	case Ends:
		if strings.Contains(e.Text, "\n") { // such as the fields of an answer
			p.block(e.Text, "  ", func(s string) string { return s })
			e.Text = ""
		}
		p.one("  ", mark(p.Palette, e.Bad, p.Green("✓")), cmp.Or(e.Text, "done"), func(s string) string { return s })
	}
}

func mark(p text.Palette, bad bool, good string) string {
	if bad {
		return p.Red("✗")
	}
	return good
}

func (p TranscriptPrinter) begin(e Entry) {
	c := e.Call
	who := text.Flat(c.Agent)
	if with := text.Join(" ", text.If(c.Use != c.Agent, c.Use), c.Model); with != "" {
		who += " (" + text.Flat(with) + ")"
	}
	p.Line("%s", p.Bold(text.Cut(fmt.Sprintf("#%d %s %s, %s", c.Attempt, text.Flat(c.Phase), text.Flat(string(c.Step)), who)+text.If(c.Resumed, ", resumed"), p.Width)))
	if p.Prompts {
		p.block(e.Text, "  > ", p.Faint)
		return
	}
	p.Line("  %s", p.Faint(fmt.Sprintf("prompt: %d characters (--prompts shows it)", utf8.RuneCountInString(e.Text))))
}

// one prints a line that is cut to the width of the terminal.
func (p TranscriptPrinter) one(indent, sign, body string, paint func(string) string) {
	const most = 300 // cells, where the width is not known
	room := most
	if p.Width > 0 {
		room = max(p.Width-len(indent)-cells(sign)-1, 10)
	}
	p.Line("%s%s %s", indent, sign, paint(text.Cut(text.Flat(body), room)))
}

// cells is the width of a sign, without its colour.
func cells(sign string) int {
	n, inside := 0, false
	for _, r := range sign {
		switch {
		case r == '\x1b':
			inside = true
		case inside:
			inside = r != 'm'
		default:
			n++
		}
	}
	return n
}

// block prints a text in full, over as many lines as it takes.
func (p TranscriptPrinter) block(body, indent string, paint func(string) string) {
	for line := range strings.Lines(strings.TrimSpace(body)) {
		p.Line("%s%s", indent, paint(text.Visible(strings.TrimRight(line, "\r\n")))) // with the spaces that code begins with
	}
}

// firstLine gives the first line of a text that has something on it, and says how many
// follow.
func firstLine(s string) string {
	s = strings.TrimSpace(s)
	first, rest, more := strings.Cut(s, "\n")
	if !more {
		return first
	}
	return first + fmt.Sprintf(" (+%d lines)", 1+strings.Count(strings.TrimSpace(rest), "\n"))
}
