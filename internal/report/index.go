package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
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
	Phases []phaseSums
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

// phaseSums are what a phase came to in all runs.
type phaseSums struct {
	Name                        string
	Rollbacks, Attempts, Failed int
	USD, Failures               string
	usd                         float64
}

func newIndexView(x Index) indexView {
	language := "en"
	if len(x.Runs) > 0 {
		language = x.Runs[0].Run.Language
	}
	w := words{Catalogue: prompts.Words(language)}
	v := indexView{
		W: w, Policy: policy(), Style: template.CSS(styleText),
		Title: w.Shown("index title", "repository", line(x.Repository, 100)),
		Facts: sumsOf(w, x.Runs), Phases: phasesOf(w, x.Runs),
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
			USD: text.USD(r.Run.Cost.USD), Took: text.Duration(lasted(r.Run)), Rollbacks: len(r.Run.RollbackHistory), Moved: text.Clock(r.Run.UpdatedAt), Waits: waits,
		})
	}
	return v
}

// lasted is the time from the beginning of a run to when it moved last.
func lasted(run metadata.Run) time.Duration { return max(run.UpdatedAt.Sub(run.CreatedAt), 0) }

// sumsOf gives what all runs came to.
func sumsOf(w words, all []Indexed) []fact {
	ended, completed, usd, done := 0, 0, 0.0, 0.0
	var took []time.Duration
	for _, r := range all {
		usd += r.Run.Cost.USD
		switch r.Run.Status {
		case metadata.Completed:
			completed++
			done += r.Run.Cost.USD
			took = append(took, lasted(r.Run))
			ended++
		case metadata.Failed, metadata.Cancelled:
			ended++
		}
	}
	facts := []fact{{w.Say("cost"), text.USD(usd), ""}}
	if ended > 0 {
		facts = append(facts, fact{w.Shown("index success"), w.Shown("index success of", "n", completed, "m", ended, "percent", fmt.Sprintf("%.0f", 100*float64(completed)/float64(ended))), ""})
	}
	if completed > 0 {
		slices.Sort(took)
		facts = append(facts, fact{w.Shown("index per run"), text.USD(done / float64(completed)), ""},
			fact{w.Shown("index time"), text.Duration(took[len(took)/2]), ""})
	}
	return facts
}

// phasesOf adds up the phases of all runs by name, those with most rollbacks first.
func phasesOf(w words, all []Indexed) []phaseSums {
	var sums []phaseSums
	at := map[string]int{}
	of := func(name string) *phaseSums {
		if _, known := at[name]; !known {
			at[name] = len(sums)
			sums = append(sums, phaseSums{Name: line(name, 60)})
		}
		return &sums[at[name]]
	}
	for _, r := range all {
		for _, p := range r.Run.Phases {
			of(p.Name).Failed += count(p.Status == metadata.PhaseFailed)
		}
		for _, a := range r.Run.Attempts {
			s := of(a.Phase)
			s.Attempts += count(phases.IsCall(a))
			s.usd += a.Usage.USD
		}
		for _, b := range r.Run.RollbackHistory {
			of(b.ToPhase).Rollbacks++
		}
	}
	for i := range sums {
		sums[i].USD = text.USD(sums[i].usd)
		if n := sums[i].Failed; n > 0 {
			sums[i].Failures = w.Shown("index failed", "n", n)
		}
	}
	slices.SortStableFunc(sums, func(a, b phaseSums) int { return b.Rollbacks - a.Rollbacks })
	return sums
}
