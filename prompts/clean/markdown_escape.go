package clean

import (
	"html"
	"strings"
)

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
	s := lineSanitizer{whole: line, rest: line, spans: spansOf(line)}
	for s.rest != "" {
		n := 1
		for inToken(s.rest[0]) && n < len(s.rest) && inToken(s.rest[n]) {
			n++
		}
		token := strings.TrimRight(s.rest[:n], ".,;:!?")
		switch {
		case s.rest[0] == '`':
			s.backticks()
		case inToken(s.rest[0]) && Mentions(token):
			s.code(token, token)
		default:
			s.plain(n)
		}
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

// onlyDigits reports whether s is a number that could begin a list, which has
// at most nine digits.
func onlyDigits(s string) bool {
	return s != "" && len(s) <= 9 && strings.Trim(s, "0123456789") == ""
}
