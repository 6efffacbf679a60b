package eval

import (
	"bytes"
	"path/filepath"
	"time"

	"github.com/reprise-ci/reprise/internal/report"
)

// page gives the report as an HTML page.
func (r Report) page(at time.Time) ([]byte, error) {
	e := report.Evaluation{
		Language: r.Language, Suite: filepath.Base(absolute(r.Suite, ".")), Runs: len(r.Results), USD: r.USD,
		Missing: r.Missing, Replayed: r.Replayed, At: at,
	}
	for _, s := range r.Variants {
		e.Variants = append(e.Variants, s.shown())
	}
	for _, s := range r.Cases {
		e.Cases = append(e.Cases, s.shown())
	}
	for _, c := range r.Comparisons {
		one := report.Comparison{
			First: c.First, Second: c.Second, Pairs: c.Pairs, OnlyFirst: c.OnlyFirst, OnlySecond: c.OnlySecond,
			P: c.P, Differs: c.Differs(), CostDiffers: c.CostDiffers(), USD: c.USD,
		}
		if c.Between != nil {
			one.Low, one.High = c.Between.Low, c.Between.High
		}
		e.Comparisons = append(e.Comparisons, one)
	}
	for _, one := range r.Results {
		if !one.Solved {
			e.Unsolved = append(e.Unsolved, report.Unsolved{Case: one.Case, Variant: one.Variant, Run: one.Run, Stale: len(one.Stale) > 0, Misses: one.Misses})
		}
	}
	var out bytes.Buffer
	err := report.WriteEvaluation(&out, e)
	return out.Bytes(), err
}

func (s Score) shown() report.Scored {
	return report.Scored{
		Case: s.Case, Variant: s.Variant, Solved: s.Solved, Runs: s.Runs, Low: s.Share.Low, High: s.Share.High,
		USD: s.USD, Seconds: s.Seconds, Calls: s.Calls, Revises: s.Revises,
	}
}
