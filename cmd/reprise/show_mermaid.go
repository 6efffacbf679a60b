package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// mermaid draws a pipeline as a flow chart in Mermaid. With a run, each phase
// shows where it stands, by colour and by a sign, and rollbacks are dotted
// arrows back. Run may be nil.
func mermaid(plan *pipelines.Pipeline, run *metadata.Run) string {
	plan = whole(plan)
	record := metadata.Run{}
	if run != nil {
		record = *run
	}
	rows := rowsOf(plan, record)
	ids := map[string]string{}
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for _, r := range rows {
		ids[r.Rec.Name] = fmt.Sprintf("p%d", r.Number)
		fmt.Fprintf(&b, "  p%d[\"%s\"]", r.Number, nodeLabel(r, run != nil))
		if run != nil {
			fmt.Fprintf(&b, ":::%s", nodeClass(r.Rec.Status))
		}
		b.WriteByte('\n')
	}
	before := needsOf(plan)
	for _, p := range plan.Phases {
		for _, n := range before[p.Name] {
			fmt.Fprintf(&b, "  %s --> %s\n", ids[n], ids[p.Name])
		}
	}
	for _, back := range wayBack(record) {
		if from, to := ids[back.from], ids[back.to]; from != "" && to != "" && from != to {
			fmt.Fprintf(&b, "  %s -. \"↩ %d\" .-> %s\n", from, back.n, to)
		}
	}
	if run != nil {
		b.WriteString(nodeColours)
	}
	return b.String()
}

// Colours that can be told apart on a light and on a dark page.
const nodeColours = `  classDef done fill:#1a7f37,stroke:#116329,color:#ffffff
  classDef active fill:#0969da,stroke:#0550ae,color:#ffffff,stroke-width:3px
  classDef failed fill:#cf222e,stroke:#a40e26,color:#ffffff
  classDef skipped fill:#818b98,stroke:#59636e,color:#ffffff,stroke-dasharray:4 3
  classDef pending fill:#f6f8fa,stroke:#818b98,color:#1f2328
`

func nodeClass(s metadata.PhaseStatus) string {
	switch s {
	case metadata.PhaseCompleted:
		return "done"
	case metadata.PhaseInProgress:
		return "active"
	case metadata.PhaseFailed:
		return "failed"
	case metadata.PhaseSkipped:
		return "skipped"
	}
	return "pending"
}

// nodeLabel is the text of a phase: a sign or its number, then its name.
func nodeLabel(r row, signs bool) string {
	sign := fmt.Sprint(r.Number)
	if signs && r.Rec.Status != metadata.PhasePending && r.Rec.Status != "" {
		sign = statusSign(r.Rec.Status)
	}
	return sign + " " + cut(labelled(r.Rec.Name), 40)
}

// labelled keeps what cannot end a label or begin markup in it.
func labelled(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune(" _-.,", c) {
			return c
		}
		return '-'
	}, flat(text))
}

// arrowBack is how often a run went from one phase back to another.
type arrowBack struct {
	from, to string
	n        int
}

// wayBack sums up the rollbacks, in the order in which each way was first
// gone.
func wayBack(run metadata.Run) []arrowBack {
	var all []arrowBack
	at := map[[2]string]int{}
	for _, e := range run.RollbackHistory {
		key := [2]string{e.FromPhase, e.ToPhase}
		i, known := at[key]
		if !known {
			i = len(all)
			at[key] = i
			all = append(all, arrowBack{from: e.FromPhase, to: e.ToPhase})
		}
		all[i].n++
	}
	return all
}

// needsOf gives the arrows of the picture of a pipeline: for each phase the
// phases right before it. What follows from other arrows is left out, and a
// phase that names no need follows the one before it.
func needsOf(plan *pipelines.Pipeline) map[string][]string {
	before := map[string][]string{}
	reach := map[string]map[string]bool{} // everything that comes before a phase
	for i, p := range plan.Phases {
		var needs []string
		for _, n := range p.Needs {
			if _, known := reach[n]; known && !slices.Contains(needs, n) {
				needs = append(needs, n)
			}
		}
		if len(needs) == 0 && i > 0 {
			needs = []string{plan.Phases[i-1].Name}
		}
		all := map[string]bool{}
		for _, n := range needs {
			all[n] = true
			maps.Copy(all, reach[n])
		}
		reach[p.Name] = all
		before[p.Name] = slices.DeleteFunc(slices.Clone(needs), func(n string) bool {
			return slices.ContainsFunc(needs, func(m string) bool { return m != n && reach[m][n] })
		})
	}
	return before
}
