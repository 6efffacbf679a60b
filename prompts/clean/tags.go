package clean

import "strings"

// htmlTag is a tag or declaration.
type htmlTag struct {
	name   string // with a leading / if it closes; empty for what is no element
	kept   string // the attributes that say where a link or an image leads
	hidden string // all others
	end    int    // bytes read
	ok     bool
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// parseTag reads the tag or declaration that text, from its <, begins with.
// If crude, a tag is everything up to the next >.
func parseTag(text string, crude bool) htmlTag {
	if len(text) < 3 {
		return htmlTag{}
	}
	first, rest := text[1], text[2:]
	switch {
	case first == '?', first == '!' && strings.ContainsRune(letters+"[", rune(rest[0])):
		return upTo(text, "")
	case first == '/':
		name := nameOf(rest)
		if name == "" {
			return upTo(text, "")
		}
		return upTo(text, "/"+name)
	case strings.IndexByte(letters, first) < 0:
		return htmlTag{}
	}
	name := nameOf(text[1:])
	t := htmlTag{name: name, end: 1 + len(name)}
	if t.end == len(text) || strings.IndexByte(space+"/>", text[t.end]) < 0 {
		return htmlTag{} // an address in <...>, or no markup at all
	}
	if crude {
		return upTo(text, name)
	}
	t.attributes(text)
	return t
}

// opens reports whether text, from its <, begins with what a browser takes
// for a tag or declaration, complete or not.
func opens(text string) bool {
	if len(text) < 2 {
		return false
	}
	if text[1] == '!' {
		return len(text) > 2 && strings.IndexByte(letters+"[", text[2]) >= 0
	}
	if strings.IndexByte("?/", text[1]) >= 0 {
		return true
	}
	name := nameOf(text[1:])
	return name != "" && strings.IndexByte(letters, name[0]) >= 0 &&
		(len(text) == 1+len(name) || strings.IndexByte(space+"/>", text[1+len(name)]) >= 0)
}

// upTo takes everything up to the next > for a tag.
func upTo(text, name string) htmlTag {
	n := strings.IndexByte(text, '>')
	if n < 0 {
		return htmlTag{end: len(text)}
	}
	return htmlTag{name: name, hidden: strings.TrimSpace(text[min(1+len(name), n):n]), end: n + 1, ok: true}
}

func nameOf(text string) string {
	n := 0
	for n < len(text) && strings.IndexByte(letters+"0123456789-", text[n]) >= 0 {
		n++
	}
	return text[:n]
}

// attributes reads attributes up to and with the > of the tag.
func (t *htmlTag) attributes(text string) {
	var kept, hidden strings.Builder
	for t.end < len(text) {
		start := t.end
		switch c := text[start]; {
		case c == '>':
			t.end++
			t.kept, t.hidden, t.ok = kept.String(), strings.TrimSpace(hidden.String()), true
			return
		case c == '<':
			return
		case strings.IndexByte(space+"/", c) >= 0:
			t.end++
			continue
		}
		key, value := t.attribute(text)
		if (strings.EqualFold(key, "href") || strings.EqualFold(key, "src")) && !strings.ContainsAny(value, space) {
			kept.WriteString(" " + text[start:t.end])
		} else {
			hidden.WriteString(" " + text[start:t.end])
		}
	}
}

// attribute reads one attribute at t.end.
func (t *htmlTag) attribute(text string) (key, value string) {
	n := strings.IndexAny(text[t.end+1:], space+"=/><")
	if n < 0 {
		n = len(text) - t.end - 1
	}
	key = text[t.end : t.end+1+n]
	t.end += len(key)
	at := indent(text, t.end)
	if at == len(text) || text[at] != '=' {
		return key, ""
	}
	at = indent(text, at+1)
	if at == len(text) {
		t.end = at
		return key, ""
	}
	if q := text[at]; q == '"' || q == '\'' {
		value, _, closed := strings.Cut(text[at+1:], string(q))
		t.end = at + 1 + len(value)
		if closed {
			t.end++
		}
		return key, value
	}
	n = strings.IndexAny(text[at:], space+"><")
	if n < 0 {
		n = len(text) - at
	}
	t.end = at + n
	return key, text[at : at+n]
}
