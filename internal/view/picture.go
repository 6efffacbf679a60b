package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Mermaid draws a pipeline as a flow chart. With a run, each phase shows where it stands, and rollbacks are dotted.
func Mermaid(c phases.Course) string {
	g, begun := graphOf(c), c.Run.Status != ""
	var b strings.Builder
	b.WriteString("flowchart TB\n")
	for i, n := range g.nodes {
		fmt.Fprintf(&b, "  p%d[\"%s\"]%s\n", i+1, n.label, text.If(begun, ":::"+n.class))
	}
	for _, a := range g.arrows {
		fmt.Fprintf(&b, "  p%d --> p%d\n", a.from+1, a.to+1)
	}
	for _, a := range g.back {
		fmt.Fprintf(&b, "  p%d -. \"↩ %d\" .-> p%d\n", a.from+1, a.n, a.to+1)
	}
	if begun {
		b.WriteString(nodeColours)
	}
	return b.String()
}

// Drawing draws the same as text: a line for each phase, in columns where some can be done at the same time.
func Drawing(c phases.Course) string {
	g := graphOf(c)
	var b strings.Builder
	var open []int // which phase each column leads to; -1: none
	line := func(at, last int, sign, end rune, label string) {
		rail := []rune(strings.Repeat("  ", len(open)))
		for c, to := range open {
			rail[2*c] = []rune(cmp.Or(text.If(to >= 0, "│"), text.If(at < c && c < last, "─"), " "))[0]
			rail[2*c+1] = []rune(cmp.Or(text.If(at <= c && c < last, "─"), " "))[0]
		}
		rail[2*last], rail[2*at] = end, sign
		b.WriteString(strings.TrimRight(string(rail)+label, " ") + "\n")
	}
	for i, n := range g.nodes {
		at := slices.Index(open, i)
		if at < 0 {
			at, open = len(open), append(open, i)
		}
		for c := at + 1; c < len(open); c++ {
			if open[c] == i {
				line(at, c, '├', '╯', "")
				open[c] = -1
			}
		}
		for open[len(open)-1] < 0 {
			open = open[:len(open)-1]
		}
		for _, a := range g.back {
			n.label += text.If(a.to == i, fmt.Sprintf("  ↩ %d from %s", a.n, g.nodes[a.from].label))
		}
		line(at, at, '○', '○', n.label)
		open[at] = -1
		for _, a := range g.arrows {
			switch {
			case a.from != i:
			case open[at] < 0:
				open[at] = a.to
			default:
				open = append(open, a.to)
				line(at, len(open)-1, '├', '╮', "")
			}
		}
	}
	return b.String()
}

// graph is the picture of a pipeline.
type graph struct {
	nodes  []node
	arrows []arrow // from a phase to one that needs it
	back   []arrow // rollbacks
}

// node is a phase.
type node struct{ label, class string }

// arrow leads from a node to another, by their places in the list.
type arrow struct {
	from, to int
	n        int // how often the run went there, of a rollback
}

func graphOf(c phases.Course) (g graph) {
	c.Plan = Whole(c.Plan)
	at := map[string]int{}
	for i, r := range rowsOf(c) {
		at[r.Rec.Name] = i
		class := map[metadata.PhaseStatus]string{metadata.PhaseCompleted: "done", metadata.PhaseInProgress: "active", metadata.PhaseFailed: "failed", metadata.PhaseSkipped: "skipped"}[r.Colour()]
		g.nodes = append(g.nodes, node{nodeLabel(r), cmp.Or(class, "pending")})
	}
	before := needsOf(c.Plan)
	for _, p := range c.Plan.Phases {
		parts := g.parts(c.Run, p.Name, before[p.Name], at)
		for _, n := range before[p.Name] {
			if !parts {
				g.arrows = append(g.arrows, arrow{from: at[n], to: at[p.Name]})
			}
		}
	}
	for _, e := range c.Run.RollbackHistory {
		from, is := at[e.FromPhase]
		to, also := at[e.ToPhase]
		i := slices.IndexFunc(g.back, func(a arrow) bool { return a.from == from && a.to == to })
		switch {
		case !is || !also || from == to:
		case i < 0:
			g.back = append(g.back, arrow{from, to, 1})
		default:
			g.back[i].n++
		}
	}
	return g
}

// parts adds the arrows of a phase that is done in parts, and reports whether there are any: from what it follows to the
// parts that need no other, and to the phase from those that no other needs.
func (g *graph) parts(run metadata.Run, phase string, before []string, at map[string]int) bool {
	all := phases.PartsOf(&run, phase)
	for _, part := range all {
		follows, needed := before, false
		var needs []string
		for _, other := range all {
			if phases.PartNeeds(&run, part, other.Name) {
				needs = append(needs, other.Name)
			}
			needed = needed || phases.PartNeeds(&run, other, part.Name)
		}
		if len(needs) > 0 {
			follows = needs
		}
		for _, n := range follows {
			g.arrows = append(g.arrows, arrow{from: at[n], to: at[part.Name]})
		}
		if !needed {
			g.arrows = append(g.arrows, arrow{from: at[part.Name], to: at[phase]})
		}
	}
	return len(all) > 0
}

// Colours that can be told apart on a light and on a dark page.
const nodeColours = `  classDef done fill:#1a7f37,stroke:#116329,color:#ffffff
  classDef active fill:#0969da,stroke:#0550ae,color:#ffffff,stroke-width:3px
  classDef failed fill:#cf222e,stroke:#a40e26,color:#ffffff
  classDef skipped fill:#818b98,stroke:#59636e,color:#ffffff,stroke-dasharray:4 3
  classDef pending fill:#f6f8fa,stroke:#818b98,color:#1f2328
`

// nodeLabel is the text of a phase: a sign or its number, then its title.
func nodeLabel(r Row) string {
	sign := fmt.Sprint(r.Number)
	if r.Rec.Status != metadata.PhasePending && r.Rec.Status != "" {
		sign = r.Sign()
	}
	return sign + " " + text.Cut(Label(r.Title), 40)
}

// Label keeps what cannot end a label or begin markup in it.
func Label(body string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune(" _-.,", c) {
			return c
		}
		return '-'
	}, text.Flat(body))
}

// Outline tells a pipeline to people in a line or a few a phase: who works, what is checked, who approves, and
// what a run may cost. Settings has all of it.
func Outline(plan *pipelines.Pipeline) string {
	plan = Whole(plan)
	var out strings.Builder
	line := func(format string, args ...any) {
		out.WriteString(text.Visible(text.Flat(fmt.Sprintf(format, args...))) + "\n")
	}
	if plan.Description != "" {
		line("%s", plan.Description)
	}
	for _, c := range plan.Setup {
		line("first: %s", c.Run)
	}
	for i, p := range slices.Concat(plan.Phases, plan.Spare) {
		number := text.If(i < len(plan.Phases), fmt.Sprint(i+1))
		line("%s %s: %s writes %s%s%s", cmp.Or(number, "+"), p.Name, doer(plan, p.Execute), p.Writes,
			text.If(p.Access == pipelines.AccessTree, " and changes files"), text.If(number == "", ", if a rule inserts it"))
		more := func(format string, args ...any) { out.WriteString("   "); line(format, args...) }
		var checks []string
		for _, c := range p.Checks {
			checks = append(checks, c.Name)
		}
		if len(checks) > 0 {
			more("checks: %s", strings.Join(checks, ", "))
		}
		if p.SkipIf != nil {
			more("left out if %s", p.SkipIf.When)
		}
		if p.Proves != "" {
			more("proof: %s", proofs[p.Proves])
		}
		if !p.NoReview {
			more("%s reviews%s; at most %s", doer(plan, p.Review), text.If(len(p.Gates) > 0, " against "+text.Plural(len(p.Gates), "gate")), text.Plural(p.Revisions, "revision"))
		}
		if p.Approve != "" {
			more("waits for approval by the role %s%s", p.Approve, text.If(p.Approvers > 1, fmt.Sprintf(", %d people", p.Approvers)))
		}
	}
	for _, r := range plan.Rules {
		line("after %s, when %s: %s", r.After, r.When, inYAML(r.Then))
	}
	line("budget: %s", inYAML(plan.Budget))
	return out.String()
}

var proofs = map[pipelines.Proof]string{
	pipelines.ProvesFix:  "a test of the change fails without it",
	pipelines.ProvesNew:  "a test of the change fails without it, or cannot run",
	pipelines.ProvesSame: "the tests from before the change pass",
}

// doer is the program of a step with its model.
func doer(plan *pipelines.Pipeline, s pipelines.Step) string {
	return WithModel(State{Course: phases.Course{Plan: plan}}.Program(s.Agent), s.Model)
}
