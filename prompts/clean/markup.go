package clean

import (
	"strings"
)

// cleanMarkup removes text that Markdown and HTML keep from the reader: titles,
// long alternative texts and attributes, definitions that are comments in
// disguise, declarations. If fenced, fenced code blocks are shown as they are, and
// stay.
func cleanMarkup(text string, r *recorder, fenced bool) string {
	m := &markup{
		text: text, r: r, fenced: fenced, out: make([]byte, 0, len(text)),
		lastTag: strings.LastIndexByte(text, '>'), lastLink: strings.LastIndexByte(text, ')'),
	}
	for m.i < len(text) {
		if m.i == 0 || text[m.i-1] == '\n' {
			if m.line() {
				continue
			}
		}
		m.char()
	}
	return string(m.out)
}

// markup is a text on the way through cleanMarkup.
type markup struct {
	text string
	i    int // the next byte to read
	out  []byte
	r    *recorder

	fenced bool // blocks between fences are copied

	brackets []bracket
	html     bool // in a block of HTML, which a blank line ends
	raw      bool // after HTML that a blank line does not end
	work     int  // bytes that searches looked at

	inner             int // where the text of the line begins, after marks of lists and quotes
	lastTag, lastLink int // beyond these no tag and no link ends
}

// bracket is a [ that waits for its ].
type bracket struct {
	at    int // in out
	image bool
}

// line looks at the beginning of a line, and reports whether it dealt with
// some of the text.
func (m *markup) line() bool {
	end := m.lineEnd()
	line := m.text[m.i:end]
	if strings.TrimSpace(line) == "" {
		m.html, m.brackets = false, nil
		return false
	}
	if m.fenced && !m.html && !m.raw {
		if fence := FenceOf(line); fence != "" {
			m.code(fence, end)
			return true
		}
	}
	inner := strings.TrimLeft(line, " \t>*+-.)0123456789")
	m.inner = m.i + len(line) - len(inner)
	if strings.HasPrefix(inner, "<") {
		m.html = true
		m.raw = m.raw || endless(inner)
	}
	if strings.HasPrefix(inner, "[") && !strings.HasPrefix(inner, "[^") {
		return m.definition(m.inner)
	}
	return false
}

// lineEnd returns where the line at m.i ends, without its newline.
func (m *markup) lineEnd() int {
	if n := strings.IndexByte(m.text[m.i:], '\n'); n >= 0 {
		return m.i + n
	}
	return len(m.text)
}

// endless reports whether a line begins HTML that goes on after blank lines.
func endless(line string) bool {
	line = strings.ToLower(line[:min(len(line), 12)])
	for _, start := range []string{"<pre", "<script", "<style", "<textarea", "<?", "<!"} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

// code copies a code block, whose first line ends at end.
func (m *markup) code(fence string, end int) {
	for {
		m.copy(min(end+1, len(m.text)) - m.i)
		if m.i == len(m.text) {
			return
		}
		end = m.lineEnd()
		line := strings.TrimSpace(m.text[m.i:end])
		if strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == "" {
			m.copy(min(end+1, len(m.text)) - m.i)
			return
		}
	}
}

// char deals with one character outside of code blocks.
func (m *markup) char() {
	switch c := m.text[m.i]; {
	case c == '\\' && m.i+1 < len(m.text) && m.text[m.i+1] != '\n':
		m.copy(2)
	case c == '[':
		image := len(m.out) > 0 && m.out[len(m.out)-1] == '!'
		m.brackets = append(m.brackets, bracket{len(m.out), image})
		m.copy(1)
	case c == ']' && len(m.brackets) > 0:
		m.closeBracket()
	case c == '<' && m.tag():
	default:
		m.copy(1)
	}
}

// closeBracket ends a link or image and deals with what follows it in (...).
func (m *markup) closeBracket() {
	open := m.brackets[len(m.brackets)-1]
	m.brackets = m.brackets[:len(m.brackets)-1]
	rest := m.text[m.i+1:]
	target := strings.HasPrefix(rest, "(")
	if open.image && (target || strings.HasPrefix(rest, "[")) {
		if alt := m.out[open.at+1:]; long(head(alt)) {
			m.r.add(HiddenText, head(alt))
			m.out = m.out[:open.at+1]
		}
	}
	m.copy(1)
	if !target || m.i > m.lastLink {
		return
	}
	crude := m.exhausted()
	l := linkTarget(rest[1:], crude)
	switch {
	case !m.found(l.ok, l.end+l.vain):
	case l.hidden != "":
		m.r.add(HiddenText, l.hidden)
		m.out = append(m.out, "("+l.dest+")"...)
		m.i += 1 + l.end
	case crude:
		m.copy(1 + l.end) // not to be looked at once more
	}
}

// definition deals with a link definition whose [ is at the given place in
// its line, and reports whether it took something out.
func (m *markup) definition(at int) bool {
	label, ok := labelOf(m.text[at+1:])
	if !ok {
		return false
	}
	from := at + 1 + len(label) + len("]:")
	l := definitionTarget(m.text[from:], m.exhausted())
	// The idiom [//]: # (...) is a comment whatever its length.
	comment := l.hidden != "" && (l.dest == "#" || l.dest == "<>" || l.dest == "//")
	if !m.found(l.ok, l.end+l.vain) || !comment && !long(label) && l.hidden == "" {
		return false
	}
	m.r.add(HiddenText, strings.TrimSpace(label+" "+l.hidden))
	if long(label) {
		label = "removed"
	}
	m.out = append(m.out, m.text[m.i:at]+"["+label+"]: "+l.dest...)
	m.i = from + l.end
	return true
}

// labelOf returns the label of a link definition, which text continues after
// its [.
func labelOf(text string) (label string, ok bool) {
	text = text[:min(len(text), 1000)] // the most a label may have
	for n := 0; ; n++ {
		next := strings.IndexByte(text[n:], ']')
		if next < 0 {
			return "", false
		}
		if n += next; n > 0 && text[n-1] == '\\' {
			continue
		}
		label = text[:n]
		return label, strings.HasPrefix(text[n:], "]:") && !strings.Contains(label, "[") && !strings.Contains(label, "\n\n")
	}
}

// tag deals with a tag or declaration, and reports whether it took something
// out. Something is left in its place, so that no removal brings the text
// around it together to something new.
func (m *markup) tag() bool {
	var t htmlTag
	if m.i <= m.lastTag {
		t = parseTag(m.text[m.i:], m.exhausted())
	}
	if !m.found(t.ok, t.end) {
		return m.openTag()
	}
	if t.name != "" && !long(t.name) && !long(t.hidden) {
		return false
	}
	m.r.add(HiddenText, head([]byte(t.name+" "+t.hidden)))
	if t.name == "" || long(t.name) {
		m.out = append(m.out, "<…>"...)
	} else {
		m.out = append(m.out, "<"+t.name+t.kept+">"...)
	}
	m.i += t.end
	return true
}

// openTag deals with a tag that does not end: at the beginning of a line it
// hides the rest of its paragraph.
func (m *markup) openTag() bool {
	if m.i != m.inner || !opens(m.text[m.i:]) {
		return false
	}
	text, _, _ := strings.Cut(m.text[m.i:], "\n\n")
	if !long(text) {
		return false
	}
	m.r.add(HiddenText, head([]byte(text)))
	m.out = append(m.out, "<…"...)
	m.i += len(text)
	return true
}

// copy keeps the next n bytes.
func (m *markup) copy(n int) {
	m.out = append(m.out, m.text[m.i:m.i+n]...)
	m.i += n
}

// found counts the work of a search; it returns ok.
func (m *markup) found(ok bool, looked int) bool {
	m.work += looked
	return ok
}

// exhausted reports whether searches went over the same text so often that it
// was made for it. From then on they are crude, and rather take out too much.
func (m *markup) exhausted() bool { return m.work > 4*len(m.text)+4096 }
