package phases

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// MostChildren is how many issues a run opens. A run may ask for more; people
// are told of those.
const MostChildren = 5

// The most that is kept of what one report asks for.
const (
	mostChildren  = 20
	mostChildBody = 4000 // Unicode code points
)

// childReport is an issue of its own as an agent asks for it.
type childReport struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

// children takes the issues that a report asks for into a record, in the place
// of those that the phase asked for before. What was opened stays, and what
// another phase has asked for by the same title is not asked for twice.
func children(run *metadata.Run, p *pipelines.Phase, report json.RawMessage) {
	forgetChildren(run, func(phase string) bool { return phase == p.Name })
	found := requestIn(p, report).Children
	for _, c := range found[:min(len(found), mostChildren)] {
		title := limit(strings.Join(strings.Fields(clean(c.Title)), " "), 200)
		id := childID(title)
		same := func(other metadata.Child) bool { return other.ID == id }
		if title == "" || slices.ContainsFunc(run.Children, same) {
			continue
		}
		run.Children = append(run.Children, metadata.Child{ID: id, Phase: p.Name, Title: title, Body: limit(clean(c.Body), mostChildBody)})
	}
}

// childID names a child by its title, so that it is the same one in every try
// and after every rollback, whatever else is asked for.
func childID(title string) string { return digest([]byte(strings.ToLower(title)))[:12] }

// forgetChildren leaves out what phases whose work is void have asked for, as
// far as nothing was opened.
func forgetChildren(run *metadata.Run, void func(phase string) bool) {
	run.Children = slices.DeleteFunc(run.Children, func(c metadata.Child) bool { return !c.Opened() && void(c.Phase) })
}

// ToOpen gives the issues that a run asks for and that are to be opened now:
// those of phases whose work stands, as far as the run may open them.
func ToOpen(plan *pipelines.Pipeline, run metadata.Run) []metadata.Child {
	var out []metadata.Child
	room := MostChildren
	for _, c := range run.Children {
		if c.Opened() {
			room--
		} else if stands(plan, run, c.Phase) {
			out = append(out, c)
		}
	}
	return out[:min(len(out), max(room, 0))]
}

// stands reports whether a phase is completed, and approved where somebody has
// to.
func stands(plan *pipelines.Pipeline, run metadata.Run, phase string) bool {
	p, rec := plan.Phase(phase), run.Phase(phase)
	if p == nil || rec == nil || rec.Status != metadata.PhaseCompleted {
		return false
	}
	role, _ := approver(p, run, rec)
	return role == ""
}

// Opened gives the record after the issue of a child was opened.
func Opened(run metadata.Run, id string, number int, url string, at time.Time) metadata.Run {
	run = run.Clone()
	for i := range run.Children {
		if c := &run.Children[i]; c.ID == id {
			c.Number, c.URL = number, url
		}
	}
	return touch(run, at)
}
