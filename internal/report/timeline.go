package report

import (
	"cmp"
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

// lane is the bars of one phase.
type lane struct {
	Phase string
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
type mark struct {
	X, Name string
	At      time.Time
}

const wide = 1000

// timeline is where attempts, rollbacks and merges of the base are.
type timeline struct {
	Lanes      []lane
	Merges     []mark // of all lanes
	Begin, End time.Time
}

// timeline places the attempts on lanes. Pauses are shortened, since a run may
// wait for days, and short attempts are widened so that all can be seen.
func (w words) timeline() (t timeline) {
	run := w.Run
	if len(run.Attempts) == 0 {
		return t
	}
	at := map[string]int{}
	for _, r := range w.Rows {
		if r.Took > 0 || r.Attempts > 0 || r.Left != "" {
			at[r.Rec.Name] = len(t.Lanes)
			t.Lanes = append(t.Lanes, lane{Phase: line(r.Title, 60), Took: text.If(r.Took > 0 || r.Left == "", text.Duration(r.Took)), Left: line(r.Left.In(w), 200)})
		}
	}
	var work time.Duration
	for _, one := range run.Attempts {
		work += took(one)
	}
	a := view.AxisOf(run.Attempts, took, max(work/time.Duration(4*len(run.Attempts)), time.Millisecond), work/50)
	place := func(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/float64(a.All)*wide) }
	order := phases.InOrder(run)
	moment := func(when time.Time, name string, most int) mark {
		x := a.All
		if i := slices.IndexFunc(a.Attempts, func(one metadata.Attempt) bool { return order(one.StartedAt, when) >= 0 }); i >= 0 {
			x = a.Starts[i]
		}
		return mark{place(x), line(name, most), when}
	}
	t.Begin = a.Attempts[0].StartedAt
	for i, one := range a.Attempts {
		if end := one.StartedAt.Add(took(one)); end.After(t.End) {
			t.End = end
		}
		if n, ok := at[one.Phase]; ok {
			outcome := w.outcome(one)
			t.Lanes[n].Bars = append(t.Lanes[n].Bars, bar{
				N: one.N, X: place(a.Starts[i]), Width: place(a.Widths[i]), Class: outcome.Class,
				Name: text.Join(" · ", fmt.Sprintf("#%d %s", one.N, w.word("steps", one.Step)), outcome.Word, text.Duration(took(one))),
			})
		}
	}
	for _, b := range run.RollbackHistory {
		if n, ok := at[b.ToPhase]; ok {
			t.Lanes[n].Backs = append(t.Lanes[n].Backs, moment(b.Timestamp, w.wayBack(b), 200))
		}
	}
	for _, d := range run.Decisions {
		if d.Step == "merge" {
			t.Merges = append(t.Merges, moment(d.At, d.Why.In(w.Catalogue), 300))
		}
	}
	return t
}

// reviewed are the phases against whose work something stood.
func (w words) reviewed() []view.Row {
	return slices.DeleteFunc(slices.Clone(w.Rows), func(r view.Row) bool {
		v := r.Rec.Verdict
		return len(v.FailedGates())+len(r.Rec.Violations) == 0 && (v == nil || len(v.Findings) == 0)
	})
}

// checked are the phases of which a command has run.
func (w words) checked() []view.Row {
	return slices.DeleteFunc(slices.Clone(w.Rows), func(r view.Row) bool { return r.Rec.Checks == nil || len(r.Rec.Checks.Results) == 0 })
}

func (w words) wayBack(b metadata.Rollback) string {
	return w.RolledBack(w.phase(b.FromPhase), w.phase(b.ToPhase), string(b.ToStep), text.Flat(b.By), b.TriggeredBy == metadata.Automatic)
}

// byPeople are the steps of decisions that people take.
var byPeople = []string{"approve", "skip", "pause", "cancel", "retry", "refresh", phases.IssueTaken}

// people are the decisions of people, in their order.
func (w words) people() []metadata.Decision {
	return slices.DeleteFunc(slices.Clone(w.Run.Decisions), func(d metadata.Decision) bool { return d.By == "" && !slices.Contains(byPeople, d.Step) })
}

// share is a part of what was used.
type share struct {
	Name string
	view.Dollars
	Tokens int64
	Calls  int
	Took   time.Duration
}

// part is a share of 100 as an SVG has it.
func part(v, whole float64) string {
	p := v / whole * 100
	if math.IsNaN(p) || p <= 0 {
		p = 0
	}
	return fmt.Sprintf("%.1f", min(p, 100))
}

// budgetUsed is the part of the budget that is used; "" without one.
func (w words) budgetUsed() string {
	used, limit := view.Budgeted(w.Run)
	return text.If(limit > 0, part(used, limit))
}

// cacheHits is the share of what was read that came from the cache.
func (w words) cacheHits() string {
	input, cached := float64(w.Run.Cost.InputTokens), float64(w.Run.Cost.CachedTokens)
	return text.If(cached > 0 && input+cached > 0, fmt.Sprintf("%.0f %%", 100*cached/(input+cached)))
}

// byPhase adds up what each phase has used.
func (w words) byPhase() (all []share) {
	for _, r := range w.Rows {
		if r.Attempts > 0 {
			all = append(all, share{line(r.Title, 60), r.Dollars, r.Tokens, r.Attempts, r.Took})
		}
	}
	return all
}

// byModel adds up what each model was used for, the dearest first.
func (w words) byModel() []share {
	of := map[string]share{}
	for _, a := range w.Run.Attempts {
		if phases.IsCall(a) {
			name := line(text.Join(" · ", a.Agent, a.Model), 100)
			s := of[name]
			of[name] = share{name, s.Plus(view.Dollars{USD: a.Usage.USD, Unpriced: text.Count(a.Usage.Unknown)}), s.Tokens + a.Usage.InputTokens + a.Usage.OutputTokens, s.Calls + 1, s.Took + took(a)}
		}
	}
	return slices.SortedFunc(maps.Values(of), func(a, b share) int {
		return cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(a.Name, b.Name))
	})
}
