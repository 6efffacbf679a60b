package clean

import "strings"

// target is where a link leads, with its title.
type target struct {
	dest   string
	hidden string // the title, and a destination that is rather a sentence
	end    int    // bytes read
	vain   int    // bytes looked at beyond end
	ok     bool
}

// linkTarget reads what follows the ( of a link, up to and with its ). If
// crude, it only looks for the ).
func linkTarget(text string, crude bool) target {
	if crude {
		inside, _, ok := strings.Cut(text, ")")
		if !ok {
			return target{}
		}
		return crudeTarget(inside, len(inside)+1)
	}
	var t target
	if t.dest, t.end, t.ok = destination(text, indent(text, 0)); !t.ok {
		return t
	}
	closed := t.readTitle(text)
	t.end = indent(text, t.end)
	if t.ok = closed && t.end < len(text) && text[t.end] == ')'; t.ok {
		t.end++
	}
	return t.sentence()
}

// definitionTarget reads what follows the : of a link definition, up to the
// end of its line. If crude, it takes the line for one.
func definitionTarget(text string, crude bool) target {
	if crude {
		line, _, _ := strings.Cut(text, "\n")
		return crudeTarget(line, len(line))
	}
	var t target
	if t.dest, t.end, t.ok = destination(text, indent(text, 0)); !t.ok || t.dest == "" {
		return target{end: t.end}
	}
	bare := t
	if t.ok = t.readTitle(text) && lineEnds(text, t.end); t.ok {
		return t.sentence()
	}
	// A title that is none leaves a definition without one, if its line ends
	// there.
	if bare.vain = t.end - bare.end; lineEnds(text, bare.end) {
		return bare.sentence()
	}
	return target{end: t.end}
}

func lineEnds(text string, at int) bool {
	rest := strings.TrimLeft(text[at:min(len(text), at+1000)], " \t")
	return rest == "" || rest[0] == '\n'
}

func crudeTarget(inside string, end int) target {
	inside = strings.TrimLeft(inside, space)
	t := target{dest: inside, end: end, ok: true}
	if n := strings.IndexAny(inside, space); n >= 0 {
		t.dest, t.hidden = inside[:n], inside[n:]
	}
	return t.sentence()
}

// sentence treats a destination that is none as hidden text: a long one with
// spaces, which only <...> allows, and one with markup inside.
func (t target) sentence() target {
	angle := strings.HasPrefix(t.dest, "<")
	if angle && long(t.dest) && strings.Contains(t.dest, " ") || !angle && strings.Contains(t.dest, "<") {
		t.dest, t.hidden = "#", t.dest+t.hidden
	}
	return t
}

// destination reads a destination at from, if there is one. The end is how
// far it looked.
func destination(text string, from int) (dest string, end int, ok bool) {
	if strings.HasPrefix(text[from:], "<") {
		n := strings.IndexAny(text[from+1:], "<>\n")
		if n < 0 {
			return "", len(text), false
		}
		end = from + 1 + n + 1
		return text[from:end], end, text[end-1] == '>'
	}
	depth := 0
	for end = from; end < len(text); end++ {
		switch c := text[end]; {
		case c == '\\' && end+1 < len(text) && text[end+1] > ' ':
			end++
		case c <= ' ':
			return text[from:end], end, true
		case c == '(':
			if depth++; depth > 32 {
				return "", end, false
			}
		case c == ')':
			if depth--; depth < 0 {
				return text[from:end], end, true
			}
		}
	}
	return text[from:], len(text), true
}

// readTitle reads a title, if one follows the space at t.end. It returns
// false for one that does not end.
func (t *target) readTitle(text string) bool {
	at := indent(text, t.end)
	if at == t.end || at == len(text) {
		return true
	}
	closer := map[byte]byte{'"': '"', '\'': '\'', '(': ')'}[text[at]]
	if closer == 0 {
		return true
	}
	for i := at + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '\n' && i+1 < len(text) && text[i+1] == '\n':
			t.end = i // no title goes beyond its paragraph
			return false
		case text[i] == closer:
			t.hidden, t.end = text[at+1:i], i+1
			return true
		}
	}
	t.end = len(text)
	return false
}
