package clean

import (
	"slices"
	"strings"
)

// Formula takes out what the lines of a formula hold unseen: what stands in a
// phantom and behind a %. The lines stay as many as they were.
func Formula(lines []string, removed func(part string)) []string {
	return strings.Split(cut(strings.Join(lines, "\n"), true, removed), "\n")
}

// formulas cleans the formulas between dollars.
func formulas(text string, removed func(string)) string {
	if !strings.Contains(text, "$") {
		return text
	}
	var out, paragraph strings.Builder
	flush := func() {
		out.WriteString(dollars(paragraph.String(), removed))
		paragraph.Reset()
	}
	var b blocks
	for line := range strings.Lines(text) {
		if body := strings.TrimSuffix(line, "\n"); b.skip(body) || blankUnseen(body) {
			flush()
			out.WriteString(line)
		} else {
			paragraph.WriteString(line)
		}
	}
	flush()
	return out.String()
}

// dollars cleans the formulas of a paragraph.
func dollars(text string, removed func(string)) string {
	var out strings.Builder
	done, double := 0, true
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\\':
			i += 2
			continue
		case text[i] == '`':
			i += inlineCode(text[i:])
			continue
		case text[i] != '$':
			i++
			continue
		}
		mark := "$"
		if strings.HasPrefix(text[i:], "$$") {
			mark = "$$"
		}
		from := i + len(mark)
		n, ok := -1, false
		if mark == "$" || double {
			n, ok = formula(text[from:], mark)
			double = double && (mark == "$" || n >= 0)
		}
		if !ok || !opensUnseen(text[:i]) || !closesUnseen(text[from+n+len(mark):]) {
			i = from
			continue
		}
		out.WriteString(text[done:from])
		out.WriteString(cut(text[from:from+n], false, removed))
		done = from + n
		i = done + len(mark)
	}
	return out.String() + text[done:]
}

// formula gives the length of the formula that a text begins with up to a mark;
// -1 if there is none. It is one for certain if it keeps to all rules: in one
// line or between two dollars, and without code, or all of it between backticks.
func formula(text, mark string) (n int, ok bool) {
	if mark == "$$" {
		n = strings.Index(text, mark)
		return n, n > 0 && !strings.Contains(text[:n], "`") && wholeUnseen(text[:n])
	}
	for n = 0; n < len(text) && text[n] != '$' && text[n] != '\n'; n++ {
		if text[n] == '\\' && n+1 < len(text) && text[n+1] != '\n' {
			n++
		}
	}
	if n == 0 || n >= len(text) || text[n] != '$' || strings.HasPrefix(text[n:], "$$") {
		return -1, false
	}
	inside := text[:n]
	if strings.HasPrefix(inside, "`") && strings.HasSuffix(inside, "`") && len(inside) > 2 {
		inside = inside[1 : n-1]
	}
	return n, !strings.Contains(inside, "`") && strings.Trim(inside, " \t") == inside
}

// whole reports whether none of the lines behind the first begins something else.
func wholeUnseen(text string) bool {
	_, text, _ = strings.Cut(text, "\n")
	for line := range strings.Lines(text) {
		if interrupts(strings.TrimLeft(strings.TrimSuffix(line, "\n"), " \t>")) {
			return false
		}
	}
	return true
}

// opens reports whether a formula may begin behind a text.
func opensUnseen(before string) bool {
	return before == "" || strings.ContainsRune(" \t\n(", rune(before[len(before)-1]))
}

// closes reports whether a formula may end before a text.
func closesUnseen(after string) bool {
	return after == "" || strings.ContainsRune(" \t\n).,:;?!", rune(after[0]))
}

// shown are the commands that show what they hold as text, with any %.
var shown = []string{"text", "textrm", "textbf", "textit", "textsf", "texttt", "textnormal", "mbox", "hbox", "fbox", "tag"}

// cut takes out of a formula what is not seen. If it keeps lines, their ends stay.
func cut(text string, lines bool, removed func(string)) string {
	if !strings.ContainsAny(text, `%\`) {
		return text
	}
	ends := braces(text)
	var out strings.Builder
	done := 0
	take := func(from, to int) {
		part := text[from:to]
		if strings.Trim(part, " \t\n`") == "" {
			return
		}
		removed(part)
		out.WriteString(text[done:from])
		if lines {
			out.WriteString(strings.Repeat("\n", strings.Count(part, "\n")))
		}
		done = to
	}
	for i := 0; i < len(text); {
		switch text[i] {
		case '\\':
			name := command(text[i+1:])
			i += 1 + max(1, len(name))
			open := i + len(text[min(i, len(text)):]) - len(strings.TrimLeft(text[min(i, len(text)):], " "))
			end, ok := ends[open]
			if !ok {
				continue
			}
			if slices.Contains([]string{"phantom", "hphantom", "vphantom"}, name) {
				take(open+1, end)
				i = end
			} else if slices.Contains(shown, name) {
				i = end
			}
		case '%':
			end := i + 1
			for end < len(text) && text[end] != '\n' && (lines || text[end] != '`') {
				end++
			}
			take(i+1, end)
			i = end
		default:
			i++
		}
	}
	return out.String() + text[done:]
}

// command is the name of the command that a text begins with.
func command(text string) string {
	n := 0
	for n < len(text) && (text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z') {
		n++
	}
	return text[:n]
}

// braces gives the place of the } of each { of a formula that has one.
func braces(text string) map[int]int {
	ends := map[int]int{}
	var open []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			open = append(open, i)
		case '}':
			if len(open) > 0 {
				ends[open[len(open)-1]] = i
				open = open[:len(open)-1]
			}
		}
	}
	return ends
}
