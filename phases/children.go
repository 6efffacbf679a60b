package phases

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// MostChildren is how many issues a run opens at most. If it asks for more,
// people are told about the others.
const MostChildren = 5

// The most that is kept of what one report asks for.
const (
	mostChildren  = 20
	mostChildBody = 4000 // Unicode code points
)

// children records the issues that a report asks for. They replace those that the phase
// asked for before. Issues that were opened stay, and an issue that
// another phase has asked for under the same title is not added again.
func children(run *metadata.Run, p *pipelines.Phase, report json.RawMessage) {
	forgetChildren(run, func(phase string) bool { return phase == p.Name })
	found := RequestIn(p, report).Children
	for _, c := range found[:min(len(found), mostChildren)] {
		title := CutText(strings.Join(strings.Fields(ValidText(c.Title)), " "), 200)
		id := childID(title)
		same := func(other metadata.Child) bool { return other.ID == id }
		if title == "" || slices.ContainsFunc(run.Children, same) {
			continue
		}
		run.Children = append(run.Children, metadata.Child{ID: id, Phase: p.Name, Title: title, Body: CutText(ValidText(c.Body), mostChildBody)})
	}
}

// childID derives an id from the title of a child, so that it is the same in
// every try and after every rollback, whatever else is asked for.
func childID(title string) string { return DigestOf([]byte(strings.ToLower(title)))[:12] }

// forgetChildren drops the issues that phases with void work have asked for, except those
// that were opened.
func forgetChildren(run *metadata.Run, void func(phase string) bool) {
	run.Children = slices.DeleteFunc(run.Children, func(c metadata.Child) bool { return !c.Opened() && void(c.Phase) })
}

// ToOpen gives the issues that are to be opened now: those that phases with
// valid work ask for, up to the limit of a run.
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
