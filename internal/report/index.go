package report

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
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

// IndexPage gives the page of all runs, in the language of the first one.
func IndexPage(x Index) ([]byte, error) {
	language, records := "en", []metadata.Run{}
	for _, r := range x.Runs {
		records = append(records, r.Run)
		language = records[0].Language
	}
	in, all := words{Catalogue: prompts.Words(language)}, view.TallyOf(records)
	return in.page(indexText, struct {
		words
		Title string
		Index
		Sums   []fact
		Phases []view.Phase
	}{in, in.Shown("index title", "repository", line(x.Repository, 100)), x, sumsOf(in, all), all.Phases})
}

// sumsOf gives what all runs came to.
func sumsOf(w words, t view.Tally) []fact {
	facts := []fact{{w.Say("cost"), t.CostIn(w.Language), ""}}
	if ended := t.Completed.Runs + t.Statuses[string(metadata.Failed)] + t.Statuses[string(metadata.Cancelled)]; ended > 0 {
		percent := fmt.Sprintf("%.0f", 100*float64(t.Completed.Runs)/float64(ended))
		facts = append(facts, fact{w.Shown("index success"), w.Shown("index success of", "n", t.Completed.Runs, "m", ended, "percent", percent), ""})
	}
	if t.Completed.Runs > 0 {
		took := time.Duration(t.Completed.Seconds * float64(time.Second))
		facts = append(facts, fact{w.Shown("index per run"), t.Completed.CostShort(), ""}, fact{w.Shown("index time"), text.Duration(took), ""})
	}
	return facts
}
