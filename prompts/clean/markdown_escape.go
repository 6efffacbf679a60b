package clean

import (
	"strings"
)

// Escape makes text from agents and people harmless in the Markdown of a
// comment. It reads as it was written, but it mentions nobody, refers to no
// issue, links nowhere, shows no image, and is no command, markup, HTML or
// fence. Inline code stays code; what would turn into a link becomes code.
// Lines stay lines. The result is for paragraphs, quotes and list items, not
// for the cells of a table.
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
	var b escaper
	for i := 0; i < len(line); {
		switch {
		case line[i] == '`':
			content, n := codeSpan(line[i:])
			if content != "" {
				b.code(content)
			} else {
				b.plain(line[i : i+n])
			}
			i += n
		case inToken(line[i]):
			n := 1
			for i+n < len(line) && inToken(line[i+n]) {
				n++
			}
			token := strings.TrimRight(line[i:i+n], ".,;:!?")
			if Mentions(token) {
				b.code(token)
				i += len(token)
				continue
			}
			b.plain(line[i : i+n])
			i += n
		default:
			n := 1
			for i+n < len(line) && line[i+n] != '`' && !inToken(line[i+n]) {
				n++
			}
			b.plain(line[i : i+n])
			i += n
		}
	}
	b.end()
	return b.out.String()
}

// codeSpan gives the content of the inline code that rest begins with, and
// how many bytes it takes. Content is empty if those bytes are only backticks
// that stand for themselves.
func codeSpan(rest string) (content string, n int) {
	for n < len(rest) && rest[n] == '`' {
		n++
	}
	length := strings.IndexByte(rest[n:], '`')
	if n > 1 || length < 0 || strings.HasPrefix(rest[n+length+1:], "`") {
		return "", n
	}
	content = strings.TrimSpace(rest[n : n+length])
	if content == "" || strings.Contains(content, "<!--") {
		return "", n
	}
	return content, n + length + 1
}

// inToken reports whether c may be part of an address, a name or a reference.
func inToken(c byte) bool {
	return c > ' ' && c < 0x7f && !strings.ContainsRune("`\"'()[]<>{}|*\\", rune(c))
}

// Mentions reports whether GitHub would make something of a token: a link, a
// mention or a reference.
func Mentions(token string) bool {
	lower := strings.ToLower(token)
	for _, s := range []string{"://", "www.", "mailto:", "xmpp:"} {
		if strings.Contains(lower, s) {
			return true
		}
	}
	for i := range max(len(lower)-1, 0) {
		switch next := lower[i+1]; {
		case lower[i] == '@', lower[i] == '#' && isDigit(next), strings.HasSuffix(lower[:i+1], "gh-") && isDigit(next):
			return true
		}
	}
	return len(lower) > 1 && strings.HasSuffix(lower, "@")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// escaper writes a line of Markdown piece by piece. Code next to code is
// one span, as two would not end where they should.
type escaper struct {
	out    strings.Builder
	inCode bool
}

func (b *escaper) code(content string) {
	if !b.inCode {
		b.out.WriteByte('`')
	}
	b.inCode = true
	b.out.WriteString(content)
}

func (b *escaper) end() {
	if b.inCode {
		b.out.WriteByte('`')
	}
	b.inCode = false
}

func (b *escaper) plain(text string) {
	b.end()
	for i := 0; i < len(text); i++ {
		first := b.out.Len() == 0
		switch c := text[i]; {
		case c == '`':
			b.out.WriteString("&#96;")
		case c == '<':
			b.out.WriteString("&lt;")
		case c == '>':
			b.out.WriteString("&gt;")
		case c == '&':
			b.out.WriteString("&amp;")
		case strings.IndexByte(`\*_[]~|$`, c) >= 0, first && strings.IndexByte("#+-=/:", c) >= 0,
			(c == '.' || c == ')') && onlyDigits(b.out.String()):
			b.out.WriteByte('\\')
			b.out.WriteByte(c)
		default:
			b.out.WriteByte(c)
		}
	}
}

// onlyDigits reports whether s is a number that could begin a list, which has
// at most nine digits.
func onlyDigits(s string) bool {
	return s != "" && len(s) <= 9 && strings.Trim(s, "0123456789") == ""
}
