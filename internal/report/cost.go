package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// cost is what a run has used.
type cost struct {
	Spent                 string // of the budget
	Used                  string // the part of the budget, of 100; "" without one
	Phases, Models        []share
	Input, Output, Cached string
	Hits                  string // the share of what was read that came from the cache
}

// share is a part of what was used.
type share struct {
	Name, USD, Tokens, Calls, Took string
	Width                          string // of its bar, of 100
}

func costOf(run metadata.Run, rows []view.Row) cost {
	c := cost{
		Spent: view.Spent(run),
		Input: text.Tokens(run.Cost.InputTokens), Output: text.Tokens(run.Cost.OutputTokens), Cached: text.Tokens(run.Cost.CachedTokens),
	}
	if read := float64(run.Cost.InputTokens) + float64(run.Cost.CachedTokens); read > 0 && run.Cost.CachedTokens > 0 {
		c.Hits = fmt.Sprintf("%.0f %%", 100*float64(run.Cost.CachedTokens)/read)
	}
	switch b := run.Budget; {
	case b.USD > 0:
		c.Used = part(run.Cost.USD-b.Since.USD, b.USD)
	case b.IssueUSD > 0:
		c.Used = part(phases.SpentOnIssue(run), b.IssueUSD)
	}
	for _, r := range rows {
		if r.Attempts > 0 {
			c.Phases = append(c.Phases, share{line(r.Title, 60), text.USD(r.USD), text.Tokens(r.Tokens), fmt.Sprint(r.Attempts), text.Duration(r.Took), part(r.USD, run.Cost.USD)})
		}
	}
	c.Models = byModel(run)
	return c
}

// part is a share of 100 as an SVG has it.
func part(v, whole float64) string {
	p := v / whole * 100
	if math.IsNaN(p) || p <= 0 {
		p = 0
	}
	return fmt.Sprintf("%.1f", min(p, 100))
}

// byModel adds up what each model was used for, the dearest first.
func byModel(run metadata.Run) []share {
	type sum struct {
		metadata.Usage
		calls int
		ms    int64
	}
	of := map[string]sum{}
	for _, a := range run.Attempts {
		if phases.IsCall(a) {
			name := line(text.Join(" · ", a.Agent, a.Model), 100)
			s := of[name]
			of[name] = sum{s.Plus(a.Usage), s.calls + 1, s.ms + took(a).Milliseconds()}
		}
	}
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		if d := of[b].USD - of[a].USD; d != 0 {
			return int(math.Copysign(1, d))
		}
		return slices.Compare([]byte(a), []byte(b))
	})
	var all []share
	for _, name := range names {
		s := of[name]
		all = append(all, share{name, text.USD(s.USD), text.Tokens(s.InputTokens + s.OutputTokens), fmt.Sprint(s.calls), text.Duration(time.Duration(s.ms) * time.Millisecond), part(s.USD, run.Cost.USD)})
	}
	return all
}
