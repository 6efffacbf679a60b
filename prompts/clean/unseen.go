package clean

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"

	"github.com/reprise-ci/reprise/internal/text"
)

// row hides the cells of a row beyond those of its table's header. A line that is
// only taken into a list or quote from outside may be none of a table.
func (r *reading) row(n *extended.TableRow) {
	from := n.Pos()
	begin := strings.LastIndexByte(r.src[:from], '\n') + 1
	line, _, _ := strings.Cut(r.src[from:], "\n")
	margin := 0
	for p := n.Parent(); p != nil; p = p.Parent() {
		switch p := p.(type) {
		case *ast.ListItem:
			margin += p.Offset
		case *ast.Blockquote:
			margin++
		}
	}
	if from-begin < margin || strings.Contains(line, `\\|`) { // readers differ about such a bar
		return
	}
	at := len(line) - len(strings.TrimLeft(line, " \t|"))
	for range len(n.Alignments) {
		for at < len(line) && (line[at] != '|' || line[at-1] == '\\') {
			at++
		}
		at = min(at+1, len(line))
	}
	if strings.Trim(line[at:], " \t|") != "" {
		r.hide(from+at, from+len(line))
	}
}

// note is the definition of a footnote.
type note struct {
	from, to int
	label    string
}

// fold makes labels equal that differ in case only.
func fold(label string) string { return strings.ToLower(strings.ToUpper(label)) }

func (r *reading) note(n *extended.Footnote) {
	to := n.Pos()
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) { // the visits fail nowhere
		if entering && c.Type() == ast.TypeBlock {
			_, end := span(c)
			to = max(to, end)
		}
		return ast.WalkContinue, nil
	})
	if at := strings.IndexByte(r.src[to:], '\n'); at > 0 || to == n.Pos() { // its head alone, or the end of a block of code
		to += max(at, 0)
	}
	r.notes = append(r.notes, note{n.Pos(), to, fold(string(n.Ref))})
}

var reference = text.Pattern(`\\.|\[\^([^\[\]\n]+)\]`)

// footnotes hides the definitions that nothing outside of code refers to, but for their own heads.
func (r *reading) footnotes(open string) {
	heads, referred := map[int]bool{}, map[string]bool{}
	for _, n := range r.notes {
		heads[n.from] = true
	}
	for _, m := range reference().FindAllStringSubmatchIndex(open, -1) {
		if m[2] >= 0 && !heads[m[0]] {
			referred[fold(open[m[2]:m[3]])] = true
		}
	}
	for _, n := range r.notes {
		if referred[n.label] {
			continue
		}
		if n.from == 0 || r.src[n.from-1] == '\n' {
			n.to = min(n.to+1, len(r.src))
		}
		r.edits = append(r.edits, edit{n.from, n.to, "", HiddenText, r.src[n.from:n.to]})
	}
}

// What formulas are made of, and what they do not show: a phantom, and what stands behind a %.
var (
	dollars = text.Pattern("(?:^|[ \\t\\n(])(?:\\$\\$([^$`]+)\\$\\$|\\$`([^$`\\n]+)`\\$|\\$((?:[^$`\\n\\\\]|\\\\[^\\n])+)\\$)(?:$|[ \\t\\n).,:;?!])")
	phantom = text.Pattern(`\\[hv]?phantom\b`)
	remark  = text.Pattern(`(?:\\.|[^%\\\n])*(%[^\n]*)?\n?`)
)

// formulas hides what formulas between dollars in a part of the text do not show.
func (r *reading) formulas(open string, from, to int) {
	for from < to {
		m := dollars().FindStringSubmatchIndex(open[from:to])
		if m == nil {
			return
		}
		next := from + m[0] + 1
		for g := 2; g < len(m); g += 2 {
			if m[g] < 0 {
				continue
			}
			first, last := from+m[g], from+m[g+1]
			if g == 2 || strings.TrimSpace(open[first:last]) == open[first:last] {
				r.formula(first, last)
				next = last
			}
		}
		from = next
	}
}

// formula hides what a formula does not show: all of one with a phantom, and what stands behind
// a %. Lines stay as many as they were.
func (r *reading) formula(from, to int) {
	text := r.src[from:to]
	if phantom().MatchString(text) {
		r.edits = append(r.edits, edit{from, to, "removed" + strings.Repeat("\n", strings.Count(text, "\n")), HiddenText, text})
		return
	}
	for _, m := range remark().FindAllStringSubmatchIndex(text, -1) {
		if m[2] >= 0 {
			r.hide(from+m[2]+1, from+m[3])
		}
	}
}
