package command

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/text"
)

// visible takes out of a line what nobody sees, and gives the first such
// character, or "": a command does what people read, or nothing.
func visible(line string) (visible, hidden string) {
	var b strings.Builder
	before := rune('/')
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		after, _ := utf8.DecodeRuneInString(line[i+size:])
		if hiddenIn(r, size, before, after) {
			if hidden == "" {
				hidden = codePoint(r, line[i])
			}
			if unicode.IsSpace(r) {
				b.WriteByte(' ')
			}
		} else {
			b.WriteString(line[i : i+size])
		}
		before = r
		i += size
	}
	return b.String(), hidden
}

// hiddenIn reports whether a character may not stand in the line of a
// command. Joiners may between letters that are not ASCII, as Persian is
// spelled with one, and emoji are made with the other.
func hiddenIn(r rune, size int, before, after rune) bool {
	switch {
	case text.Joiner(r):
		return before <= unicode.MaxASCII || after <= unicode.MaxASCII || after == utf8.RuneError
	case unicode.Is(unicode.Variation_Selector, r):
		drawn := before > unicode.MaxASCII && !unicode.Is(unicode.Variation_Selector, before) // an emoji, or an ideograph
		return !drawn && after != keycap
	}
	return control(r, size) || text.Invisible(r)
}

// keycap draws a key around a digit, with a selector between the two.
const keycap = '\u20e3'

// control reports whether something is a control character other than
// those that text is laid out with, or no character at all.
func control(r rune, size int) bool {
	return unicode.IsControl(r) && r != '\t' && r != '\n' || r == utf8.RuneError && size == 1
}

// firstControl finds the first control character of a text, or gives "".
func firstControl(text string) string {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if control(r, size) {
			return codePoint(r, text[i])
		}
		i += size
	}
	return ""
}

// codePoint names a character that cannot be shown, or a byte that is
// none.
func codePoint(r rune, first byte) string {
	if r == utf8.RuneError {
		return fmt.Sprintf("0x%02X", first)
	}
	return fmt.Sprintf("U+%04X", r)
}
