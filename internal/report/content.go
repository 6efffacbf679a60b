package report

import (
	"html/template"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// content is the page as the template writes it: every value is a line or a text
// that can be shown.
type content struct {
	W           words
	Policy      string
	Style       template.CSS
	Title       string
	Status      badge
	Where       string
	Facts       []fact
	Next        next
	Proven      []fact
	Issue       string
	Whole       diff
	Lanes       []lane
	Merges      []merged
	Attempts    []attempt
	NoChanges   bool
	Reviews     []review
	Checks      []check
	Rollbacks   []rollback
	Cost        cost
	People      []said
	Questions   []question
	Made        string
	TimelineEnd []string // when it begins and ends
}

// badge is a word with a colour.
type badge struct{ Class, Word string }

// fact is a line of the headline.
type fact struct{ Name, Value, Link string }

func newContent(f Facts) content {
	plan := view.Whole(f.Plan)
	w := words{prompts.Words(f.Run.Language), plan}
	run := f.Run
	rows := view.RowsOf(plan, run)
	lanes, ends := lanesOf(w, run, rows)
	return content{
		W: w, Policy: policy(), Style: template.CSS(styleText),
		Title:  text.IssueHead(run.IssueNumber, line(run.IssueTitle, 300)),
		Status: badge{class(string(run.Status)), w.status(string(run.Status))},
		Where:  whereOf(w, plan, run, rows), Facts: factsOf(w, run),
		Next: nextOf(w, plan, run), Proven: provenOf(w, plan, run), Issue: paragraph(f.Issue), Whole: diffOf(w, f.Whole, &space{remaining: mostOfAll}), Lanes: lanes, Merges: mergesOf(w, run), TimelineEnd: ends,
		Attempts: attemptsOf(w, f), NoChanges: f.NoChanges,
		Reviews: reviewsOf(w, rows), Checks: checksOf(w, rows),
		Rollbacks: rollbacksOf(w, run), Cost: costOf(run, rows),
		People: peopleOf(w, run), Questions: questionsOf(w, run),
		Made: w.Shown("page made", "when", text.Clock(f.At)),
	}
}

// where says at which phase and step the run is.
func whereOf(w words, plan *pipelines.Pipeline, run metadata.Run, rows []view.Row) string {
	total := view.PhasesIn(rows)
	d := view.Doing(plan, run)
	at := view.RowOf(rows, d.Phase)
	switch {
	case at.Number == 0 || run.Status == metadata.Completed:
		return w.Shown("phases", "n", view.Completed(rows), "m", total)
	case d.Do == "": // it stopped between steps
		return w.Shown("place", "phase", text.Flat(at.Title), "n", at.Number, "m", total)
	default:
		return w.Headline(at.Number, total, text.Flat(at.Title), string(d.Do))
	}
}

func factsOf(w words, run metadata.Run) []fact {
	spent := phases.SpentOf(run)
	all := []fact{
		{w.Say("cost"), view.Spent(run), ""},
		{w.Say("elapsed"), text.Duration(run.UpdatedAt.Sub(run.CreatedAt)), ""},
		{w.Shown("page work"), text.Duration(time.Duration(spent.Seconds) * time.Second), ""},
		{w.Shown("page at once"), view.Together(w.Catalogue, run), ""},
		{w.Say("attempts"), text.Tokens(int64(phases.SpentOf(run).Attempts)), ""},
		{w.Say("pipeline"), line(text.Join(" ", run.Pipeline.Name), 60), ""},
		{w.Say("branch"), line(run.BranchName, 120), ""},
		{w.Shown("page issue"), named(run.IssueURL), link(run.IssueURL)},
		{w.Say("pullRequest"), named(run.PRURL), link(run.PRURL)},
		{w.Shown("page begun"), text.Clock(run.CreatedAt) + " UTC", ""},
	}
	var shown []fact
	for _, f := range all {
		if f.Value != "" {
			shown = append(shown, f)
		}
	}
	return shown
}

// provenOf has a line for each phase of which something was proven.
func provenOf(w words, plan *pipelines.Pipeline, run metadata.Run) (all []fact) {
	for _, p := range view.StateOf(plan, run).Proven() {
		all = append(all, fact{Name: line(p.Title, 60), Value: line(p.Line(w.Catalogue), 1000)})
	}
	return all
}

// next is what a person should do.
type next struct {
	Class, Why, Meaning string
	Stderr              string
	Commands            []string
}

func nextOf(w words, plan *pipelines.Pipeline, run metadata.Run) next {
	n := next{Class: class(string(run.Status)), Commands: view.NextCommands(plan, run)}
	switch {
	case run.Status == metadata.Completed:
		n.Why = w.Shown("done")
		if len(n.Commands) == 0 {
			n.Commands = view.EndCommands(run)
		}
	case run.Stop != nil:
		n.Meaning = text.Join(" ", text.Flat(w.Explain(string(run.Stop.Code)).Meaning), "("+line(string(run.Stop.Code), 60)+")")
		n.Why = paragraph(run.Stop.Why.In(w.Catalogue))
		n.Stderr = lastLines(view.Stderr(run))
	default:
		n.Why = w.Shown("to do idle")
	}
	return n
}
