package page

import (
	"cmp"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// checklist is the phases of a run.
type checklist struct{ writer }

// lines has a line for each phase, and below it one for each of its parts. A table would be wider than a phone.
func (w checklist) lines() string {
	var lines []string
	for _, r := range w.Rows {
		mark := "1. " // Markdown counts for itself
		if r.Part != "" {
			mark = "   - "
		}
		lines = append(lines, mark+w.line(r))
	}
	return w.within(12_000, lines)
}

// line is a phase: how it stands, what it has taken, and what it has changed.
func (w checklist) line(r view.Row) string {
	name, beside := w.artifact(r)
	state, cost, took, changed := w.state(r), "", "", ""
	if s := w.standing(r); s == metadata.PhaseInProgress || s == metadata.PhaseFailed {
		name = clean.Bold(name)
	}
	if r.Attempts > 0 {
		cost = text.USD(r.USD)
	}
	if r.Took > 0 {
		took = w.Duration(r.Took)
	}
	if d := r.Rec.Diff; d != nil && d.Files > 0 {
		changed = w.Say("comment.changed", "n", d.Files, "added", d.Added, "deleted", d.Deleted)
	}
	return w.phaseSign(r) + " " + text.Join(" · ", name, state, took, cost, changed, beside)
}

// state says in words where a phase stands: what its review said, once it is
// completed. Of one that has not begun there is nothing to say.
func (w checklist) state(r view.Row) string {
	switch w.standing(r) {
	case metadata.PhaseCompleted:
		return text.Join(", ", w.word("verdicts", r.Rec.ReviewResult), text.If(r.Approval, w.word("statuses", r.Standing())))
	case metadata.PhasePending, "":
		return clean.Inline(r.Waits.In(w.Catalogue), 200)
	case metadata.PhaseInProgress:
		step := cmp.Or(string(r.Rec.CurrentStep), string(w.Now.Step()))
		return text.Join(", ", w.word("steps", step), w.Say("round", "n", max(r.Round(), 1)))
	}
	return text.Join(": ", w.word("statuses", string(r.Rec.Status)), clean.Inline(r.Left.In(w.Catalogue), 200))
}

// artifact gives the title of a phase, which links to what it has written; where no
// link is possible, the file is named beside it.
func (w checklist) artifact(r view.Row) (title, beside string) {
	title = clean.Inline(r.Title, 60)
	files := r.Artifacts()
	if len(files) == 0 {
		return title, ""
	}
	if link := clean.Link(title, clean.FileURL(w.notices.Files, files[0])); link != "" {
		return link, ""
	}
	return title, w.file(files[0])
}

// standing is where a phase stands. One that is about to begin, or has just done so,
// is at work, which its record says only later.
func (w writer) standing(r view.Row) metadata.PhaseStatus {
	pending := r.Rec.Status == metadata.PhasePending || r.Rec.Status == ""
	if pending && w.Run.Status == metadata.Running && r.Rec.Name == w.Now.Phase {
		return metadata.PhaseInProgress
	}
	return r.Rec.Status
}

// phaseSign is where a phase stands, at a glance.
func (w writer) phaseSign(r view.Row) string {
	switch w.standing(r) {
	case metadata.PhaseCompleted:
		if r.Approval {
			return runSign(metadata.Waiting)
		}
		return "✅"
	case metadata.PhaseSkipped:
		return "⏭️"
	case metadata.PhaseInProgress:
		return runSign(w.Run.Status)
	case metadata.PhaseFailed:
		return "❌"
	}
	if r.Attempts > 0 {
		return "↩️" // it was taken back, and is to be done again
	}
	return "▫️"
}

// bar is how far a run has got, in squares: one for each phase, or twelve. Behind
// them is how long it will still take, where that is known.
func (w writer) bar() string {
	if len(w.Rows) == 0 {
		return ""
	}
	const most = 12 // squares are in one line on a phone
	squares := min(len(w.Rows), most)
	var b strings.Builder
	for i := range squares {
		b.WriteString(w.square(w.Rows[i*len(w.Rows)/squares]))
	}
	left := ""
	if d := w.notices.Remaining; d > 0 && w.Run.Status == metadata.Running {
		left = w.Say("comment.left", "time", w.Roughly(d))
	}
	return text.Join(" ", b.String(), left)
}

// square is a phase in the bar.
func (w writer) square(r view.Row) string {
	active := "🟦"
	switch w.Run.Status {
	case metadata.Running:
	case metadata.Failed:
		active = "🟥"
	default:
		active = "🟨"
	}
	if r.Approval {
		return active
	}
	return cmp.Or(map[metadata.PhaseStatus]string{
		metadata.PhaseCompleted: "🟩", metadata.PhaseSkipped: "🟩", metadata.PhaseInProgress: active, metadata.PhaseFailed: "🟥",
	}[w.standing(r)], "⬜")
}
