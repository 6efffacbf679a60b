package clean

import (
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"
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

var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\.|\[\^([^\[\]\n]+)\]`) })

// footnotes hides the definitions that nothing outside of code refers to. What
// stands in one and refers to another keeps the other to be seen, and stays.
func (r *reading) footnotes(open string) {
	if len(r.notes) == 0 {
		return
	}
	heads, defined, referred := map[int]bool{}, map[string]bool{}, map[string]bool{}
	for _, n := range r.notes {
		heads[n.from], defined[n.label] = true, true
	}
	all := reference().FindAllStringSubmatchIndex(open, -1)
	for _, m := range all {
		if m[2] >= 0 && !heads[m[0]] {
			referred[fold(open[m[2]:m[3]])] = true
		}
	}
	for _, n := range r.notes {
		if referred[n.label] {
			continue
		}
		head, text, _ := strings.Cut(r.src[n.from:n.to], "]:")
		var kept []string
		seen := map[string]bool{}
		for _, m := range reference().FindAllString(open[n.to-len(text):n.to], -1) {
			if key := fold(strings.Trim(m, "[^]")); defined[key] && !seen[key] {
				seen[key] = true
				kept = append(kept, m)
			}
		}
		rest := head + "]: " + strings.Join(kept, " ")
		if len(kept) == 0 {
			rest = ""
			if n.from == 0 || r.src[n.from-1] == '\n' {
				n.to = min(n.to+1, len(r.src))
			}
		}
		if rest != r.src[n.from:n.to] {
			r.edits = append(r.edits, edit{n.from, n.to, rest, HiddenText, r.src[n.from:n.to]})
		}
	}
}

// What formulas are made of. Text shows what it holds, with any %; a phantom shows nothing.
var (
	dollars = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?:^|[ \\t\\n(])(?:\\$\\$([^$`]+)\\$\\$|\\$`([^$`\\n]+)`\\$|\\$((?:[^$`\\n\\\\]|\\\\[^\\n])+)\\$)(?:$|[ \\t\\n).,:;?!])")
	})
	unseen = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\\(text|textrm|textbf|textit|textsf|texttt|textnormal|mbox|hbox|fbox|tag|[hv]?phantom) *\{|\\(?s:.)|%[^\n]*`)
	})
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
				r.formula(first, last, false)
				next = last
			}
		}
		from = next
	}
}

// formula hides what a formula does not show: what stands in a phantom and behind a
// %. If it keeps lines, they stay as many as they were.
func (r *reading) formula(from, to int, lines bool) {
	text := r.src[from:to]
	ends := braces(text)
	for at := 0; ; {
		m := unseen().FindStringSubmatchIndex(text[at:])
		if m == nil {
			return
		}
		first, last, shown := at+m[0]+1, at+m[1], text[at+m[0]] == '\\'
		if m[2] >= 0 {
			end, closed := ends[at+m[1]-1]
			shown = !closed || !strings.HasSuffix(text[at+m[2]:at+m[3]], "phantom")
			first, last = at+m[1], max(end, at+m[1])
		}
		at = last
		hidden, with := text[first:last], ""
		if shown || strings.TrimSpace(hidden) == "" {
			continue
		}
		if lines {
			with = strings.Repeat("\n", strings.Count(hidden, "\n"))
		}
		r.edits = append(r.edits, edit{from + first, from + last, with, HiddenText, hidden})
	}
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
