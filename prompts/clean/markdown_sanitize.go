package clean

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
)

// Sanitize makes Markdown that an agent wrote harmless, of at most limit characters or with a note at its end.
// Mentions and references become code, HTML and mathematics text; images stay if their address begins with
// one of images. No line is a command, and blocks of code end where they should.
func Sanitize(body string, images []string, limit int, note string) string {
	body, _ = Quoted(body)
	body = plainLetters.Replace(body)
	t := sanitizer{images: images}
	var b strings.Builder
	limit -= Units(note) + len("\n\n")
	fence, blank := "", true
	for _, l := range t.blocks(strings.Split(body, "\n"), 0) {
		if l.text == "" && blank && l.fence == "" {
			continue // one blank line does
		}
		blank = l.text == ""
		if Units(l.text)+Units(l.fence)+2 > limit {
			return text.Join("\n\n", strings.TrimRight(b.String()+fence, "\n"), note)
		}
		limit -= Units(l.text) + 1
		b.WriteString(l.text + "\n")
		fence = l.fence
	}
	return strings.TrimRight(b.String(), "\n")
}

// sanitized is a line of a sanitized text. Fence is what has to end the text if it is
// cut behind this line; empty outside a block of code.
type sanitized struct{ text, fence string }

// sanitizer makes Markdown harmless; images may begin with its addresses.
type sanitizer struct{ images []string }

var (
	quoteMark = text.Pattern(`^ {0,3}> ?`)
	// A fence may stand right behind the marks of lists, which are dropped.
	fenceMark = text.Pattern("^([ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})(.*)$")
	infoWord  = text.Pattern(`^[A-Za-z0-9_+#.-]+`)
	// A table has a line of these only. So may other blocks: then nothing is lost.
	tableRule = text.Pattern(`^[ \t>|:*+0-9.)-]*-[ \t|:-]*$`)
)

// maxQuotes is how deep quotes may be nested. Deeper ones become text.
const maxQuotes = 8

// blocks sanitizes lines. Quotes and blocks of code are put together again; the latter come to the left
// edge, where no list can end them.
func (t sanitizer) blocks(lines []string, depth int) (out []sanitized) {
	for len(lines) > 0 {
		n := 1
		switch m := fenceMark().FindStringSubmatch(lines[0]); {
		case depth < maxQuotes && quoteMark().MatchString(lines[0]):
			n = countWhile(lines, quoteMark().MatchString)
			for _, l := range t.blocks(unquoted(lines[:n]), depth+1) {
				l.text = strings.TrimRight("> "+l.text, " ")
				if l.fence != "" {
					l.fence = "> " + l.fence
				}
				out = append(out, l)
			}
		case m != nil && (m[2][0] == '~' || !strings.Contains(m[3], "`")):
			var code []sanitized
			code, n = codeBlock(m, lines)
			out = append(append(append(out, sanitized{}), code...), sanitized{})
		default:
			n = max(countWhile(lines, t.isText), 1)
			table := slices.ContainsFunc(lines[:n], tableRule().MatchString)
			for _, l := range lines[:n] {
				out = append(out, sanitized{text: t.line(l, table)})
			}
		}
		lines = lines[n:]
	}
	return out
}

// isText reports whether a line goes on with a paragraph, a list or a table.
func (t sanitizer) isText(line string) bool {
	return strings.TrimSpace(line) != "" && !quoteMark().MatchString(line) && !fenceMark().MatchString(line)
}

// countWhile counts the lines at the beginning for which keep is true.
func countWhile(lines []string, keep func(string) bool) int {
	for i, l := range lines {
		if !keep(l) {
			return i
		}
	}
	return len(lines)
}

func unquoted(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = quoteMark().ReplaceAllString(l, "")
	}
	return out
}

// codeBlock gives the block of code that begins with the first line, between fences that its content cannot
// end, and how many lines it takes.
func codeBlock(mark, lines []string) (block []sanitized, n int) {
	indent := len(mark[1])
	var content []string
	for n = 1; n < len(lines); n++ {
		line := lines[n]
		if end := strings.TrimSpace(line); len(end) >= len(mark[2]) && strings.Trim(end, mark[2][:1]) == "" {
			n++
			break
		}
		margin := len(line) - len(strings.TrimLeft(line, " \t"))
		content = append(content, line[min(margin, indent):])
	}
	text := EscapeCommands(strings.ReplaceAll(strings.Join(content, "\n"), "<!--", "<! --"))
	if strings.Contains(text, strings.Repeat("`", 30)) {
		text = strings.ReplaceAll(text, "`", "'") // no fence should be as long as that
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	block = []sanitized{{fence + infoWord().FindString(strings.TrimSpace(mark[3])), fence}}
	if len(content) > 0 {
		for line := range strings.SplitSeq(text, "\n") {
			block = append(block, sanitized{line, fence})
		}
	}
	return append(block, sanitized{text: fence}), n
}
