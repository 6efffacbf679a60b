package clean

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Mark gives a text with a mark such as <U+202E> in the place of every character that nobody would see, for
// who reviews a change, and how many these are. Emoji and scripts keep what they need.
func Mark(text string) (marked string, count int) {
	if plain(text) {
		return text, 0
	}
	var b strings.Builder
	var prev rune
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		switch kind, n := hidden(prev, c, text[i:], size); {
		case c == '\n' || c == '\t' || c == '\r' && strings.HasPrefix(text[i+size:], "\n"):
			b.WriteString(text[i : i+size])
		case c == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "<0x%02X>", text[i])
			count++
		case kind != "" || c == '\u2028' || c == '\u2029':
			fmt.Fprintf(&b, "<U+%04X>", c)
			count++
		default:
			b.WriteString(text[i : i+n])
			size = n
			c, _ = utf8.DecodeLastRuneInString(text[i : i+n])
		}
		prev = c
		i += size
	}
	return b.String(), count
}
