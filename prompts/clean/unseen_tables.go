package clean

import (
	"regexp"
	"strings"
	"sync"
)

// tables takes out the cells of rows beyond those of their table's header.
func tables(text string, removed func(string)) string {
	if !strings.Contains(text, "|") {
		return text
	}
	var (
		out strings.Builder
		b   blocks
		t   table
	)
	for line := range strings.Lines(text) {
		body := strings.TrimSuffix(line, "\n")
		keep := len(body)
		if b.skip(body) {
			t = table{}
		} else {
			keep = t.line(body)
		}
		if keep < len(body) {
			removed(body[keep:])
		}
		out.WriteString(body[:keep] + line[len(body):])
	}
	return out.String()
}

// table is what is known of a table, or of the line that may be its header.
type table struct {
	lead    string // before the header
	header  string // "" if the last line can be none
	columns int    // 0 before the delimiter row
	deepest string // the longest marks of lists and quotes since the last blank line
}

// line reads the next line, and says how many of its bytes can be seen.
func (t *table) line(line string) int {
	if blankUnseen(line) {
		*t = table{}
		return len(line)
	}
	if in := Follows(line, t.lead); in && t.columns > 0 && !interrupts(line[len(t.lead):]) {
		return len(t.lead) + seen(line[len(t.lead):], t.columns)
	} else if in && t.header != "" && t.columns == 0 {
		if rest := line[len(t.lead):]; isDelimiter(rest) && cells(rest) == cells(t.header) {
			t.columns = cells(rest)
			return len(line)
		}
	}
	t.start(line)
	return len(line)
}

// start notes a line that may be the header of a table. A line that may belong
// to a paragraph in a list or quote above it is none.
func (t *table) start(line string) {
	marks, lead := leadOf(line)
	rest := line[len(lead):]
	certain := (len(marks) >= len(t.deepest) || Follows(lead, t.deepest)) && !strings.ContainsAny(marks, "0123456789")
	t.lead, t.header, t.columns = lead, "", 0
	if certain && !interrupts(rest) && !strings.Contains(rest, `\\|`) && strings.Trim(rest, " \t|") != "" {
		t.header = rest
	}
	if len(marks) > len(t.deepest) {
		t.deepest = marks
	}
}

var (
	delimiters   = regexp.MustCompile(`^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)
	interrupting = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("^(?: {4}| *\t| {0,3}(?:#{1,6}(?:[ \t]|$)|`{3}|~{3}|>|<|[-+*](?:[ \t]|$)|[0-9]{1,9}[.)](?:[ \t]|$)|\\[\\^|(?:-[ \t]*){3,}$|(?:\\*[ \t]*){3,}$|(?:_[ \t]*){3,}$))")
	})
)

// interrupts reports whether a line begins something else than a row of a table
// or a line of a paragraph.
func interrupts(line string) bool {
	return line != "" && strings.IndexByte(" \t#`~><-+*_[0123456789", line[0]) >= 0 && interrupting().MatchString(line)
}

// isDelimiter reports whether a line is the delimiter row of a table for certain.
func isDelimiter(line string) bool {
	return delimiters.MatchString(line) && strings.Contains(line, "|") && !interrupts(line)
}

// bar gives where the next | that ends a cell stands, or -1.
func bar(row string) int {
	for i := range len(row) {
		if row[i] == '|' && (i == 0 || row[i-1] != '\\') {
			return i
		}
	}
	return -1
}

// cells counts the cells of a row.
func cells(row string) int {
	row = strings.TrimPrefix(strings.Trim(row, " \t"), "|")
	n := 0
	for strings.TrimLeft(row, " \t") != "" {
		n++
		at := bar(row)
		if at < 0 {
			break
		}
		row = row[at+1:]
	}
	return n
}

// seen gives how many bytes of a row belong to its first cells.
func seen(row string, columns int) int {
	at := len(row) - len(strings.TrimLeft(row, " \t"))
	if strings.HasPrefix(row[at:], "|") {
		at++
	}
	for range columns {
		next := bar(row[at:])
		if next < 0 {
			return len(row)
		}
		at += next + 1
	}
	if strings.Trim(row[at:], " \t|") == "" {
		return len(row)
	}
	return at
}
