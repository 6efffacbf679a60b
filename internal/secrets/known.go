package secrets

import "slices"

// known finds the forms of values.
type known struct {
	exact, bare           *needles
	exactNames, bareNames []string // of the secrets that needles are forms of
}

// newKnown prepares to look for secrets.
func newKnown(all []Secret) *known {
	k := &known{}
	var exact, letters []string
	for _, s := range all {
		for _, f := range s.forms() {
			b := string(bare([]byte(f)))
			if len(b) >= minBare && !slices.Contains(letters, b) {
				letters, k.bareNames = append(letters, b), append(k.bareNames, s.Name)
			}
			// Also where the bare form is looked for: it leaves out the signs at
			// both ends.
			if len(f) >= MinLength && !slices.Contains(exact, f) {
				exact, k.exactNames = append(exact, f), append(k.exactNames, s.Name)
			}
		}
	}
	k.exact, k.bare = newNeedles(exact, false), newNeedles(letters, false)
	return k
}

// find gives where forms of values stand.
func (k *known) find(text []byte) []Hit {
	var out []Hit
	k.exact.each(text, func(at, word int) {
		out = append(out, Hit{Start: at, End: at + len(k.exact.words[word]), Name: k.exactNames[word], Known: true})
	})
	if len(k.bare.words) == 0 {
		return out
	}
	for _, written := range [][]byte{text, unescaped(text), undumped(text)} {
		if written == nil {
			continue
		}
		start := cursor{text: written}
		k.bare.each(bare(written), func(at, word int) {
			start.move(at - start.bare)
			end := start
			end.move(len(k.bare.words[word]) - 1)
			out = append(out, Hit{Start: start.at, End: end.at + 1, Name: k.bareNames[word], Known: true})
		})
	}
	return out
}

// bare leaves out of a text all but letters and digits, so that nothing between the pieces of a value hides it.
func bare(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if n := silent(text[i:]); n > 0 {
			i += n - 1
			continue
		}
		out = append(out, text[i])
	}
	return out
}

// silent gives how many bytes at the start of a text are left out.
func silent(text []byte) int {
	switch c := text[0]; {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return 0
	case c == '\\' && len(text) > 1 && (text[1] == 'n' || text[1] == 'r' || text[1] == 't'):
		return 2
	}
	return 1
}

// cursor is a place in a text and in what bare makes of it.
type cursor struct {
	text     []byte
	at, bare int
}

// move goes n letters on, and stands on a letter then: one that there is.
func (c *cursor) move(n int) {
	for c.bare += n; ; n-- {
		for s := silent(c.text[c.at:]); s > 0; s = silent(c.text[c.at:]) {
			c.at += s
		}
		if n == 0 {
			return
		}
		c.at++
	}
}
