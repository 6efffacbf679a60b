package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// slashVisible takes out of a line what nobody sees, and gives the first such
// character, or "": a command does what people read, or nothing.
func slashVisible(line string) (visible, hidden string) {
	var b strings.Builder
	before := rune('/')
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		after, _ := utf8.DecodeRuneInString(line[i+size:])
		if slashHidden(r, size, before, after) {
			if hidden == "" {
				hidden = slashCodePoint(r, line[i])
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

// slashHidden reports whether a character may not stand in the line of a
// command. Joiners may between letters that are not ASCII, as Persian is
// spelled with one, and emoji are made with the other.
func slashHidden(r rune, size int, before, after rune) bool {
	switch r {
	case '\u200c', '\u200d':
		return before <= unicode.MaxASCII || after <= unicode.MaxASCII || after == utf8.RuneError
	case '\u2028', '\u2029', // ends of lines that are none in Markdown
		'\u115f', '\u1160', '\u3164', '\uffa0': // letters without a shape
		return true
	}
	return slashControl(r, size) || unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// slashControl reports whether something is a control character other than
// those that text is laid out with, or no character at all.
func slashControl(r rune, size int) bool {
	return unicode.IsControl(r) && r != '\t' && r != '\n' || r == utf8.RuneError && size == 1
}

// slashFirstControl finds the first control character of a text, or gives "".
func slashFirstControl(text string) string {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if slashControl(r, size) {
			return slashCodePoint(r, text[i])
		}
		i += size
	}
	return ""
}

// slashCodePoint names a character that cannot be shown, or a byte that is
// none.
func slashCodePoint(r rune, first byte) string {
	if r == utf8.RuneError {
		return fmt.Sprintf("0x%02X", first)
	}
	return fmt.Sprintf("U+%04X", r)
}
