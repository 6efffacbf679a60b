package clean

import (
	"regexp"
	"strings"
	"sync"
)

// Clean takes out what GitHub does not show of a text. Each part that it takes
// out is given to removed.
func Unseen(text string, removed func(part string)) string {
	text = footnotes(text, removed)
	text = tables(text, removed)
	return formulas(text, removed)
}

// containers matches the marks of quotes and lists that a line begins with.
var containers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?: {0,3}(?:> ?|(?:[-*+]|[0-9]{1,9}[.)]) {1,4}))*`)
})

// leadOf gives the marks of quotes and lists that a line begins with, and the
// indentation behind them, as far as it is none of code.
func leadOf(line string) (marks, lead string) {
	if line != "" && strings.IndexByte(" >-*+0123456789", line[0]) >= 0 {
		marks = containers().FindString(line)
	}
	end := len(marks)
	for end < len(line) && end < len(marks)+3 && line[end] == ' ' {
		end++
	}
	return marks, line[:end]
}

// Follows reports whether a line lies in the same lists and quotes as one with
// that lead.
func Follows(line, lead string) bool {
	if len(line) < len(lead) {
		return false
	}
	for i := range len(lead) {
		if want := lead[i]; want == '>' && line[i] != '>' || want != '>' && line[i] != ' ' {
			return false
		}
	}
	return true
}

// blank reports whether a line has no text, within quotes or without.
func blankUnseen(line string) bool { return strings.Trim(line, " \t>\n") == "" }

// blocks goes through the lines of a text and knows which of them are HTML, or
// code between fences at the margin.
type blocks struct {
	ends func(line string) bool // says which line is the last; nil outside of such blocks
	code bool                   // the last line was one of code
}

// skip reports whether the next line belongs to such a block.
func (b *blocks) skip(line string) bool {
	if b.ends == nil && !b.begin(line) {
		b.code = false
		return false
	}
	if b.ends(line) {
		b.ends = nil
	}
	return true
}

// begin reports whether a line begins such a block.
func (b *blocks) begin(line string) bool {
	marks, lead := leadOf(line)
	rest := line[len(lead):]
	if fence := FenceOf(rest); fence != "" && marks == "" {
		first := true
		b.code = true
		b.ends = func(line string) bool {
			line = strings.TrimSpace(line)
			last := !first && strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == ""
			first = false
			return last
		}
		return true
	}
	if !strings.HasPrefix(rest, "<") {
		return false
	}
	b.code = false
	b.ends = blankUnseen
	if end := endOfHTML(rest); end != "" && marks == "" {
		b.ends = func(line string) bool { return strings.Contains(strings.ToLower(line), end) }
	}
	return true
}

// endOfHTML gives what ends a block of HTML that a blank line does not end.
func endOfHTML(line string) string {
	line = strings.ToLower(line[:min(len(line), len("<textarea"))])
	for _, name := range []string{"pre", "script", "style", "textarea"} {
		if strings.HasPrefix(line, "<"+name) {
			return "</" + name + ">"
		}
	}
	return ""
}

// FenceOf gives the fence with which a line begins a block of code, or "". An
// indented one may belong to a list that ends before the block does, so only
// those at the margin count.
func FenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		if n := len(line) - len(rest); n >= 3 && (mark == "~" || !strings.Contains(rest, mark)) {
			return line[:n]
		}
	}
	return ""
}

// mostTicks is how many backticks may begin inline code. Each number of them may
// be looked for up to the end of the text.
const mostTicks = 16

// inlineCode gives the length of the inline code that a text begins with, with
// its marks; if it begins with none, that of the backticks.
func inlineCode(text string) int {
	ticks := func(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }
	n := ticks(text)
	if n > mostTicks {
		return n
	}
	for at := n; ; {
		next := strings.IndexByte(text[at:], '`')
		if next < 0 {
			return n
		}
		at += next
		run := ticks(text[at:])
		if at += run; run == n {
			return at
		}
	}
}
