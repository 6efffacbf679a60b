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

// lanes places the attempts on lanes. Pauses are shortened, since a run may
// wait for days, and short attempts are widened so that all can be seen.
func (w words) lanes() ([]lane, []string) {
	run := w.Run
	if len(run.Attempts) == 0 {
		return nil, nil
	}
	lanes, at := make([]lane, 0, len(w.Rows)), map[string]int{}
	for _, r := range w.Rows {
		if r.Took > 0 || r.Attempts > 0 || r.Left != "" {
			at[r.Rec.Name] = len(lanes)
			lanes = append(lanes, lane{Phase: line(r.Title, 60), Badge: badge{class(r.Standing()), w.status(r.Standing())}, Took: text.If(r.Took > 0 || r.Left == "", text.Duration(r.Took)), Left: line(r.Left.In(w), 200)})
		}
	}
	attempts := slices.Clone(run.Attempts)
	slices.SortStableFunc(attempts, func(a, b metadata.Attempt) int { return a.StartedAt.Compare(b.StartedAt) })
	a := axisOf(attempts)
	for i, one := range attempts {
		shown := w.attempt(one)
		if n, ok := at[one.Phase]; ok {
			lanes[n].Bars = append(lanes[n].Bars, bar{
				N: one.N, X: a.at(a.Starts[i]), Width: a.at(a.Widths[i]), Class: shown.Class,
				Name: text.Join(" · ", fmt.Sprintf("#%d %s", one.N, shown.Step), shown.Outcome.Word, text.Duration(took(one))),
			})
		}
	}
	for _, b := range w.Run.RollbackHistory {
		if n, ok := at[b.ToPhase]; ok {
			lanes[n].Backs = append(lanes[n].Backs, mark{a.at(a.when(attempts, b.Timestamp)), line(w.wayBack(b), 200)})
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

// review is what the newest review of a phase has said.
type review struct {
	Phase    string
	Verdict  badge
	Gates    []gate
	Findings []finding
	Reverted []string
}

type gate struct{ Gate, Why string }

type finding struct {
	Class                           string
	Severity, Change                badge
	ID, Title, Place                string
	Problem, Impact, Solution, Late string
}

// reviews gives what stood against the work of each phase, and what became of
// it. Phases of which nothing is to be said are left out.
func (w words) reviews() (all []review) {
	for _, r := range w.Rows {
		one := review{Phase: line(r.Title, 60)}
		if v := r.Rec.Verdict; v != nil {
			one.Verdict = badge{class(string(v.Verdict)), w.word("verdicts", string(v.Verdict))}
			for _, g := range v.FailedGates() {
				one.Gates = append(one.Gates, gate{line(g.Gate, 300), paragraph(g.Why)})
			}
			for _, of := range v.Findings {
				one.Findings = append(one.Findings, w.finding(of))
			}
		}
		for _, v := range r.Rec.Violations {
			one.Reverted = append(one.Reverted, w.Logged("reverted", "path", line(v.Path, 300), "why", line(v.Rule.In(w.Catalogue), 300)))
		}
		if len(one.Gates)+len(one.Findings)+len(one.Reverted) > 0 {
			all = append(all, one)
		}
	}
	return all
}

func (w words) finding(f metadata.Finding) finding {
	edge := class(string(f.Counts()))
	if f.Status == metadata.Fixed {
		edge = class(string(f.Status))
	}
	return finding{
		Class:    edge,
		Severity: badge{class(string(f.Counts())), w.word("severities", string(f.Counts()))},
		Change:   badge{class(string(f.Status)), w.word("changes", string(f.Status))},
		ID:       line(f.ID, 60), Title: line(f.Title, 300), Place: line(view.Place(f), 300),
		Problem: paragraph(f.Problem), Impact: paragraph(f.Impact), Solution: paragraph(f.Solution), Late: line(text.Capitalize(f.Late.In(w.Catalogue)), 1500),
	}
}

// check is how a command of a phase ended at its newest run.
type check struct {
	Phase, Run, Took, Exit string
	Result                 badge
	Output                 string
}

func (w words) checks() (all []check) {
	for _, r := range w.Rows {
		if r.Rec.Checks == nil {
			continue
		}
		for _, c := range r.Rec.Checks.Results {
			result := metadata.Fail
			if c.Pass {
				result = metadata.Pass
			}
			all = append(all, check{
				Phase: line(r.Title, 60), Run: line(c.Run, 500),
				Took: text.Duration(time.Duration(c.DurationMS) * time.Millisecond), Exit: line(view.CheckLine(w.Catalogue, c), 300),
				Result: badge{class(string(result)), w.word("verdicts", string(result))}, Output: ending(c.Output),
			})
		}
	}
	return all
}

// rollback is one way back that a run was taken.
type rollback struct {
	at             time.Time
	When, Way, Why string
	Link           string // to the comment that asked for it
}

func (w words) rollbacks() (all []rollback) {
	for _, b := range w.Run.RollbackHistory {
		all = append(all, rollback{b.Timestamp, text.Clock(b.Timestamp), line(w.wayBack(b), 300), paragraph(b.Reason), link(b.CommentURL)})
	}
	return all
}

func (w words) wayBack(b metadata.Rollback) string {
	return w.RolledBack(w.phase(b.FromPhase), w.phase(b.ToPhase), string(b.ToStep), text.Flat(b.By), b.TriggeredBy == metadata.Automatic)
}

// said is a decision of a person.
type said struct {
	at                     time.Time
	When, Who, Phase, What string
	Why                    string
}

// byPeople are the steps of decisions that people take.
var byPeople = []string{"approve", "skip", "pause", "cancel", "retry", "refresh", phases.IssueTaken}

func (w words) people() (all []said) {
	for _, d := range w.Run.Decisions {
		if d.By != "" || slices.Contains(byPeople, d.Step) {
			all = append(all, said{
				d.At, text.Clock(d.At), line(d.By, 60), w.phase(d.Phase), text.Join(" ", w.word("events", d.Step), line(d.Command, 200)), paragraph(d.Why.In(w.Catalogue)),
			})
		}
	}
	slices.SortStableFunc(all, func(a, b said) int { return a.at.Compare(b.at) })
	return all
}

// question is what an agent has asked people.
type question struct {
	ID, Phase, Text, Answer, By, When string
	Options                           []string
}

func (w words) questions() (all []question) {
	for _, q := range w.Run.Questions {
		one := question{line(q.ID, 60), w.phase(q.Phase), paragraph(q.Text), paragraph(q.Answer), line(q.By, 60), text.Clock(q.AskedAt), nil}
		for _, o := range q.Options {
			one.Options = append(one.Options, line(o, 300))
		}
		all = append(all, one)
	}
	return all
}

// merged is a merge of the base into the branch of a run: a moment of all lanes.
type merged struct {
	mark
	When string
}

func (w words) merges() (all []merged) {
	if len(w.Run.Attempts) == 0 {
		return nil
	}
	attempts := slices.Clone(w.Run.Attempts)
	slices.SortStableFunc(attempts, func(a, b metadata.Attempt) int { return a.StartedAt.Compare(b.StartedAt) })
	a := axisOf(attempts)
	for _, d := range w.Run.Decisions {
		if d.Step == "merge" {
			all = append(all, merged{mark{a.at(a.when(attempts, d.At)), line(d.Why.In(w.Catalogue), 300)}, text.Clock(d.At)})
		}
	}
	return all
}

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

func (w words) cost() cost {
	run := w.Run
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
	for _, r := range w.Rows {
		if r.Attempts > 0 {
			c.Phases = append(c.Phases, share{line(r.Title, 60), text.USD(r.USD), text.Tokens(r.Tokens), fmt.Sprint(r.Attempts), text.Duration(r.Took), part(r.USD, run.Cost.USD)})
		}
	}
	c.Models = w.byModel()
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
func (w words) byModel() (all []share) {
	type sum struct {
		metadata.Usage
		calls int
		ms    int64
	}
	of := map[string]sum{}
	for _, a := range w.Run.Attempts {
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
	for _, name := range names {
		s := of[name]
		all = append(all, share{name, text.USD(s.USD), text.Tokens(s.InputTokens + s.OutputTokens), fmt.Sprint(s.calls), text.Duration(time.Duration(s.ms) * time.Millisecond), part(s.USD, w.Run.Cost.USD)})
	}
	return all
}
