// Package text writes figures, durations, lists and tables for people, and makes
// text of others fit for a line of a terminal or a log.
package text

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// OneLine puts a text on one line.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Last is the last element of a path with slashes.
func Last(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// Capitalize begins a sentence.
func Capitalize(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(r)) + text[size:]
}

// List gives a list that is [] in JSON where it has nothing, and never null.
func List[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// QuoteShell makes a text one word of a shell's command line.
func QuoteShell(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Words prints a word of the record, such as in_progress, as people write it.
func Words[S ~string](s S) string { return Flat(strings.ReplaceAll(string(s), "_", " ")) }

// Clock prints a time for people; a time that is missing as a dash.
func Clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// Prefixed puts a prefix before a text that is made flat; "" stays "".
func Prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + Flat(text)
}

// FlatAll makes each text flat, see Flat.
func FlatAll(texts []string) []string {
	out := make([]string, 0, len(texts))
	for _, t := range texts {
		out = append(out, Flat(t))
	}
	return out
}

// If gives the text if b is true, and "" otherwise.
func If(b bool, text string) string {
	if b {
		return text
	}
	return ""
}

// Count is how many of some things are so.
func Count(all ...bool) (n int) {
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}

// USD prints dollars: "$0.12". What is less than a cent but not nothing says so.
func USD(v float64) string {
	if v > 0 && v < 0.005 {
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", v)
}

// Tokens prints a number of tokens without the noun: "950", "1.2k", "3.4M".
func Tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e3), ".0") + "k"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + "M"
}

// Duration prints a duration with the two units that matter: "0.4s", "12s",
// "3m12s", "2h05m", "3d04h".
func Duration(d time.Duration) string {
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

// Plural prints a number with its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Flat makes text from outside fit for a line of a terminal or a log: one line,
// in which nothing is obeyed that would move the cursor, reorder the text or
// hide it. The form of a workflow command that counts anywhere in a line is
// broken.
func Flat(text string) string {
	return strings.ReplaceAll(Visible(strings.Join(strings.Fields(text), " ")), "##[", "## [")
}

// Visible shows what a terminal would obey and what hides: control characters
// and characters that reorder text or cannot be seen, such as ␛ and <U+202E>.
// Line ends and tabs stay, and so do the joiners that scripts and emoji need.
func Visible(text string) string {
	if strings.IndexFunc(text, Obeyed) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text { // bytes that are not UTF-8 come out as U+FFFD
		switch {
		case !Obeyed(r):
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

// Obeyed reports whether a terminal may do something for a character instead of
// showing it.
func Obeyed(r rune) bool {
	if Joiner(r) {
		return false
	}
	return Invisible(r) && !unicode.Is(unicode.Variation_Selector, r) // those select how an emoji or an ideograph is drawn
}

// JoinLines makes the lines of a text from outside one line. A line that does
// not end as a sentence or a list does gets a semicolon before the next one.
func JoinLines(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if line = Flat(line); line == "" {
			continue
		}
		if said := out.String(); said != "" && !EndsItself(said) {
			out.WriteByte(';')
		}
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(line)
	}
	return out.String()
}

// EndsItself reports whether a text ends with punctuation.
func EndsItself(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".,;:!?…。、！？", last)
}

// Cut shortens a line of plain text to a number of terminal cells. Zero or
// less means no limit.
func Cut(text string, width int) string {
	if width <= 0 || len(text) <= width { // no character has more cells than bytes
		return text
	}
	return ansi.Truncate(text, width, "…")
}

// Short keeps so many characters of a text, and says that there were more.
func Short(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// Pad fills a text with spaces up to a number of terminal cells.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}

// FirstLine gives the first line of a text that has something on it.
func FirstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}

// Join joins the parts that are not empty.
func Join(sep string, parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, sep)
}

// Pattern gives a regular expression that is compiled when it is first used: compiling all of them would take longer than most
// commands do. Written out at each of a hundred places, it would be 200 kB of the program.
//
//go:noinline
func Pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// Invisible reports whether a character takes up no room, or changes how others
// are laid out or read instead of being shown: control characters, those that
// format, select a variant or are left out by default, ends of lines that are
// none in Markdown, and code points that are no characters. Line breaks and tabs
// are not; joiners and selectors are, though some scripts and emoji need them:
// whoever asks has to look at what stands around.
func Invisible(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x7f: // nearly all there is, and the tables below take long
		return r < ' '
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r), unicode.Is(unicode.Egyptian_Hieroglyphs, r):
		return false // formats that are drawn
	}
	return unicode.In(r,
		unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
}

// Reorders reports whether a character changes the order in which others are
// shown.
func Reorders(r rune) bool {
	return unicode.Is(unicode.Bidi_Control, r) || r >= 0x206a && r <= 0x206f // the latter are deprecated
}

// Tag reports whether a character is one of those that repeat ASCII without
// being shown.
func Tag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

// Joiner reports whether a character joins those beside it or keeps them apart.
func Joiner(r rune) bool { return r == 0x200c || r == 0x200d }

// Emoji reports whether c is in a block of emoji.
func Emoji(c rune) bool {
	return c >= 0x1f000 && c <= 0x1faff || c >= 0x2600 && c <= 0x27bf || c >= 0x2190 && c <= 0x21ff ||
		c >= 0x2300 && c <= 0x23ff || c >= 0x25a0 && c <= 0x25ff || c >= 0x2b00 && c <= 0x2bff ||
		c == 0xa9 || c == 0xae || c == 0x203c || c == 0x2049 || c == 0x2122 || c == 0x2139 || c == 0x24c2 ||
		c == 0x2934 || c == 0x2935 || c == 0x3030 || c == 0x303d || c == 0x3297 || c == 0x3299
}

// Joined reports whether c belongs to a script that needs joiners to be
// written correctly, such as Persian and the scripts of India: between letters,
// and where a letter has another form than it would have alone.
func Joined(c rune) bool {
	return unicode.In(c, unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam,
		unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese, unicode.Javanese, unicode.Adlam,
		unicode.Mandaic, unicode.Hanifi_Rohingya, unicode.Chakma, unicode.Newa, unicode.Tirhuta, unicode.Grantha, unicode.Kaithi)
}

// Edits counts the letters to insert, delete, replace or swap to get from a to
// b. It stops counting at 3.
func Edits(a, b string) int {
	if len(a) > len(b)+2 || len(b) > len(a)+2 {
		return 3
	}
	before, prev, row := []int(nil), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, make([]int, len(b)+1)
	}
	return min(prev[len(b)], 3)
}

// isNumber reports whether an issue has a number. One of a file has a name.
func isNumber(id string) bool { return id != "" && strings.Trim(id, "0123456789") == "" }

// IssueHead begins a text about an issue: with its number and title, as #7 Say hello, or, if
// it is of a file, with the name of that: hello: Say hello to nobody.
func IssueHead(id, title string) string {
	if isNumber(id) {
		return Join(" ", "#"+id, Flat(title))
	}
	return Join(": ", Flat(id), Flat(title))
}

// IssueName names an issue where little is said of it: by its number, as Issue 7, or by its
// title if it has none.
func IssueName(id, title string) string {
	if isNumber(id) {
		return "Issue " + id
	}
	if title = Flat(title); title != "" {
		return title
	}
	return Flat(id)
}

// WantsColor reports whether output is coloured, by the habits that terminal
// programs share: never with NO_COLOR or on a dumb terminal, else on a
// terminal or where CLICOLOR_FORCE asks for it.
func WantsColor(getenv func(string) string, terminal bool) bool {
	switch {
	case getenv("NO_COLOR") != "":
		return false
	case getenv("CLICOLOR_FORCE") != "" && getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	return terminal && getenv("TERM") != "dumb"
}

// UnixLines ends every line as Unix does, whatever Windows and git have made of it.
func UnixLines[T string | []byte](text T) T {
	return T(strings.ReplaceAll(string(text), "\r\n", "\n"))
}
