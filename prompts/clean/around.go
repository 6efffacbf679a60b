package clean

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// part is a part of a text, which is code that people see or is not.
type part struct {
	text     string
	code     bool
	language string // of code between fences
}

// cleanAround cleans a text but for its code, of which only what cannot be seen
// goes. What was removed may make code of what was none, and the other way
// round: only what is code before and after that is left alone.
func cleanAround(text string, code []stretch, r *recorder) string {
	parts := split(text, code)
	for i, p := range parts {
		parts[i].text = cleanRunes(p.text, r)
	}
	cleanDrawings(parts, r)
	for range maxRounds {
		before := whole(parts)
		keepCode(parts, seenCode(before))
		rest, ok := cleanParts(parts, r)
		if !ok {
			break
		}
		if parts = rest; whole(parts) == before {
			return before
		}
	}
	return removeHidden(whole(parts), r, false) // it was made not to come to an end
}

// cleanDrawings removes what is not seen of diagrams and formulas. The lines of
// one are parts with its language, and between two there is no fence.
func cleanDrawings(parts []part, r *recorder) {
	for i := 0; i < len(parts); i++ {
		if parts[i].language == "" {
			continue
		}
		first, language := i, parts[i].language
		var lines []string
		for ; i < len(parts) && (parts[i].language == language || !parts[i].code && !strings.ContainsAny(parts[i].text, "`~")); i++ {
			if parts[i].code {
				lines = append(lines, parts[i].text)
			}
		}
		cleanDrawing(language, lines, r)
		for n := first; n < i; n++ {
			if parts[n].code {
				parts[n].text, lines = lines[0], lines[1:]
			}
		}
	}
}

// split cuts a text at the ends of its code.
func split(text string, code []stretch) []part {
	var parts []part
	at := 0
	for _, c := range code {
		if c.from < at || c.to == c.from {
			continue
		}
		parts = append(parts, part{text: text[at:c.from]}, part{text[c.from:c.to], true, c.language})
		at = c.to
	}
	return append(parts, part{text: text[at:]})
}

func whole(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.text)
	}
	return b.String()
}

// keepCode has only those parts be code that lie in code of the whole text.
func keepCode(parts []part, code []stretch) {
	at := 0
	for i, p := range parts {
		end := at + len(p.text)
		n, exact := slices.BinarySearchFunc(code, at, func(c stretch, at int) int { return c.from - at })
		if !exact {
			n--
		}
		parts[i].code = p.code && n >= 0 && code[n].from <= at && end <= code[n].to
		at = end
	}
}

// cleanParts cleans what is not code, with numbers in the place of what is. A
// part of code goes with what it lies in.
func cleanParts(parts []part, r *recorder) ([]part, bool) {
	var b strings.Builder
	for i, p := range parts {
		if p.code {
			fmt.Fprintf(&b, "%c%d%c", stand, i, stand)
		} else {
			b.WriteString(p.text)
		}
	}
	pieces := strings.Split(removeHidden(b.String(), r, false), string(stand))
	if len(pieces)%2 == 0 {
		return nil, false // something was cut in the middle of a number
	}
	var out []part
	for i, piece := range pieces {
		if i%2 == 0 {
			out = append(out, part{text: piece})
			continue
		}
		n, err := strconv.Atoi(piece)
		if err != nil || n < 0 || n >= len(parts) {
			return nil, false
		}
		out = append(out, parts[n])
	}
	return out, true
}
