package eval

import (
	"slices"

	"github.com/reprise-ci/reprise/internal/eval/stats"
)

// Score is what a variant came to, over all cases or in one.
type Score struct {
	Variant string         `json:"variant"`
	Case    string         `json:"case,omitempty"` // empty: all
	Solved  int            `json:"solved"`
	Runs    int            `json:"runs"`
	Share   stats.Interval `json:"solved_interval"` // 95 % by Wilson, of all runs like these
	// Means of a run.
	USD     float64 `json:"cost_usd"`
	Seconds float64 `json:"seconds"` // of agents and checks
	Calls   float64 `json:"calls"`
	Revises float64 `json:"revises"`
}

// scoreOf sums up the results of a variant, in one case or, without a name, in all.
func scoreOf(all []Result, variant, name string) Score {
	s := Score{Variant: variant, Case: name}
	for _, r := range all {
		if r.Variant != variant || name != "" && r.Case != name {
			continue
		}
		s.Runs++
		if r.Solved {
			s.Solved++
		}
		s.USD += r.Facts.Cost.USD
		s.Seconds += r.Facts.Seconds
		s.Calls += float64(r.Facts.Attempts)
		s.Revises += float64(r.Facts.Revises)
	}
	s.Share = stats.Wilson(s.Solved, s.Runs)
	n := float64(max(1, s.Runs))
	s.USD, s.Seconds, s.Calls, s.Revises = s.USD/n, s.Seconds/n, s.Calls/n, s.Revises/n
	return s
}

// Comparison is two variants, run by run of each case.
type Comparison struct {
	First      string          `json:"first"`
	Second     string          `json:"second"`
	Pairs      int             `json:"pairs"`       // runs of both
	OnlyFirst  int             `json:"only_first"`  // solved by the first alone
	OnlySecond int             `json:"only_second"` // solved by the second alone
	P          float64         `json:"p"`           // exact McNemar, corrected by Holm for all comparisons
	USD        float64         `json:"cost_usd"`    // what a run of the first costs more, in the mean
	Between    *stats.Interval `json:"cost_usd_interval,omitempty"`
}

// seen is the p-value below which a difference counts as seen.
const seen = 0.05

// Differs reports whether one of them can be seen to solve more.
func (c Comparison) Differs() bool { return c.P < seen }

// CostDiffers reports whether one of them can be seen to cost more.
func (c Comparison) CostDiffers() bool { return c.Between != nil && !c.Between.Holds(0) }

// compare compares each variant with each that comes after it.
func compare(all []Result, variants []string) []Comparison {
	at := map[Trial]Result{}
	for _, r := range all {
		at[r.Trial] = r
	}
	out, ps := []Comparison{}, []float64(nil)
	for i, first := range variants {
		for _, second := range variants[i+1:] {
			c := Comparison{First: first, Second: second}
			var more []float64
			for _, a := range sorted(all) {
				b, there := at[Trial{second, a.Case, a.Run}]
				if a.Variant != first || !there {
					continue
				}
				c.Pairs++
				if a.Solved && !b.Solved {
					c.OnlyFirst++
				}
				if b.Solved && !a.Solved {
					c.OnlySecond++
				}
				more = append(more, a.Facts.Cost.USD-b.Facts.Cost.USD)
			}
			var between stats.Interval
			if c.USD, between = stats.MeanInterval(more); c.Pairs > 1 {
				c.Between = &between
			}
			out, ps = append(out, c), append(ps, stats.McNemar(c.OnlyFirst, c.OnlySecond))
		}
	}
	for i, p := range stats.Holm(ps) {
		out[i].P = p
	}
	return out
}

// sorted gives results in one order, whichever was over first.
func sorted(all []Result) []Result {
	out := slices.Clone(all)
	slices.SortFunc(out, func(a, b Result) int { return a.Trial.order(b.Trial) })
	return out
}
