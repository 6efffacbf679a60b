package progress

import (
	"bytes"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// drawnPhase is a phase in the picture for programs.
type drawnPhase struct {
	Name   string               `json:"name"`
	Title  string               `json:"title"`
	Status metadata.PhaseStatus `json:"status,omitempty"` // in a run
	After  []string             `json:"after"`            // the phases that it comes after
}

// drawnBack is a way that a run was taken back.
type drawnBack struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Times int    `json:"times"`
}

// asJSON gives what Mermaid draws as one JSON object.
func asJSON(plan *pipelines.Pipeline, run *metadata.Run) string {
	record := metadata.Run{}
	if run != nil {
		record = *run
	}
	g, rows := graphOf(plan, run), RowsOf(Whole(plan), record)
	drawn := struct {
		Phases []drawnPhase `json:"phases"`
		Back   []drawnBack  `json:"back"`
	}{make([]drawnPhase, len(rows)), make([]drawnBack, 0, len(g.back))}
	for i, r := range rows {
		drawn.Phases[i] = drawnPhase{Name: r.Rec.Name, Title: r.Title, After: []string{}}
		if run != nil {
			drawn.Phases[i].Status = r.Rec.Status
		}
	}
	for _, a := range g.arrows {
		p := &drawn.Phases[a.to]
		p.After = append(p.After, rows[a.from].Rec.Name)
	}
	for _, a := range g.back {
		drawn.Back = append(drawn.Back, drawnBack{rows[a.from].Rec.Name, rows[a.to].Rec.Name, a.n})
	}
	var out bytes.Buffer
	_ = text.PrintJSON(&out, drawn) // texts and numbers can be told, and a buffer takes all
	return out.String()
}
