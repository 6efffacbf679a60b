package clean

import (
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	source "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/reprise-ci/reprise/internal/text"
)

// mostRead is how long a text may be to be read as Markdown: GitHub takes 65,536
// characters. In a longer one nothing is code.
const mostRead = 1 << 18

// mostTicks is how many backticks may begin inline code: GitHub has a limit, and its parser another.
const mostTicks = 16

// blockParser reads blocks and inline code as GitHub does. It leaves out links and
// emphasis, for which time would grow faster than the text.
var blockParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(append(parser.DefaultBlockParsers(), util.Prioritized(extension.NewFootnoteBlockParser(), 999))...),
		parser.WithInlineParsers(util.Prioritized(parser.NewCodeSpanParser(), 100)),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)))
})

var (
	// deepLine matches lists and quotes in one another without end, which take the parser long.
	deepLine = text.Pattern(`(?m)^(?:[ \t]*(?:[>*+-]|[0-9]{1,9}[.)])){16}`)
	control  = text.Pattern(`[\x00-\x08\x0b-\x1f\x7f]`)
	// hides matches elements whose content browsers or GitHub do not show.
	hides = text.Pattern(`(?i)<(?:script|style|textarea|title|xmp|iframe|noembed|noframes|noscript|plaintext|template|svg|math|select|object|video|audio|canvas)\b`)
	// complete matches what is complete in HTML: comments and tags.
	complete = text.Pattern(`(?s)<!--.*?-->|</?[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][\w:.-]*(?:\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'=<>\x60]+))?)*\s*/?>`)
	// takesIn matches what before inline code, in its paragraph, may take in its first mark.
	takesIn = text.Pattern("[<$`]|!\\[|\\]:|\\]\\[|\\]\\(|\\S*[:@.]\\S*$")
	// whole matches links and references that take in nothing.
	whole = text.Pattern("\\]\\([^\\s()\"'\\\\`]*\\)|\\[\\^[\\w-]+\\]")
)

// reading is what one reading of a text finds.
type reading struct {
	src   string
	open  []byte // with x for every byte of code
	edits []edit // what GitHub does not show
	notes []note
	lines [][2]int // the first and last byte of paragraphs
	read  int      // inline code has been looked for up to here: in a paragraph that has some that is doubtful, up to its end
	stop  int      // behind this nothing is certain to be code
}

// blocks finds the code of which it is certain that GitHub shows it, and removes what GitHub does not show
// of tables, footnotes, blocks of code, diagrams and formulas. What is doubtful is no code.
func (d *draft) blocks() {
	if len(d.src) > mostRead || deepLine().MatchString(d.src) {
		return
	}
	r := &reading{src: d.src, open: []byte(d.src), stop: len(d.src)}
	if control().MatchString(d.src) { // readers differ about these
		r.stop = 0
	}
	doc, ok := parsed(d.src)
	if !ok {
		return
	}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the visits fail nowhere
		if entering {
			r.visit(n)
		}
		return ast.WalkContinue, nil
	})
	d.open = string(r.open)
	r.footnotes(d.open)
	for _, l := range r.lines {
		r.formulas(d.open, l[0], l[1])
	}
	d.apply(r.edits)
}

// parsed reads a text. A text over which the parser panics is none that it can read.
func parsed(src string) (doc ast.Node, ok bool) {
	defer func() { ok = recover() == nil }()
	return blockParser().Parse(source.NewReader([]byte(src))), true
}

func (r *reading) hide(from, to int) {
	if strings.TrimSpace(r.src[from:to]) != "" {
		r.edits = append(r.edits, edit{from, to, "", hiddenText, r.src[from:to]})
	}
}

// isCode notes that a part of the text is code.
func (r *reading) isCode(from, to int) {
	for i := from; i < to && i < r.stop; i++ {
		if r.open[i] != '\n' {
			r.open[i] = 'x'
		}
	}
}

// span is where the lines of a block begin and end.
func span(n ast.Node) (from, to int) {
	lines := n.Lines()
	if lines.Len() == 0 {
		return 0, 0
	}
	return lines.At(0).Start, lines.At(lines.Len() - 1).Stop
}

func (r *reading) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.HTMLBlock:
		from, to := span(n)
		if n.HasClosure() {
			to = n.ClosureLine.Stop
		}
		r.doubt(from, r.src[from:to])
	case *ast.FencedCodeBlock:
		r.fenced(n)
	case *ast.CodeBlock:
		for i := range n.Lines().Len() {
			r.isCode(n.Lines().At(i).Start, n.Lines().At(i).Stop)
		}
	case *ast.CodeSpan:
		r.inline(n)
	case *extended.TableRow:
		r.row(n)
	case *extended.Footnote:
		r.note(n)
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading, *extended.TableCell:
		if from, to := span(n); to > from {
			r.lines = append(r.lines, [2]int{from, to})
			if m := markupLine.FindStringIndex(r.src[from:to]); m != nil {
				r.doubt(from+m[0], r.src[from+m[0]:to])
			}
		}
	}
}

// doubt looks at HTML: behind one that hides its content, or that is not complete,
// nothing is certain to be code.
func (r *reading) doubt(at int, html string) {
	if hides().MatchString(html) || strings.Contains(complete().ReplaceAllString(html, ""), "<") {
		r.stop = min(r.stop, at)
	}
}

// fenced reads a block between fences.
func (r *reading) fenced(n *ast.FencedCodeBlock) {
	language := ""
	if n.Info != nil {
		seg := n.Info.Segment
		info := r.src[seg.Start:seg.Stop]
		word, more, _ := strings.Cut(info, " ")
		language = strings.ToLower(word)
		if strings.Contains(info, "<") || long(word) {
			r.edits = append(r.edits, edit{seg.Start, seg.Stop, "removed", hiddenText, info})
		} else if strings.TrimSpace(more) != "" {
			r.hide(seg.Start+len(word), seg.Start+len(strings.SplitN(r.src[seg.Start:], "\n", 2)[0]))
		}
	}
	// An indented one at the top may lie in a list that others see going on.
	certain := n.Parent().Kind() != ast.KindDocument || n.Pos() == 0 || r.src[n.Pos()-1] == '\n'
	lines := n.Lines()
	for i := range lines.Len() {
		from, to := lines.At(i).Start, lines.At(i).Stop
		if at := strings.Index(r.src[from:to], "%%"); language == "mermaid" && at >= 0 && strings.TrimLeft(r.src[from:from+at], " \t>") == "" {
			r.hide(from+at+2, to-strings.Count(r.src[from:to], "\n"))
		}
		if certain {
			r.isCode(from, to)
		}
	}
	if from, to := span(n); language == "math" && to > from {
		r.formula(from, to)
	}
}

// inline reads inline code. It has to lie in one line, and nothing before it in its
// paragraph may be read as anything else that takes in its first mark.
func (r *reading) inline(n *ast.CodeSpan) {
	if n.FirstChild() == nil || len(r.lines) == 0 {
		return
	}
	from, to := n.FirstChild().(*ast.Text).Segment.Start, n.LastChild().(*ast.Text).Segment.Stop
	block := r.lines[len(r.lines)-1]
	begin := max(block[0], r.read)
	if from < begin {
		return
	}
	before := strings.TrimRight(strings.TrimSuffix(string(r.open[begin:from]), " "), "`")
	first := begin + len(before)
	marks := from - first // with a space, which code has on both sides or none
	cells := strings.Contains(r.src[from:to], "|") && strings.Contains(r.src[block[0]:block[1]], "\n")
	if marks > mostTicks || cells || strings.Contains(r.src[from:to], "\n") || takesIn().MatchString(whole().ReplaceAllString(before, "")) {
		r.read = block[1]
		return
	}
	r.read = min(to+marks, len(r.src))
	r.isCode(first, r.read)
}
