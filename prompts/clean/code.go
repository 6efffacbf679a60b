package clean

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// stretch is a part of a text, from a byte to before another. Code between
// fences has a language.
type stretch struct {
	from, to int
	language string
}

// The limits within which readers of Markdown agree. GitHub's has some that
// CommonMark does not, and time has to stay in proportion to the text.
const (
	mostRead  = 1 << 17 // bytes; a GitHub issue has at most 65,536 characters
	mostMarks = 16      // backticks or tildes of a fence, and containers in a line
)

// seenCode finds the code in a text of which it is certain that GitHub shows it
// as code: the insides of inline code and the lines of blocks, in their order.
// A text is made by somebody who may want it to be taken for code here and for
// HTML there. So where another reader could see it otherwise, it is none.
func seenCode(src string) []stretch {
	if len(src) > mostRead || !strings.ContainsAny(src, "`~") && !strings.Contains(src, "    ") && !strings.Contains(src, "\t") || odd(src) {
		return nil
	}
	s := codeSeeker{src: src, kind: make([]lineKind, strings.Count(src, "\n")+1)}
	s.starts = append(s.starts, 0)
	for i := range len(src) {
		if src[i] == '\n' {
			s.starts = append(s.starts, i+1)
		}
	}
	doc := blockParser().Parse(text.NewReader([]byte(src)))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the visits fail nowhere
		if entering && n.Type() == ast.TypeBlock {
			s.block(n)
		}
		return ast.WalkContinue, nil
	})
	return s.read()
}

// blockParser reads the blocks of a text, and nothing within them.
func blockParser() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
}

var (
	deepLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(?:[ \t]*(?:[>*+-]|[0-9]{1,9}[.)])){16}`) })
	tabbed   = regexp.MustCompile(`(?m)[\x60~]{3}[ \t]*\t[ \t]*$`)
	footnote = regexp.MustCompile(`(?m)^[ \t>*+\-.)0-9]*\[\^[^\]\n]*\]:`)
)

// odd reports whether a text has what readers of Markdown treat otherwise:
// control characters, containers in containers without end, fences with a tab
// behind them, and footnotes.
func odd(src string) bool {
	control := strings.ContainsFunc(src, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f })
	return control || deepLine().MatchString(src) || tabbed.MatchString(src) || footnote.MatchString(src)
}

// lineKind is what a line belongs to.
type lineKind struct {
	code  bool // of a block, at least as this reader sees it
	held  bool // for every reader
	fence bool // between fences: who sees none here sees one where this ends
	lines stretch
}

// codeSeeker finds the code of one text.
type codeSeeker struct {
	src    string
	starts []int // of the lines
	kind   []lineKind
	texts  [][]stretch // the lines of each paragraph and heading
	found  []stretch
}

// line gives the number of the line that a byte is in.
func (s *codeSeeker) line(at int) int {
	n, exact := slices.BinarySearch(s.starts, at)
	if exact {
		return n
	}
	return n - 1
}

// text gives a line without its end.
func (s *codeSeeker) text(n int) string {
	end := len(s.src)
	if n+1 < len(s.starts) {
		end = s.starts[n+1] - 1
	}
	return s.src[s.starts[n]:end]
}

// block notes a block of code, or text that may have inline code.
func (s *codeSeeker) block(n ast.Node) {
	var lines []stretch
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		end := seg.Stop
		if end > seg.Start && s.src[end-1] == '\n' {
			end--
		}
		lines = append(lines, stretch{from: seg.Start, to: end})
	}
	if len(lines) == 0 {
		return
	}
	switch n.Kind() {
	case ast.KindFencedCodeBlock:
		for i := range lines {
			lines[i].language = strings.ToLower(string(n.(*ast.FencedCodeBlock).Language([]byte(s.src))))
		}
		s.addBlock(lines, s.fenceHolds(n, lines), true)
	case ast.KindCodeBlock:
		s.addBlock(lines, s.indentHolds(n, lines), false)
	case ast.KindParagraph, ast.KindTextBlock, ast.KindHeading:
		s.texts = append(s.texts, lines)
	}
}

func (s *codeSeeker) addBlock(lines []stretch, held, fence bool) {
	for _, l := range lines {
		s.kind[s.line(l.from)] = lineKind{true, held, fence, l}
	}
}

// fenceHolds reports whether a block between fences is one for every reader.
func (s *codeSeeker) fenceHolds(n ast.Node, lines []stretch) bool {
	first, last := s.line(lines[0].from), s.line(lines[len(lines)-1].from)
	if first == 0 {
		return false
	}
	mark := FenceOf(inner(s.text(first - 1)))
	top := n.Parent().Kind() == ast.KindDocument
	closed := last+1 < len(s.starts) && closesFence(inner(s.text(last+1)), mark)
	if mark == "" || len(mark) > mostMarks || !closed && (!top || strings.Trim(s.src[lines[len(lines)-1].to:], " \n") != "") {
		return false
	}
	before := margin(s.text(first - 1))
	if top {
		return before == "" // else a list that others see going on may have it
	}
	for i := first; i <= last+1; i++ {
		if !follows(s.text(i), before) {
			return false
		}
	}
	return !strings.Contains(before, "\t") // how far a tab goes in a list is read in more ways than one
}

// follows reports whether a line lies in the same lists and quotes as one with
// that margin.
func follows(line, margin string) bool {
	if blank(line) && !strings.Contains(margin, ">") {
		return true
	}
	return Follows(line, margin)
}

// closesFence reports whether a line ends a block that began with a fence.
func closesFence(line, fence string) bool {
	line = strings.TrimRight(line, " \t")
	return strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == ""
}

// indentHolds reports whether an indented block is one for every reader: at the
// top, after a blank line and a paragraph at the margin, which ends all lists.
func (s *codeSeeker) indentHolds(n ast.Node, lines []stretch) bool {
	i := s.line(lines[0].from) - 1
	if n.Parent().Kind() != ast.KindDocument || i >= 0 && !blank(s.text(i)) {
		return false
	}
	for i >= 0 && blank(s.text(i)) {
		i--
	}
	for ; i >= 0 && !blank(s.text(i)); i-- {
		if margin(s.text(i)) != "" {
			return false
		}
	}
	return true
}

// hides matches the beginning of an element whose content browsers or GitHub
// do not show, wherever in a line it stands. Nothing behind it is certain.
var hides = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)<(?:script|style|textarea|title|xmp|iframe|noembed|noframes|noscript|plaintext|template|svg|math|select|object|video|audio|canvas)\b`)
})

// complete matches what is complete in HTML: comments and tags.
var complete = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<!--.*?-->|</?[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][\w:.-]*(?:\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'=<>\x60]+))?)*\s*/?>`)
})

// read goes through the text line by line and keeps what is certain: what lies
// in HTML, or may lie in it, is not. Where readers may differ about a block, they
// may differ about all that follows.
func (s *codeSeeker) read() []stretch {
	var open []func(line string) bool // the ends of the HTML that lines before began: a list or quote may have ended it sooner
	sound := make([]bool, len(s.starts))
	begun := 0 // the line with which HTML began
	for i := range s.starts {
		line, kind := s.text(i), s.kind[i]
		if kind.code && kind.held && len(open) == 0 {
			s.found = append(s.found, kind.lines)
			continue
		}
		if s.doubtful(line, kind, len(open) > 0) {
			break
		}
		if end := htmlEnd(inner(line)); end != nil {
			if len(open) == 0 {
				begun = i
			}
			open = append(open, end)
		}
		if len(open) > mostMarks {
			break
		}
		sound[i] = len(open) == 0
		open = slices.DeleteFunc(open, func(end func(string) bool) bool { return end(line) })
		if !sound[i] && len(open) == 0 && s.takesMore(begun, i) {
			break
		}
	}
	for _, lines := range s.texts {
		s.inline(lines, sound)
	}
	slices.SortFunc(s.found, func(a, b stretch) int { return a.from - b.from })
	return s.found
}

// doubtful reports whether readers may differ about a line, and with it about
// what follows. In says that it lies in HTML.
func (s *codeSeeker) doubtful(line string, kind lineKind, in bool) bool {
	return kind.code && (in || kind.fence || strings.ContainsAny(line, "`~<")) || hides().MatchString(line) || strings.Contains(margin(line), "\t")
}

// takesMore reports whether HTML in some lines may take in what follows: it is
// not complete, or a list or quote that it lies in may end before it does.
func (s *codeSeeker) takesMore(first, last int) bool {
	html := s.src[s.starts[first] : s.starts[last]+len(s.text(last))]
	return strings.Contains(complete().ReplaceAllString(html, ""), "<") || first < last && margin(s.text(first)) != ""
}

// htmlEnd says how a block of HTML ends that a line begins; nil if it begins
// none. The line itself may end it.
func htmlEnd(line string) func(line string) bool {
	has := func(marks ...string) func(string) bool {
		return func(line string) bool {
			line = strings.ToLower(line)
			return slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(line, m) })
		}
	}
	lower := strings.ToLower(line[:min(len(line), 12)])
	switch {
	case strings.HasPrefix(lower, "<!--"):
		return has("-->")
	case strings.HasPrefix(lower, "<![cdata["):
		return has("]]>")
	case strings.HasPrefix(lower, "<!"):
		return has(">")
	case strings.HasPrefix(lower, "<?"):
		return has("?>")
	case strings.HasPrefix(lower, "<pre"):
		return has("</pre>")
	case strings.HasPrefix(lower, "<"):
		return blank
	}
	return nil
}

// inline finds inline code in the lines of a paragraph or heading. It has to lie
// in one line, and nothing before it in the paragraph may be read as anything
// else that takes in its first mark.
func (s *codeSeeker) inline(lines []stretch, sound []bool) {
	for _, l := range lines {
		if !sound[s.line(l.from)] {
			return
		}
		row := s.src[l.from:l.to]
		for i := 0; i < len(row); {
			switch c := row[i]; {
			case c == '\\':
				i += 2
				continue
			case c == '<' || c == '$' || takesIn(row[i:]):
				return
			case c != '`':
				i++
				continue
			}
			n := i + ticks(row[i:])
			length := closing(row[n:], n-i)
			word := row[strings.LastIndexAny(row[:i], " \t")+1 : i]
			if length < 0 || n-i > mostMarks || strings.ContainsAny(word, ":@.") {
				return // others may look for the end in other lines, or take the mark for a part of an address
			}
			if len(lines) > 1 && strings.Contains(row[n:n+length], "|") {
				return // it would end a cell of a table
			}
			s.found = append(s.found, stretch{from: l.from + n, to: l.from + n + length})
			i = n + length + n - i
		}
	}
}

// takesIn reports whether a text begins with a part of a link, an image or a
// definition that may have a backtick in it.
func takesIn(text string) bool {
	for _, mark := range []string{"![", "]:", "][", "[^"} {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	target, ok := strings.CutPrefix(text, "](")
	if !ok {
		return false
	}
	target, _, _ = strings.Cut(target, "`")
	dest, _, closed := strings.Cut(target, ")")
	return !closed || strings.ContainsAny(dest, `"'\(`)
}

// ticks counts the backticks that a text begins with.
func ticks(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }

// closing gives where the next run of exactly n backticks begins, or -1.
func closing(text string, n int) int {
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '`')
		if next < 0 {
			return -1
		}
		at += next
		run := ticks(text[at:])
		if run == n {
			return at
		}
		at += run
	}
}
