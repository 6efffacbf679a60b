package report

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-ci/reprise/internal/syntax"
)

// What colours in diffs may take. They have room of their own, so that no line of a diff
// is left out for them. The time is a limit for texts that are made to be slow to read;
// what the others have is the same on every machine.
const (
	leastOfColours = 32 << 10        // bytes of HTML, besides what other long texts leave
	mostOfColours  = 384 << 10       // bytes of HTML
	mostColoured   = 128 << 10       // bytes of text that are read for them
	readTogether   = 8 << 10         // bytes of text; of what is read and finds no room for colours it is at most about so much
	longestRead    = 2 * time.Second // of each processor
)

// leastMark is what the colour of one word takes.
const leastMark = len(`<i class="kw"></i>`)

// colours are what is left of that.
type colours struct {
	html, text int
	readers    []*syntax.Reader // one for each processor
}

func newColours(left int) *colours {
	c := &colours{html: min(mostOfColours, leastOfColours+left), text: mostColoured}
	for range runtime.GOMAXPROCS(0) {
		c.readers = append(c.readers, syntax.NewReader(longestRead))
	}
	return c
}

// hunk are lines of a diff that stand together, and what its two sides are as texts of their
// own: what was begun in a line that is gone does not go on in one that is new.
type hunk struct {
	of       *diff
	lines    []diffLine
	old, new *side
}

// side is one of them.
type side struct {
	path, text string
	at         []int           // the lines that it has
	words      [][]syntax.Word // of each, once it is read
}

// in gives the lines of diffs their colours, one hunk after the other: what stands
// between two is not known.
func (c *colours) in(diffs []*diff) {
	var some []hunk // which are read together
	before := c.text
	for _, d := range diffs {
		for _, lines := range hunksOf(d.lines) {
			some = append(some, hunk{d, lines, c.side(lines, "del"), c.side(lines, "add")})
			if before-c.text >= readTogether {
				c.paintAll(some)
				some, before = nil, c.text
			}
		}
	}
	c.paintAll(some)
}

func (c *colours) paintAll(hunks []hunk) {
	var sides []*side
	for _, h := range hunks {
		sides = append(sides, h.old, h.new)
	}
	c.readAll(slices.DeleteFunc(sides, func(s *side) bool { return s == nil }))
	for _, h := range hunks {
		c.paint(h)
	}
}

// hunksOf gives the lines of each hunk.
func hunksOf(lines []diffLine) (all [][]diffLine) {
	from := 0
	for to := range lines {
		if !inHunk(lines[to]) {
			all, from = append(all, lines[from:to]), to+1
		}
	}
	return append(all, lines[from:])
}

func inHunk(l diffLine) bool { return l.kind == "add" || l.kind == "del" || l.kind == "same" }

// side takes the lines of a kind with what stands on both sides; it gives nil if none is of
// the kind, they are too many, or there is no room for colours. A line such as "\ No newline at end of file" is of neither.
func (c *colours) side(lines []diffLine, kind string) *side {
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
		return nil
	}
	c.text -= text.Len()
	return &side{path: lines[0].path, text: text.String(), at: at}
}

// readAll finds the words of all sides, on each processor some.
func (c *colours) readAll(sides []*side) {
	var next atomic.Int64
	var reading sync.WaitGroup
	for _, in := range c.readers[:min(len(c.readers), len(sides))] {
		reading.Go(func() {
			for i := next.Add(1); int(i) <= len(sides); i = next.Add(1) {
				s := sides[i-1]
				s.words = in.Lines(s.path, s.text)
			}
		})
	}
	reading.Wait()
}

// paint gives the lines of a hunk their words, as far as there is room for colours.
func (c *colours) paint(h hunk) {
	words := make([][]syntax.Word, len(h.lines))
	for _, s := range []*side{h.old, h.new} {
		if s == nil || len(s.words) != len(s.at) {
			continue
		}
		for n, i := range s.at {
			words[i] = s.words[n]
		}
	}
	for i, l := range h.lines {
		b := &h.of.Blocks[l.block]
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
