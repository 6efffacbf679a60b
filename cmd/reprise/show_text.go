package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// usd prints dollars: "$0.12". What is less than a cent but not nothing says so.
func usd(v float64) string {
	if v > 0 && v < 0.005 {
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", v)
}

// tokenCount prints a number of tokens without the noun: "950", "1.2k", "3.4M".
func tokenCount(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e3), ".0") + "k"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + "M"
}

// took prints a duration with the two units that matter: "0.4s", "12s",
// "3m12s", "2h05m", "3d04h".
func took(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case d <= 0:
		return "0s"
	case d < 10*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + "s"
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 24*3600:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%02dh", s/(24*3600), s/3600%24)
}

// plural prints a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// flat makes text from outside fit for a line of a terminal or a log: one line,
// in which nothing is obeyed that would move the cursor, reorder the text or
// hide it. The form of a workflow command that counts anywhere in a line is
// broken.
func flat(text string) string {
	return strings.ReplaceAll(visible(strings.Join(strings.Fields(text), " ")), "##[", "## [")
}

// visible shows what a terminal would obey and what hides: control characters
// and characters that reorder text or cannot be seen, such as ␛ and <U+202E>.
// Line ends and tabs stay, and so do the joiners that scripts and emoji need.
func visible(text string) string {
	if strings.IndexFunc(text, obeyed) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text { // bytes that are not UTF-8 come out as U+FFFD
		switch {
		case !obeyed(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune(0x2400 + r) // its picture
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// obeyed reports whether a terminal may do something for a character instead of
// showing it.
func obeyed(r rune) bool {
	const zwnj, zwj = 0x200c, 0x200d
	switch r {
	case '\n', '\t', zwnj, zwj:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) // those are drawn
}

// reasons makes the lines of a text from outside one line. A line that does
// not end as a sentence or a list does gets a semicolon before the next one.
func reasons(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if line = flat(line); line == "" {
			continue
		}
		if said := out.String(); said != "" && !endsItself(said) {
			out.WriteByte(';')
		}
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(line)
	}
	return out.String()
}

// endsItself reports whether a text ends with punctuation.
func endsItself(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".,;:!?…。、！？", last)
}

// cut shortens a line of plain text to a number of terminal cells. Zero or
// less means no limit.
func cut(text string, width int) string {
	if width <= 0 {
		return text
	}
	return ansi.Truncate(text, width, "…")
}

// padded fills a text with spaces up to a number of terminal cells.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}

// palette colours text, or leaves it as it is.
type palette bool

func (p palette) paint(code, text string) string {
	if !p || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p palette) bold(text string) string   { return p.paint("1", text) }
func (p palette) faint(text string) string  { return p.paint("2", text) }
func (p palette) red(text string) string    { return p.paint("31", text) }
func (p palette) green(text string) string  { return p.paint("32", text) }
func (p palette) yellow(text string) string { return p.paint("33", text) }
func (p palette) cyan(text string) string   { return p.paint("36", text) }

// printer writes lines. What cannot be written is lost: showing something
// never stops the work.
type printer struct {
	w io.Writer
	palette
}

func (p printer) line(format string, args ...any) {
	_, _ = fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}
