package clean

import (
	"html"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/text"
)

// MaxComment is the most that GitHub takes, in UTF-16 units.
const MaxComment = 65_536

// Inline escapes text from outside for one line. It is cut to limit characters
// before it is escaped.
func Inline(text string, limit int) string {
	return Escape(Truncate(strings.Join(strings.Fields(text), " "), limit))
}

// Truncate cuts a text to a number of characters. The result is not
// escaped.
func Truncate(text string, limit int) string {
	text = strings.TrimSpace(text)
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:limit])) + "…"
}

// Code makes text from outside inline code. Backticks in it become quotes.
func Code(text string) string {
	text, _ = Quoted(text)
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "`", "'")
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "<!--", "<! --") + "`"
}

// Prose is a text with an x for every byte that GitHub surely shows as code.
func Prose(text string) string {
	d := &draft{src: text, open: text, r: &recorder{}}
	d.blocks()
	return d.open
}

// Fenced makes text from outside a block of code that it cannot end.
func Fenced(text string) string {
	text, _ = Quoted(text)
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + EscapeCommands(strings.ReplaceAll(text, "<!--", "<! --")) + "\n" + fence
}

// LeadingSlash matches the beginning of a line that programs may take for a
// command.
var LeadingSlash = regexp.MustCompile(`(?m)^/[A-Za-z]`)

// EscapeCommands moves the text of a block of code by one space if a line of it begins with a slash, which
// programs may take for a command.
func EscapeCommands(text string) string {
	if LeadingSlash.MatchString(text) {
		return Indent(text, " ")
	}
	return text
}

// Indent puts a prefix before every line, without space at its end.
func Indent(text, prefix string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(prefix+l, " ")
	}
	return strings.Join(lines, "\n")
}

// Item is an item of a list. The title is Markdown, the texts are from
// outside and become paragraphs of it.
func Item(title string, texts ...string) string {
	out := "- " + title
	for _, t := range texts {
		if t = Escape(t); t != "" {
			out += "\n\n" + Indent(t, "  ")
		}
	}
	return out
}

// Quote is a quote with a title, which is Markdown, and a text from outside.
func Quote(title, text string) string {
	return Indent(title+"\n\n"+Escape(text), "> ")
}

// Details is a part that can be opened. The summary is text of our own.
func Details(summary, body string, open bool) string {
	tag := "<details>"
	if open {
		tag = "<details open>"
	}
	return tag + "\n<summary>" + summary + "</summary>\n\n" + body + "\n\n</details>"
}

// Bold makes Markdown bold; nothing stays nothing, as **** would be a line.
func Bold(text string) string {
	if text == "" {
		return ""
	}
	return "**" + text + "**"
}

// Named is a fact with its name.
func Named(name, value string) string {
	if value == "" {
		return ""
	}
	return "**" + name + "** " + value
}

// PrefixedText puts a prefix before a text; "" stays "".
func PrefixedText(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// Link is a link with a text, which is Markdown; "" if the address is none
// for a browser.
func Link(text, address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || text == "" {
		return ""
	}
	return "[" + text + "](" + strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E").Replace(u.String()) + ")"
}

// FileURL is the address of a file of the repository; "" without a base.
func FileURL(base, file string) string {
	if base == "" {
		return ""
	}
	var parts []string
	for part := range strings.SplitSeq(path.Clean("/" + file)[1:], "/") {
		parts = append(parts, url.PathEscape(part))
	}
	return strings.TrimSuffix(base, "/") + "/" + strings.Join(parts, "/")
}

// Fit joins the blocks for which there is room, with a blank line between
// them, and says whether that is all. Empty ones are left out.
func Fit(blocks []string, room int) (text string, whole bool) {
	var out []string
	whole = true
	for _, b := range blocks {
		switch n := Units(b) + len("\n\n"); {
		case b == "":
		case n > room:
			whole = false
		default:
			room -= n
			out = append(out, b)
		}
	}
	return strings.Join(out, "\n\n"), whole
}

// Units counts UTF-16 units, which is what GitHub counts.
func Units(text string) (n int) {
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// Escape makes text harmless in the Markdown of a comment, but not for cells of tables: it reads as it was
// written, but mentions nobody, links nowhere, and is no image, command, markup, HTML or fence. Inline code
// stays code; what would turn into a link becomes code.
func Escape(text string) string {
	text, _ = Quoted(text)
	text = plainLetters.Replace(text)
	var out []string
	for line := range strings.Lines(text) {
		line = escapeLine(strings.TrimSpace(strings.ReplaceAll(line, "\t", " ")))
		if line != "" || len(out) > 0 && out[len(out)-1] != "" {
			out = append(out, line)
		}
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

// plainLetters writes U+017F as s and U+212A as K. A comparison that ignores case takes them for
// these letters, so whoever compares names in that way would see a mention where we see none.
var plainLetters = strings.NewReplacer("\u017f", "s", "\u212a", "K")

// escapeLine escapes one line without space around it.
func escapeLine(line string) string {
	s := lineSanitizer{strict: true, whole: line, rest: line, spans: spansOf(line)}
	for s.rest != "" {
		s.next()
	}
	return s.out.String()
}

// plain writes some bytes as text that Markdown makes nothing of.
func (s *lineSanitizer) plain(n int) {
	for _, c := range []byte(s.rest[:n]) {
		first := s.out.Len() == 0
		switch {
		case c == '<' || c == '>' || c == '&':
			s.out.WriteString(html.EscapeString(string(c)))
			continue
		case strings.IndexByte(`\*_[]~|$`, c) >= 0, first && strings.IndexByte("#+-=/:", c) >= 0,
			(c == '.' || c == ')') && onlyDigits(s.out.String()):
			s.out.WriteByte('\\')
		}
		s.out.WriteByte(c)
	}
	s.rest = s.rest[n:]
}

// inToken reports whether c may be part of an address, a name or a reference.
func inToken(c byte) bool {
	return c > ' ' && c < 0x7f && !strings.ContainsRune("`\"'()[]<>{}|*\\", rune(c))
}

var acts = text.Pattern(`(?i)://|www\.|mailto:|xmpp:|@.|.@|#[0-9]|gh-[0-9]`)

// Mentions reports whether GitHub would make something of a token: a link, a
// mention or a reference.
func Mentions(token string) bool { return acts().MatchString(token) }

// onlyDigits reports whether s is a number that could begin a list, which has
// at most nine digits.
func onlyDigits(s string) bool {
	return s != "" && len(s) <= 9 && strings.Trim(s, "0123456789") == ""
}
