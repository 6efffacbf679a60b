package clean

import (
	"strings"
	"unicode/utf8"
)

// maxHidden is how many characters of an alternative text or attribute may stay.
const maxHidden = 60

const space = " \t\n"

// blank reports whether a line is one that ends a paragraph. Other space than
// this does not.
func blank(line string) bool { return strings.Trim(line, " \t") == "" }

// inner is a line without the marks of lists and quotes before its text.
func inner(line string) string { return strings.TrimLeft(line, " \t>*+-.)0123456789") }

// margin is what inner leaves out.
func margin(line string) string { return line[:len(line)-len(inner(line))] }

// indent returns where the space at from ends.
func indent(text string, from int) int {
	for from < len(text) && strings.IndexByte(space, text[from]) >= 0 {
		from++
	}
	return from
}

// long reports whether a hidden text is longer than may stay.
func long(text string) bool {
	return len(text) > maxHidden && utf8.RuneCountInString(text) > maxHidden
}
