package progress

import (
	"fmt"
	"html"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// style is how a phase is painted outside of Mermaid: the colours of nodeColours.
type style struct{ fill, stroke, text string }

func styleOf(class string) style {
	switch class {
	case "done":
		return style{"#1a7f37", "#116329", "#ffffff"}
	case "active":
		return style{"#0969da", "#0550ae", "#ffffff"}
	case "failed":
		return style{"#cf222e", "#a40e26", "#ffffff"}
	case "skipped":
		return style{"#818b98", "#59636e", "#ffffff"}
	}
	return style{"#f6f8fa", "#818b98", "#1f2328"}
}

// dot draws what Mermaid draws, in the language of Graphviz.
func dot(plan *pipelines.Pipeline, run *metadata.Run) string {
	g := graphOf(plan, run)
	var b strings.Builder
	b.WriteString("digraph pipeline {\n  rankdir=LR\n  node [shape=box style=\"rounded,filled\" fontname=\"sans-serif\"]\n")
	for i, n := range g.nodes {
		s := styleOf(n.class)
		fmt.Fprintf(&b, "  p%d [label=\"%s\" fillcolor=\"%s\" color=\"%s\" fontcolor=\"%s\"]\n", i+1, n.label, s.fill, s.stroke, s.text)
	}
	for _, a := range g.arrows {
		fmt.Fprintf(&b, "  p%d -> p%d\n", a.from+1, a.to+1)
	}
	for _, a := range g.back {
		fmt.Fprintf(&b, "  p%d -> p%d [label=\"↩ %d\" style=dashed constraint=false]\n", a.from+1, a.to+1, a.n)
	}
	b.WriteString("}\n")
	return b.String()
}

// The measures of an SVG, in pixels.
const (
	boxHeight, gapAcross, gapDown, margin = 36, 24, 40, 16
	cellWidth, padding                    = 9, 24
)

// svg draws what Mermaid draws as a picture that needs no other program: phases from
// the top to the bottom, each below all that it needs.
func svg(plan *pipelines.Pipeline, run *metadata.Run) string {
	g := graphOf(plan, run)
	level := make([]int, len(g.nodes))
	for range g.nodes { // as often as the longest way can be
		for _, a := range g.arrows {
			level[a.to] = max(level[a.to], min(level[a.from]+1, len(g.nodes)))
		}
	}
	box := padding
	for _, n := range g.nodes {
		box = max(box, ansi.StringWidth(n.label)*cellWidth+padding)
	}
	x, y, taken, width, height := make([]int, len(g.nodes)), make([]int, len(g.nodes)), map[int]int{}, 0, 0
	for i, l := range level {
		x[i], y[i] = margin+taken[l]*(box+gapAcross), margin+l*(boxHeight+gapDown)
		taken[l]++
		width, height = max(width, x[i]+box+margin), max(height, y[i]+boxHeight+margin)
	}
	side := 0 // rollbacks go along the right side
	if len(g.back) > 0 {
		side = 3*gapAcross + 2*margin
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" font-family="system-ui, sans-serif" font-size="14">`+"\n", width+side, height)
	b.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#59636e"/></marker></defs>` + "\n")
	for _, a := range g.arrows {
		from, to, bend := x[a.from]+box/2, x[a.to]+box/2, gapDown/2
		top, bottom := y[a.from]+boxHeight, y[a.to]
		fmt.Fprintf(&b, `<path d="M%d %dC%d %d %d %d %d %d" fill="none" stroke="#59636e" marker-end="url(#tip)"/>`+"\n",
			from, top, from, top+bend, to, bottom-bend, to, bottom)
	}
	for _, a := range g.back {
		from, to, out := y[a.from]+boxHeight/2, y[a.to]+boxHeight/2, width+2*gapAcross
		fmt.Fprintf(&b, `<path d="M%d %dC%d %d %d %d %d %d" fill="none" stroke="#8250df" stroke-dasharray="5 4" marker-end="url(#tip)"/>`+"\n",
			x[a.from]+box, from, out, from, out, to, x[a.to]+box, to)
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#8250df">↩ %d</text>`+"\n", out, (from+to)/2, a.n)
	}
	for i, n := range g.nodes {
		s := styleOf(n.class)
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="%s" stroke="%s"/><text x="%d" y="%d" text-anchor="middle" fill="%s">%s</text>`+"\n",
			x[i], y[i], box, boxHeight, s.fill, s.stroke, x[i]+box/2, y[i]+boxHeight/2+5, s.text, html.EscapeString(n.label))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// Drawings are the languages in which Draw can draw.
func Drawings() []string { return []string{"mermaid", "dot", "svg", "json"} }

// Draw draws a pipeline in one of those languages; in another, it gives "".
func Draw(language string, plan *pipelines.Pipeline, run *metadata.Run) string {
	switch language {
	case "mermaid":
		return Mermaid(plan, run)
	case "dot":
		return dot(plan, run)
	case "svg":
		return svg(plan, run)
	case "json":
		return asJSON(plan, run)
	}
	return ""
}
