package github

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSuffix(line, "\r")
}

// marked is a text that begins with its marker, and no longer than a comment may be.
func marked(marker, body string) (string, error) {
	if !strings.HasPrefix(marker, "<!--") || !strings.HasSuffix(marker, "-->") || strings.ContainsAny(marker, "\r\n") || len(marker) > 1000 {
		return "", fmt.Errorf("%q is no marker: it takes an HTML comment on one line", marker)
	}
	if firstLine(body) != marker {
		body = marker + "\n" + body
	}
	return cut(body), nil
}

// maxText is the most that GitHub takes as a comment or a body, in units of UTF-16.
const maxText = 65_536

// cut keeps the beginning of a text that is too long.
func cut(text string) string {
	if len(text) <= maxText {
		return text // no text has more units than bytes
	}
	units := 0
	for i, r := range text {
		units += max(utf16.RuneLen(r), 1)
		if units > maxText {
			return text[:i]
		}
	}
	return text
}
