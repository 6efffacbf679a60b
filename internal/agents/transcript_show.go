package agents

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/text"
)

// TranscriptPrinter prints entries for people: one line for a tool and for what came back, and
// in full what was said.
type TranscriptPrinter struct {
	text.Printer
	Width   int  // of the terminal in cells; 0 if unknown
	Prompts bool // in full
	last    int  // the attempt whose entry was printed last
}

// Print prints an entry of an attempt.
func (p *TranscriptPrinter) Print(attempt int, e Entry) {
	if e.Kind != Begins && attempt != p.last { // it goes on behind another one's
		p.Line("%s", p.Bold(fmt.Sprintf("#%d", attempt)))
	}
	p.last = attempt
	plain := func(s string) string { return s }
	switch e.Kind {
	case Begins:
		p.begin(e)
	case Said:
		p.block(e.Text, "  ", plain)
	case Thought:
		p.block(e.Text, "  ", p.Faint)
	case Used:
		p.one("  ", "→ "+text.Flat(e.Tool), p.Cyan, e.Text, plain)
	case Back:
		p.result(e, "    ", "←", p.Faint, cmp.Or(firstLine(e.Text), "nothing"), p.Faint)
	case Note:
		p.result(e, "  ", "·", p.Faint, firstLine(e.Text), p.Faint)
	case Ends:
		if strings.Contains(e.Text, "\n") { // such as the fields of an answer
			p.block(e.Text, "  ", plain)
			e.Text = ""
		}
		p.result(e, "  ", "✓", p.Green, cmp.Or(e.Text, "done"), plain)
	}
}

// result prints a line with a sign that says whether something failed.
func (p *TranscriptPrinter) result(e Entry, indent, sign string, paintSign func(string) string, body string, paint func(string) string) {
	if e.Bad {
		sign, paintSign = "✗", p.Red
	}
	p.one(indent, sign, paintSign, body, paint)
}

func (p *TranscriptPrinter) begin(e Entry) {
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
func (p *TranscriptPrinter) one(indent, sign string, paintSign func(string) string, body string, paint func(string) string) {
	const most = 300 // cells, where the width is not known
	room := most
	if p.Width > 0 {
		room = max(p.Width-len(indent)-utf8.RuneCountInString(sign)-1, 10)
	}
	p.Line("%s%s %s", indent, paintSign(sign), paint(text.Cut(text.Flat(body), room)))
}

// block prints a text in full, over as many lines as it takes.
func (p *TranscriptPrinter) block(body, indent string, paint func(string) string) {
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
