package prompts

import "strings"

// target is where a link leads, with its title.
type target struct {
	dest   string
	hidden string // the title, and a destination that is rather a sentence
	end    int    // bytes read
	ok     bool
}

const space = " \t\n"

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
	t := target{end: indent(text, 0)}
	if t.dest, t.end = destination(text, t.end); t.end < 0 {
		return target{}
	}
	t.readTitle(text)
	if t.end = indent(text, t.end); t.end < len(text) && text[t.end] == ')' {
		t.end++
		t.ok = true
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
	t := target{end: indent(text, 0)}
	if t.dest, t.end = destination(text, t.end); t.end < 0 || t.dest == "" {
		return target{}
	}
	bare := t
	t.readTitle(text)
	if t.ok = lineEnds(text, t.end); !t.ok {
		// A title that is none leaves a definition without one, if its
		// line ends there.
		looked := t.end
		if t = bare; lineEnds(text, t.end) {
			t.ok = true
		} else {
			t.end = looked
		}
	}
	return t.sentence()
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
	return t
}

// sentence treats a destination with spaces, which only <...> allows, as
// hidden text if it is long.
func (t target) sentence() target {
	if strings.HasPrefix(t.dest, "<") && strings.Contains(t.dest, " ") && long(t.dest) {
		t.dest, t.hidden = "#", t.dest+t.hidden
	}
	return t
}

// destination reads a destination at from; the end is -1 if there is none.
func destination(text string, from int) (dest string, end int) {
	if strings.HasPrefix(text[from:], "<") {
		n := strings.IndexAny(text[from+1:], "<>\n")
		if n < 0 || text[from+1+n] != '>' {
			return "", -1
		}
		end = from + 1 + n + 1
		return text[from:end], end
	}
	depth := 0
	for end = from; end < len(text); end++ {
		switch c := text[end]; {
		case c == '\\' && end+1 < len(text) && text[end+1] > ' ':
			end++
		case c <= ' ':
			return text[from:end], end
		case c == '(':
			if depth++; depth > 32 {
				return "", -1
			}
		case c == ')':
			if depth--; depth < 0 {
				return text[from:end], end
			}
		}
	}
	return text[from:], len(text)
}

// readTitle reads a title, if one follows the space at t.end.
func (t *target) readTitle(text string) {
	at := indent(text, t.end)
	if at == t.end || at == len(text) {
		return
	}
	closer := map[byte]byte{'"': '"', '\'': '\'', '(': ')'}[text[at]]
	if closer == 0 {
		return
	}
	for i := at + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '\n' && i+1 < len(text) && text[i+1] == '\n':
			t.end = i // no title goes beyond its paragraph
			return
		case text[i] == closer:
			t.hidden, t.end = text[at+1:i], i+1
			return
		}
	}
	t.end = len(text)
}

// indent returns where the space at from ends.
func indent(text string, from int) int {
	for from < len(text) && strings.IndexByte(space, text[from]) >= 0 {
		from++
	}
	return from
}
