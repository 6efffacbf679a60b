package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

//go:embed index.html
var indexText string

// Index is what the page of all runs tells.
type Index struct {
	Repository string // its name
	Runs       []Indexed
	At         time.Time // when the page is made
}

// Indexed is a run with the file that has its page, which lies beside the index; "" for
// none.
type Indexed struct {
	Run  metadata.Run
	Page string
}

// WriteIndex writes the page of all runs, in the language of the first one.
func WriteIndex(w io.Writer, x Index) error {
	return write(w, indexText, newIndexView(x))
}

// indexView is the page of all runs as the template writes it.
type indexView struct {
	W      words
	Policy string
	Style  template.CSS
	Title  string
	Facts  []fact
	Runs   []indexedRun
	Phases []phaseRow
	Made   string
}

// indexedRun is a row of the table of runs.
type indexedRun struct {
	Page, Name, Link string
	Status           badge
	Phase, USD, Took string
	Rollbacks        int
	Moved, Waits     string
}

// phaseRow is what a phase came to in all runs.
type phaseRow struct {
	Name, USD, Failures string
	Runs, Rollbacks     int
}

func newIndexView(x Index) indexView {
	language := "en"
	if len(x.Runs) > 0 {
		language = x.Runs[0].Run.Language
	}
	records := make([]metadata.Run, len(x.Runs))
	for i, r := range x.Runs {
		records[i] = r.Run
	}
	w, all := words{Catalogue: prompts.Words(language)}, view.TallyOf(records)
	v := indexView{
		W: w, Policy: policy(), Style: template.CSS(styleText),
		Title: w.Shown("index title", "repository", line(x.Repository, 100)),
		Facts: sumsOf(w, all), Phases: phasesOf(w, all),
		Made: w.Shown("index made", "n", len(x.Runs), "when", text.Clock(x.At)),
	}
	for _, r := range x.Runs {
		waits := ""
		if r.Run.Stop != nil {
			waits = line(r.Run.Stop.Why.In(w.Catalogue), 300)
		}
		v.Runs = append(v.Runs, indexedRun{
			Page: r.Page, Name: text.IssueHead(r.Run.IssueNumber, line(r.Run.IssueTitle, 120)), Link: link(r.Run.PRURL),
			Status: badge{class(string(r.Run.Status)), w.status(string(r.Run.Status))}, Phase: line(phases.AtHand(r.Run), 60),
			USD: text.USD(r.Run.Cost.USD), Took: text.Duration(max(r.Run.UpdatedAt.Sub(r.Run.CreatedAt), 0)), Rollbacks: len(r.Run.RollbackHistory), Moved: text.Clock(r.Run.UpdatedAt), Waits: waits,
		})
	}
	return v
}

// sumsOf gives what all runs came to.
func sumsOf(w words, t view.Tally) []fact {
	facts := []fact{{w.Say("cost"), text.USD(t.USD), ""}}
	if ended := t.Completed.Runs + t.Statuses[string(metadata.Failed)] + t.Statuses[string(metadata.Cancelled)]; ended > 0 {
		percent := fmt.Sprintf("%.0f", 100*float64(t.Completed.Runs)/float64(ended))
		facts = append(facts, fact{w.Shown("index success"), w.Shown("index success of", "n", t.Completed.Runs, "m", ended, "percent", percent), ""})
	}
	if t.Completed.Runs > 0 {
		took := time.Duration(t.Completed.Seconds * float64(time.Second))
		facts = append(facts, fact{w.Shown("index per run"), text.USD(t.Completed.USD), ""}, fact{w.Shown("index time"), text.Duration(took), ""})
	}
	return facts
}

// phasesOf gives the rows of the phases.
func phasesOf(w words, t view.Tally) (rows []phaseRow) {
	for _, p := range t.Phases {
		row := phaseRow{line(p.Name, 60), text.USD(p.USD), "", p.Runs, p.ByPeople + p.ByItself}
		if p.Failed > 0 {
			row.Failures = w.Shown("index failed", "n", p.Failed)
		}
		rows = append(rows, row)
	}
	return rows
}
