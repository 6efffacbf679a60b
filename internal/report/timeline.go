package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
)

// lane is the bars of one phase.
type lane struct {
	Phase string
	Badge badge
	Took  string
	Left  string // why the phase is left out now
	Bars  []bar
	Backs []mark // rollbacks to this phase
}

// bar is an attempt. The lane is wide units wide.
type bar struct {
	N           int
	X, Width    string
	Class, Name string
}

// mark is a moment.
type mark struct{ X, Name string }

const wide = 1000

// lanesOf places the attempts on lanes. Pauses are shortened, since a run may
// wait for days, and short attempts are widened so that all can be seen.
func lanesOf(w words, run metadata.Run, rows []view.Row) ([]lane, []string) {
	if len(run.Attempts) == 0 {
		return nil, nil
	}
	lanes, at := make([]lane, 0, len(rows)), map[string]int{}
	for _, r := range rows {
		if r.Took > 0 || r.Attempts > 0 || r.Left != "" {
			at[r.Rec.Name] = len(lanes)
			lanes = append(lanes, lane{Phase: line(r.Title, 60), Badge: badge{class(r.Standing()), w.status(r.Standing())}, Took: text.If(r.Took > 0 || r.Left == "", text.Duration(r.Took)), Left: line(r.Left.In(w), 200)})
		}
	}
	attempts := slices.Clone(run.Attempts)
	slices.SortStableFunc(attempts, func(a, b metadata.Attempt) int { return a.StartedAt.Compare(b.StartedAt) })
	a := axisOf(attempts)
	for i, one := range attempts {
		shown := attemptOf(w, run, one)
		if n, ok := at[one.Phase]; ok {
			lanes[n].Bars = append(lanes[n].Bars, bar{
				N: one.N, X: a.at(a.Starts[i]), Width: a.at(a.Widths[i]), Class: shown.Class,
				Name: text.Join(" · ", fmt.Sprintf("#%d %s", one.N, shown.Step), shown.Outcome.Word, text.Duration(took(one))),
			})
		}
	}
	for _, b := range run.RollbackHistory {
		if n, ok := at[b.ToPhase]; ok {
			lanes[n].Backs = append(lanes[n].Backs, mark{a.at(a.when(attempts, b.Timestamp)), line(wayBackOf(w, b), 200)})
		}
	}
	return lanes, []string{text.Clock(attempts[0].StartedAt), text.Clock(over(attempts))}
}

// axisOf is the axis of the attempts of a run. Pauses are shortened, and short attempts
// are widened so that all can be seen.
func axisOf(attempts []metadata.Attempt) axis {
	var work time.Duration
	for _, one := range attempts {
		work += took(one)
	}
	return axis{view.AxisOf(attempts, took, max(work/time.Duration(4*len(attempts)), time.Millisecond), work/50)}
}

// axis is where the attempts are on a lane.
type axis struct{ view.Axis }

// over is when the last of some attempts was over.
func over(attempts []metadata.Attempt) (last time.Time) {
	for _, one := range attempts {
		if end := one.StartedAt.Add(took(one)); end.After(last) {
			last = end
		}
	}
	return last
}

// at gives the place of a moment in units of the lane.
func (a axis) at(d time.Duration) string {
	return fmt.Sprintf("%.1f", float64(d)/float64(a.All)*wide)
}

// when gives the place of something between attempts.
func (a axis) when(attempts []metadata.Attempt, t time.Time) time.Duration {
	i := slices.IndexFunc(attempts, func(one metadata.Attempt) bool { return !one.StartedAt.Before(t) })
	if i < 0 {
		return a.All
	}
	return a.Starts[i]
}
