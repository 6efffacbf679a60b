package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Tally is what runs came to. Lists are never nil.
type Tally struct {
	Runs     int            `json:"runs"`
	Statuses map[string]int `json:"statuses"` // how many runs have each
	Dollars
	Completed Sum            `json:"completed"`
	Phases    []Phase        `json:"phases"`    // those that failed most often first
	Gates     []Gate         `json:"gates"`     // likewise
	Reviewers []Reviewer     `json:"reviewers"` // those that missed most first
	Models    []Model        `json:"models"`    // the dearest first
	Missed    []Missed       `json:"missed"`    // what people had to find, the newest first
	Stops     map[string]int `json:"stops"`     // why runs do not go on, by code
}

// Sum is what some runs cost, and how long they took from beginning to end.
type Sum struct {
	Runs          int     `json:"runs"`
	Dollars               // of one, at the median; 0 for none. Unpriced are those of all
	Seconds       float64 `json:"seconds"`        // likewise
	Attempts      float64 `json:"attempts"`       // likewise; calls of agents
	WithoutPeople int     `json:"without_people"` // of them, no person has taken back anything
}

// Phase is what a phase came to in all runs. Parts of a phase count as the phase.
type Phase struct {
	Name       string `json:"name"`
	Runs       int    `json:"runs"`   // in which it began
	Failed     int    `json:"failed"` // runs in which it has failed or a run has stopped at it for good
	Reviews    int    `json:"reviews"`
	Rejected   int    `json:"rejected"` // of these
	Checks     int    `json:"checks"`
	ChecksFail int    `json:"checks_failed"` // of these
	Unusable   int    `json:"unusable"`      // calls that gave nothing that could be used
	ByPeople   int    `json:"rollbacks_by_people"`
	ByItself   int    `json:"rollbacks_by_itself"`
	Dollars
	Seconds float64 `json:"seconds"` // of work
}

// Gate is how often reviews judged a gate, and how often the work did not pass it.
type Gate struct {
	Phase  string `json:"phase"`
	Gate   string `json:"gate"`
	Judged int    `json:"judged"`
	Failed int    `json:"failed"`
}

// Reviewer is an agent with a model that reviews.
type Reviewer struct {
	Agent    string `json:"agent"`
	Model    string `json:"model"`
	Reviews  int    `json:"reviews"`
	Rejected int    `json:"rejected"`
	Missed   int    `json:"missed"` // what it has passed and a person has not
}

// Model is what a model was used for. Tokens are input, cached input and output.
type Model struct {
	Model  string `json:"model"`
	Calls  int    `json:"calls"`
	Tokens int64  `json:"tokens"`
	Dollars
}

// Missed is something that a person had to find although a review had passed it.
type Missed struct {
	Issue   string    `json:"issue"`
	Phase   string    `json:"phase"`
	At      time.Time `json:"at"`
	By      string    `json:"by,omitempty"`
	What    string    `json:"what"` // the reason of a rollback, or a comment on a line
	File    string    `json:"file,omitempty"`
	Attempt int       `json:"attempt"` // the review that has passed it
	Agent   string    `json:"agent"`
	Model   string    `json:"model,omitempty"`
}

// TallyOf adds up runs, of which there may be none.
func TallyOf(runs []metadata.Run) Tally {
	c := counts{
		Tally:  Tally{Runs: len(runs), Statuses: map[string]int{}, Stops: map[string]int{}, Missed: []Missed{}},
		phases: map[string]*Phase{}, gates: map[[2]string]*Gate{}, reviewers: map[[2]string]*Reviewer{}, models: map[string]*Model{},
	}
	for i := range runs {
		c.run(&runs[i])
	}
	t := c.Tally
	t.Completed.USD, t.Completed.Seconds, t.Completed.Attempts = metadata.Rounded(median(c.usd)), median(c.seconds), median(c.calls)
	slices.SortStableFunc(t.Missed, func(a, b Missed) int { return b.At.Compare(a.At) })
	t.Phases = ordered(c.phases, func(a, b Phase) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Rejected, a.Rejected), cmp.Compare(b.USD, a.USD), cmp.Compare(a.Name, b.Name))
	})
	t.Gates = ordered(c.gates, func(a, b Gate) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Judged, a.Judged), cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Gate, b.Gate))
	})
	t.Reviewers = ordered(c.reviewers, func(a, b Reviewer) int {
		return cmp.Or(cmp.Compare(b.Missed, a.Missed), cmp.Compare(b.Reviews, a.Reviews), cmp.Compare(a.Agent+" "+a.Model, b.Agent+" "+b.Model))
	})
	t.Models = ordered(c.models, func(a, b Model) int {
		return cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Model, b.Model))
	})
	return t
}

// ordered gives the values of a map in an order.
func ordered[K comparable, V any](all map[K]*V, order func(a, b V) int) []V {
	out := []V{}
	for _, v := range all {
		out = append(out, *v)
	}
	slices.SortFunc(out, order)
	return out
}

// counts are the figures so far.
type counts struct {
	Tally
	usd, seconds, calls []float64 // of completed runs

	phases    map[string]*Phase
	gates     map[[2]string]*Gate
	reviewers map[[2]string]*Reviewer
	models    map[string]*Model
}

// of gives the figures of a key, which begin with first.
func of[K comparable, V any](all map[K]*V, key K, first V) *V {
	if all[key] == nil {
		all[key] = &first
	}
	return all[key]
}

func (c *counts) phase(name string) *Phase { return of(c.phases, name, Phase{Name: name}) }

func (c *counts) reviewer(agent, model string) *Reviewer {
	return of(c.reviewers, [2]string{agent, model}, Reviewer{Agent: agent, Model: model})
}

// whole is the phase that an attempt counts as.
func whole(run *metadata.Run, name string) string {
	if rec := run.Phase(name); rec != nil {
		return cmp.Or(phases.WholeOf(rec), name)
	}
	return name
}

// run counts a run.
func (c *counts) run(run *metadata.Run) {
	c.Statuses[string(run.Status)]++
	cost := DollarsOf(*run)
	c.Dollars = c.Plus(cost)
	if run.Stop != nil && run.Status != metadata.Completed {
		c.Stops[string(run.Stop.Code)]++
	}
	for _, m := range missed(run) {
		c.Missed = append(c.Missed, m)
		c.reviewer(m.Agent, m.Model).Missed++
	}
	began, failed := map[string]bool{}, map[string]bool{}
	for i := range run.Attempts {
		a := &run.Attempts[i]
		name := whole(run, a.Phase)
		began[name] = true
		c.attempt(c.phase(name), a)
		if a.Step == metadata.Review && a.Verdict != "" {
			c.judged(run, a, name)
		}
	}
	for _, rec := range run.Phases {
		if rec.Status == metadata.PhaseFailed {
			failed[whole(run, rec.Name)] = true
		}
	}
	if run.Stop != nil && run.Status == metadata.Failed {
		failed[whole(run, run.Stop.Phase)] = true
	}
	for name := range began {
		p := c.phase(name)
		p.Runs, p.Failed = p.Runs+1, p.Failed+text.Count(failed[name])
	}
	byPeople := 0
	for _, back := range run.RollbackHistory {
		p, manual := c.phase(whole(run, back.ToPhase)), text.Count(back.TriggeredBy == metadata.Manual)
		p.ByPeople, p.ByItself, byPeople = p.ByPeople+manual, p.ByItself+1-manual, byPeople+manual
	}
	if run.Status != metadata.Completed {
		return
	}
	c.Completed.Runs++
	c.Completed.Unpriced += cost.Unpriced
	c.Completed.WithoutPeople += text.Count(byPeople == 0)
	c.usd = append(c.usd, run.Cost.USD)
	c.seconds = append(c.seconds, max(run.UpdatedAt.Sub(run.CreatedAt), 0).Seconds())
	c.calls = append(c.calls, float64(phases.SpentOf(*run).Attempts))
}

// attempt counts a call of an agent, or a run of checks.
func (c *counts) attempt(p *Phase, a *metadata.Attempt) {
	p.Dollars = p.Plus(dollarsIn(*a))
	p.Seconds += time.Duration(a.DurationMS * int64(time.Millisecond)).Seconds()
	switch {
	case a.Step == metadata.Check && a.Verdict != "":
		p.Checks, p.ChecksFail = p.Checks+1, p.ChecksFail+text.Count(a.Verdict == metadata.Fail)
	case a.Status == metadata.Blocked || a.Status == metadata.Unsuccessful:
		p.Unusable++
	}
	if phases.IsCall(*a) {
		m := of(c.models, a.Model, Model{Model: a.Model})
		m.Calls++
		m.Tokens += a.Usage.InputTokens + a.Usage.CachedTokens + a.Usage.OutputTokens
		m.Dollars = m.Plus(dollarsIn(*a))
	}
}

// judged counts a review that has come to a verdict. That it judged the gates which the
// newest review of the phase judged is assumed: a record has no others.
func (c *counts) judged(run *metadata.Run, a *metadata.Attempt, name string) {
	r, p := c.reviewer(a.Agent, a.Model), c.phase(name)
	failed := text.Count(a.Verdict == metadata.Fail)
	r.Reviews, r.Rejected = r.Reviews+1, r.Rejected+failed
	p.Reviews, p.Rejected = p.Reviews+1, p.Rejected+failed
	gates := slices.Clone(a.FailedGates)
	if rec := run.Phase(a.Phase); rec != nil && rec.Verdict != nil {
		for _, g := range rec.Verdict.Gates {
			if !slices.Contains(gates, g.Gate) {
				gates = append(gates, g.Gate)
			}
		}
	}
	for _, gate := range gates {
		g := of(c.gates, [2]string{name, gate}, Gate{Phase: name, Gate: gate})
		g.Judged, g.Failed = g.Judged+1, g.Failed+text.Count(slices.Contains(a.FailedGates, gate))
	}
}

// missed gives what people had to find in a run that a review had passed: why they have
// taken phases back, and their comments on lines.
func missed(run *metadata.Run) (all []Missed) {
	order := phases.InOrder(*run)
	add := func(phase string, m Missed) {
		if a := passed(run, phase, order, m.At); a != nil {
			m.Issue, m.Phase, m.Attempt, m.Agent, m.Model = run.IssueNumber, phase, a.N, a.Agent, a.Model
			all = append(all, m)
		}
	}
	reviews := map[time.Time]bool{}
	for _, v := range run.Reviews {
		for _, comment := range v.Comments {
			f := comment.Finding
			add(v.Phase, Missed{At: v.At, By: v.By, What: cmp.Or(f.Problem, f.Title), File: f.File})
		}
		reviews[v.At] = len(v.Comments) > 0
	}
	for _, back := range run.RollbackHistory {
		if back.TriggeredBy == metadata.Manual && !reviews[back.Timestamp] { // its comments say it already
			add(back.ToPhase, Missed{At: back.Timestamp, By: back.By, What: back.Reason})
		}
	}
	return all
}

// passed gives the newest review of a phase before a time, if it has passed the work.
func passed(run *metadata.Run, phase string, order func(a, b time.Time) int, before time.Time) *metadata.Attempt {
	for _, a := range slices.Backward(run.Attempts) {
		switch {
		case a.Phase != phase, a.Step != metadata.Review, a.Verdict == "", a.EndedAt == nil, order(a.StartedAt, before) > 0:
		case a.Verdict == metadata.Fail:
			return nil
		default:
			return &a
		}
	}
	return nil
}

// median gives the value in the middle, or between the two there; 0 for none.
func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}
