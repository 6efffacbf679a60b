// Package page is what people read on GitHub: the comment that follows a run,
// answers to commands, the pull request and issues that a run opens, and the
// summary of a job. It gives Markdown and sends nothing.
package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Comment gives the one live comment of a run as Markdown, in the language of
// the run, with what its record says and nothing else.
func Comment(plan *pipelines.Pipeline, run metadata.Run, l Links) string {
	return LiveComment(plan, run, Notices{Links: l})
}

// LiveComment gives the one live comment of a run as Markdown, in the language
// of the run: where it is, what it costs, what a person can do, what is open,
// and what happened. Text from agents and people is escaped in it. It has at
// most markdown.MaxComment characters: what has no room is left out, never the head and
// never the state for programs.
func LiveComment(plan *pipelines.Pipeline, run metadata.Run, t Notices) string {
	c := comment{newWriter(plan, run, t)}
	state := stateBlock(c.writer)
	read, later := findings(c).open(), ""
	if run.Stop == nil {
		read, later = "", read // the run goes on to revise it: nobody has to read it now
	}
	blocks := []string{
		c.head(), c.elsewhere(), c.near(), advice(c).text(), advice(c).lastWords(), proposed(c.writer), findings(c).setup(), c.warnings(), c.edited(), c.takenBack(), read, checklist(c).lines(), c.doubts(), c.oddChecks(), later, findings(c).suggestions(), c.answered(),
		c.tasks(), c.children(), history(c).rollbacks(), history(c).commands(), chart(c).folded(),
	}
	body, whole := clean.Fit(blocks, clean.MaxComment-clean.Units(state)-clean.Units(c.Say("comment.cutOff"))-10)
	if !whole {
		state = text.Join("\n\n", c.Say("comment.cutOff"), state)
	}
	return text.Join("\n\n", body, state) + "\n"
}

// WithoutState leaves out of a live comment what only programs read.
func WithoutState(comment string) string {
	seen, _, _ := strings.Cut(comment, "\n"+stateBegins)
	return seen
}

// comment is the one live comment of a run.
type comment struct{ writer }

// head is the marker, the headline, how far the run has got, and the facts.
func (w comment) head() string {
	lines := []string{MarkerOf("progress", w.Run.IssueNumber), "### " + w.headline(), ""}
	for _, facts := range []string{w.bar(), w.facts(), w.linked(), w.chosen()} {
		if facts != "" {
			lines = append(lines, facts, "")
		}
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// chosen says which pipeline an agent's judgment has led to, why, and how to take
// another one.
func (w comment) chosen() string {
	i := slices.IndexFunc(w.Run.Decisions, func(d metadata.Decision) bool { return d.Step == source.ChooseStep })
	if i < 0 {
		return ""
	}
	return text.Join(" · ", clean.Inline(text.Capitalize(w.Run.Decisions[i].Why.In(w.Catalogue)), 600), w.Say("tell.otherPipeline"))
}

// elsewhere says which parts other jobs work on, and where to see them.
func (w comment) elsewhere() string {
	parts := codes(w.notices.Elsewhere)
	if len(parts) == 0 {
		return ""
	}
	jobs := cmp.Or(clean.Link(w.Say("comment.jobs"), w.notices.Job), w.Say("comment.jobs"))
	return alert(alertNote, w.Say("comment.elsewhere", "n", len(parts), "jobs", jobs, "parts", w.List(parts)))
}

// near says which other open runs change the same files, while the run is open.
func (w comment) near() string {
	if phases.IsOver(w.Run) {
		return ""
	}
	return alert(alertNote, text.Capitalize(clean.Inline(w.notices.Near.In(w.Catalogue), 500)))
}

// takenBack says why the phase at hand was taken back, until that is met.
func (w comment) takenBack() string {
	rec := w.At.Rec
	if rec.RollbackContext == nil || len(w.Run.RollbackHistory) == 0 {
		return ""
	}
	back := rec.RollbackContext
	for _, e := range slices.Backward(w.Run.RollbackHistory) {
		if e.ToPhase == rec.Name {
			return clean.Quote("↩️ **"+w.back(e)+"**", clean.Truncate(back.Reason, 600))
		}
	}
	return ""
}

// edited names the artifacts that somebody has changed by hand, until they have
// passed a review again.
func (w comment) edited() string {
	var lines []string
	for _, r := range w.Rows {
		p := w.Plan.Phase(r.Rec.Name)
		if p != nil && !p.NoReview && r.Rec.Edited() && w.Run.Status != metadata.Completed {
			lines = append(lines, "✏️ "+w.Say("tell.edited", "file", clean.Code(clean.Truncate(p.Writes, 200))))
		}
	}
	return alert(alertNote, strings.Join(lines, "\n\n"))
}

// answered are the questions that have an answer, behind a fold.
func (w comment) answered() string {
	var done []string
	for _, q := range w.Run.Questions {
		if !q.Open() {
			done = append(done, "- "+text.Join(" · ", clean.Bold(clean.Inline(q.ID, 20)), clean.Inline(q.Text, 300), clean.Code(clean.Truncate(q.By, 60)), "→ "+clean.Inline(q.Answer, 300)))
		}
	}
	return w.folded(w.Say("questions"), 6_000, done)
}

// tasks are the parts of the work that phases have found.
func (w comment) tasks() string {
	var items []string
	for _, t := range w.Run.Tasks {
		items = append(items, "- "+text.Join(" · ", clean.Bold(clean.Inline(t.ID, 60)), clean.Inline(t.Title, 200), clean.Inline(strings.Join(t.Needs, ", "), 200)))
	}
	return w.folded(w.Say("tell.tasks"), 4_000, items)
}

// children are the issues that phases have asked for, with what became of each.
func (w comment) children() string {
	next := phases.ToOpen(w.Plan, w.Run)
	full := opened(w.Run)+len(next) >= phases.MostChildren
	var items []string
	for _, x := range w.Run.Children {
		state := w.Say("tell.childWaits")
		switch soon := slices.ContainsFunc(next, func(n metadata.Child) bool { return n.ID == x.ID }); {
		case x.Opened():
			state = cmp.Or(clean.Link(fmt.Sprint(x.Number), x.URL), fmt.Sprint(x.Number))
		case soon:
			state = w.Say("tell.childNext")
		case full:
			state = w.Say("tell.childLeft", "n", phases.MostChildren)
		}
		items = append(items, "- "+text.Join(" · ", clean.Inline(x.Title, 200), clean.Inline(w.title(x.Phase), 60), state))
	}
	return w.folded(w.Say("tell.children"), 4_000, items)
}

// opened counts the issues of a run that are open.
func opened(run metadata.Run) int {
	n := 0
	for _, c := range run.Children {
		if c.Opened() {
			n++
		}
	}
	return n
}
