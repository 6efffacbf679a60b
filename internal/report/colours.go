package report

import (
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/syntax"
)

// What colours in diffs may take. They have room of their own, so that no line of a diff
// is left out for them. The time is a limit for texts that are made to be slow to read;
// what the others have is the same on every machine.
const (
	leastOfColours = 32 << 10  // bytes of HTML, besides what other long texts leave
	mostOfColours  = 384 << 10 // bytes of HTML
	mostColoured   = 128 << 10 // bytes of text that are read for them
	longestRead    = 2 * time.Second
)

// leastMark is what the colour of one word takes.
const leastMark = len(`<i class="kw"></i>`)

// colours are what is left of that.
type colours struct {
	html, text int
	reader     *syntax.Reader
}

func newColours(left int) *colours {
	return &colours{min(mostOfColours, leastOfColours+left), mostColoured, syntax.NewReader(longestRead)}
}

// in gives the lines of a diff their colours, one hunk after the other: what stands
// between two is not known.
func (c *colours) in(d *diff) {
	from := 0
	for to := range d.lines {
		if !inHunk(d.lines[to]) {
			c.hunk(d, d.lines[from:to])
			from = to + 1
		}
	}
	c.hunk(d, d.lines[from:])
}

func inHunk(l diffLine) bool { return l.kind == "add" || l.kind == "del" || l.kind == "same" }

// hunk reads both sides of a hunk as texts of their own: what was begun in a line that is
// gone does not go on in one that is new.
func (c *colours) hunk(d *diff, lines []diffLine) {
	words := make([][]syntax.Word, len(lines))
	c.side(lines, words, "del")
	c.side(lines, words, "add")
	for i, l := range lines {
		b := &d.Blocks[l.block]
		cost := 0
		for _, w := range words[i] {
			if w.Kind != syntax.Plain {
				cost += leastMark
			}
		}
		if cost == 0 || cost > c.html {
			b.Words = append(b.Words, syntax.Word{Text: l.text})
			continue
		}
		c.html -= cost
		b.Words = append(append(b.Words, syntax.Word{Text: l.text[:1]}), words[i]...)
	}
}

// side reads the lines of a kind with what stands on both sides. A line such as
// "\ No newline at end of file" is of neither.
func (c *colours) side(lines []diffLine, words [][]syntax.Word, kind string) {
	var text strings.Builder
	var at []int
	own := false
	for i, l := range lines {
		if (l.kind == kind || l.kind == "same") && strings.ContainsAny(l.text[:1], " +-") {
			text.WriteString(l.text[1:])
			at, own = append(at, i), own || l.kind == kind
		}
	}
	if !own || text.Len() > c.text || c.html < leastMark {
		return
	}
	c.text -= text.Len()
	read := c.reader.Lines(lines[0].path, text.String())
	if len(read) != len(at) {
		return
	}
	for n, i := range at {
		words[i] = read[n]
	}
}

// pathIn gives the path that a line before a hunk names, or the one so far: of a file
// that is gone the old one.
func pathIn(l, path string) string {
	if strings.HasPrefix(l, "diff --git ") {
		return ""
	}
	for _, prefix := range []string{"--- a/", "+++ b/", `--- "a/`, `+++ "b/`} {
		if named, is := strings.CutPrefix(l, prefix); is {
			return strings.Trim(named, "\"\t\r\n")
		}
	}
	return path
}
