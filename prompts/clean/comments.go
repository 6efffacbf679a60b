package clean

import (
	"bytes"
	"strings"
)

// cleanComments removes HTML comments, also those that only come about by the
// removal of another one, in one pass: what is kept is looked at again at
// each seam.
func cleanComments(text string, r *recorder) string {
	if !strings.Contains(text, "<!--") {
		return text
	}
	out := make([]byte, 0, len(text))
	open := -1        // where the comment that is open begins in out
	html := len(text) // where the first line begins in out that a comment has begun
	for i := 0; i < len(text); i++ {
		out = append(out, text[i])
		switch {
		case open < 0 && text[i] == '-' && bytes.HasSuffix(out, []byte("<!--")):
			open = len(out) - len("<!--")
		case open >= 0 && text[i] == '>' && closes(out[open:]):
			r.add(HTMLComment, head(out[open:]))
			if html == len(text) && beginsLine(out[:open]) {
				html = open
			}
			out, open = out[:open], -1
		}
	}
	if open >= 0 {
		out = cutOpenComment(out, open, html, r)
	}
	return string(out)
}

// beginsLine reports whether a text ends with the beginning of a line, up to
// the marks of lists and quotes. Of a long line that is not asked.
func beginsLine(text []byte) bool {
	end := text[max(0, len(text)-mostMargin):]
	at := bytes.LastIndexByte(end, '\n')
	return (at >= 0 || len(end) == len(text)) && inner(string(end[at+1:])) == ""
}

// mostMargin is how long marks of lists and quotes may be to be looked for.
const mostMargin = 100

// closes reports whether a comment ends with the last byte of it; <!--> and
// <!---> are whole comments to a browser.
func closes(comment []byte) bool {
	return len(comment) >= len("<!-->") && bytes.HasSuffix(comment, []byte("-->")) ||
		len(comment) >= len("<!----!>") && bytes.HasSuffix(comment, []byte("--!>"))
}

// cutOpenComment removes a comment that nothing closes, with all the text
// after it. In a paragraph such a mark is ordinary text that people see, and
// it stays; after a line that begins with markup, as one at html did, it hides
// the rest.
func cutOpenComment(out []byte, open, html int, r *recorder) []byte {
	from := max(open, min(html, firstMarkupLine(out)))
	at := bytes.Index(out[from:], []byte("<!--"))
	if at < 0 {
		return out
	}
	r.add(HTMLComment, head(out[from+at:]))
	return out[:from+at]
}

// firstMarkupLine returns where the first line begins whose text, after the
// marks of lists and quotes, begins with "<"; len(text) if there is none.
func firstMarkupLine(text []byte) int {
	for start := 0; start < len(text); {
		end := len(text)
		if n := bytes.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n + 1
		}
		if line := bytes.TrimLeft(text[start:end], " \t>*+-.)0123456789"); len(line) > 0 && line[0] == '<' {
			return start
		}
		start = end
	}
	return len(text)
}
