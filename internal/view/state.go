// Package view is where a run stands: a row for every phase, what is open,
// which commands take it further, and its picture as a graph. Pages on GitHub and
// terminals show the same.
package view

import (
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// State is where a run stands, computed once from its record.
type State struct {
	phases.Course // with a plan
	Rows          []Row
	Now           phases.Decision // what it does, what comes next, or where it stopped
	At            Row             // the phase of that; empty: none
	Model         string          // that is asked for that; "" for the agent's own choice
	Done          int             // phases that need nothing more
	All           int             // phases, of which parts are none
}

// StateOf says where a run stands, also where its plan is not known.
func StateOf(c phases.Course) State {
	c.Plan = Whole(c.Plan)
	s := State{Course: c, Rows: rowsOf(c), Now: doing(c)}
	s.At, s.Model = s.Row(s.Now.Phase), ModelOf(c, s.Now)
	for _, r := range s.Rows {
		if r.Part == "" {
			s.All, s.Done = s.All+1, s.Done+text.Count(r.Rec.Status == metadata.PhaseCompleted || r.Rec.Status == metadata.PhaseSkipped)
		}
	}
	return s
}

// Code is that of why the run does not go on, or "".
func (s State) Code() metadata.Code {
	switch {
	case s.Run.Stop != nil:
		return s.Run.Stop.Code
	case s.Run.Status == metadata.Completed:
		return metadata.Done
	}
	return ""
}

// Row finds a phase, or gives an empty row.
func (s State) Row(phase string) Row {
	at := slices.IndexFunc(s.Rows, func(r Row) bool { return r.Rec.Name == phase })
	if at < 0 {
		return Row{}
	}
	return s.Rows[at]
}

// Took is how long agents and checks have been at work.
func (s State) Took() (all time.Duration) {
	for _, r := range s.Rows {
		all += r.Took
	}
	return all
}

// Row is a phase as every view shows it: the plan's phase, its record, and
// what its attempts add up to.
type Row struct {
	Number   int    // of the phase, counts from 1
	Part     string // of a part of the phase: the id of its task; empty: all of it
	Title    string
	Rec      metadata.Phase
	Folder   string
	Attempts int // calls of agents
	Dollars
	Tokens   int64
	Took     time.Duration      // of agents and checks
	Waits    metadata.Reason    // of a part that has not begun: what for
	Given    string             // the document of people that is the work of the phase; "" if an agent wrote it
	Approval bool               // it is completed, and waits for a person to approve it
	Left     metadata.Reason    // why skip_if has left the phase out; "" if it has not
	open                        // nothing once the phase is done
	Suggests []metadata.Finding // what a review that passed had to say
}

// open is what stands against the work of a phase.
type open struct {
	Findings   []metadata.Finding // blockers first
	Gates      []metadata.Gate
	Checks     []metadata.CheckResult
	Violations []metadata.Violation // changes that were taken back
}

// rowsOf gives the phases of the record in order, each with its parts behind it, then those that only the plan knows.
func rowsOf(c phases.Course) (rows []Row) {
	asked := phases.Approvals(c)
	number := 0
	add := func(rec metadata.Phase, part string) {
		row := Row{Number: number, Part: part, Title: TitleOf(c.Plan, rec.Name), Rec: rec, Waits: phases.WhyLaneWaits(c, &rec), Left: phases.WhyLeftOut(c.Run, rec.Name), Approval: slices.Contains(asked, rec.Name)}
		switch found := OpenFindings(rec.Verdict); rec.Status {
		case metadata.PhaseCompleted:
			row.Suggests = found
		case metadata.PhaseSkipped:
		default:
			row.open = open{found, rec.Verdict.FailedGates(), failedChecks(rec), rec.Violations}
		}
		if n := rec.Written; n > 0 && n <= len(c.Run.Attempts) && c.Run.Attempts[n-1].Agent == metadata.Given {
			row.Given = c.Run.ExternalDocuments[rec.Name]
		}
		if p := c.Plan.Phase(rec.Name); p != nil {
			row.Folder = p.Folder
		}
		if t := phases.TaskOf(&c.Run, &rec); t != nil {
			row.Title += ": " + t.Title
		}
		for _, a := range c.Run.Attempts {
			if a.Phase == rec.Name {
				row.Attempts += text.Count(phases.IsCall(a))
				row.Dollars = row.Plus(dollarsIn(a))
				row.Tokens += a.Usage.InputTokens + a.Usage.OutputTokens
				row.Took += time.Duration(a.DurationMS) * time.Millisecond
			}
		}
		rows = append(rows, row)
	}
	all := slices.Clone(c.Run.Phases)
	for _, p := range c.Plan.Phases {
		if c.Run.Phase(p.Name) == nil {
			all = append(all, metadata.Phase{Name: p.Name, Status: metadata.PhasePending})
		}
	}
	for _, rec := range all {
		if partOf(c.Run, rec.Name) != "" {
			continue
		}
		number++
		add(rec, "")
		for _, part := range c.Run.Phases {
			if phases.OwnsPart(rec.Name, &part) {
				add(part, partOf(c.Run, part.Name))
			}
		}
	}
	return rows
}

// partOf gives the id of the task that a part of a phase does, or did; "" for a
// phase.
func partOf(run metadata.Run, phase string) string {
	whole, part, _ := strings.Cut(phase, ".")
	if run.Phase(whole) == nil {
		return ""
	}
	return part
}

// TitleOf is what people read in the place of the name of a phase: the title that
// the pipeline gives it, or one made of the name. A part is named by its task, too.
func TitleOf(plan *pipelines.Pipeline, phase string) string {
	if whole, part, isPart := strings.Cut(phase, "."); isPart {
		return TitleOf(plan, whole) + " " + part
	}
	if p := plan.Phase(phase); p != nil && p.Title != "" {
		return p.Title
	}
	return text.Capitalize(text.Words(phase))
}

// Round is the round of review that the phase is in, or was done with; 0
// before it begins.
func (r Row) Round() int {
	if r.Rec.Status == metadata.PhaseInProgress {
		return r.Rec.Round + 1
	}
	return r.Rec.Round
}

// Whole gives a plan to show a run with, also where there is none.
func Whole(plan *pipelines.Pipeline) *pipelines.Pipeline {
	if plan == nil {
		return &pipelines.Pipeline{}
	}
	return plan
}

// doing says what a running run does: the attempt that is open, else what will
// be decided next. For a run that has stopped it is where it stopped.
func doing(c phases.Course) phases.Decision {
	if c.Run.Status != metadata.Running {
		d := phases.Decision{Phase: c.Run.CurrentPhase}
		if s := c.Run.Stop; s != nil {
			d.Do, d.Phase, d.Code, d.Why = phases.Do(s.Step), s.Phase, s.Code, s.Why
		}
		return d
	}
	if n := len(c.Run.Attempts); n > 0 && c.Run.Attempts[n-1].Status == metadata.Started {
		a := c.Run.Attempts[n-1]
		d := phases.Decision{Do: phases.Do(a.Step), Phase: a.Phase, Agent: a.Agent}
		for _, decided := range c.Run.Decisions {
			if decided.Attempt == a.N {
				d.Why = decided.Why // of several the newest
			}
		}
		return d
	}
	return phases.Decide(c)
}

// ModelOf gives the model that a decision's agent is asked for, or "" for the
// agent's own choice.
func ModelOf(c phases.Course, d phases.Decision) string {
	p := c.Plan.Phase(d.Phase)
	if p == nil || d.Agent == "" {
		return ""
	}
	s := phases.SettingsIn(c, p, d.Step())
	if s.Agent == d.Agent {
		return s.Model
	}
	return c.Plan.Agents[d.Agent].Models[s.Tier]
}

// OpenFindings gives the findings of a review that are not fixed, blockers first.
func OpenFindings(v *metadata.Verdict) []metadata.Finding {
	return slices.Concat(v.OpenBlockers(), v.OpenSuggestions())
}

// failedChecks gives the checks that fail on the newest work.
func failedChecks(rec metadata.Phase) []metadata.CheckResult {
	if !rec.ChecksFail() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(rec.Checks.Results), func(c metadata.CheckResult) bool { return c.Holds() })
}

// BrokenSetup gives the command of the setup that has stopped a run, or nil.
func BrokenSetup(run metadata.Run) *metadata.CheckResult {
	if run.Stop == nil || run.Stop.Code != metadata.SetupFailed {
		return nil
	}
	return phases.Broken(run.Setup)
}

// CutOff names the phases and parts whose newest work is that of a call which was cut off at
// the limit of its turns.
func CutOff(run metadata.Run) (names []string) {
	for i := range run.Phases {
		if rec := &run.Phases[i]; phases.CutOff(run, rec) {
			names = append(names, rec.Name)
		}
	}
	return names
}

// Dollars is what calls have cost.
type Dollars struct {
	USD      float64 `json:"cost_usd"`
	Unpriced int     `json:"unpriced_calls,omitempty"` // that are not in it: nobody knows what they cost
}

func dollarsIn(a metadata.Attempt) Dollars {
	return Dollars{a.Usage.USD, text.Count(a.Usage.Unknown)}
}

// DollarsOf is what a run has cost.
func DollarsOf(run metadata.Run) Dollars {
	d := Dollars{USD: metadata.Rounded(run.Cost.USD)}
	for _, a := range run.Attempts {
		d.Unpriced += dollarsIn(a).Unpriced
	}
	return d
}

// Plus adds up two sums.
func (d Dollars) Plus(o Dollars) Dollars {
	return Dollars{metadata.Rounded(d.USD + o.USD), d.Unpriced + o.Unpriced}
}

// CostShort is a sum in a table, such as $1.50+? where calls are not in it.
func (d Dollars) CostShort() string { return text.USD(d.USD) + text.If(d.Unpriced > 0, "+?") }

// CostIn is a sum in words.
func (d Dollars) CostIn(language string) string { return text.USD(d.USD) + d.besides(language) }

func (d Dollars) besides(language string) string {
	return text.If(d.Unpriced > 0, " + "+prompts.Words(language).Shown("unpriced", "n", d.Unpriced))
}

// Unpriced says, behind a sum, how many calls are not in it because nobody knows what they cost; "" if there are none.
func Unpriced(run metadata.Run) string { return DollarsOf(run).besides(run.Language) }

// Spent says what the run has cost, beside the limit that applies.
func Spent(run metadata.Run) string {
	c, all := prompts.Words(run.Language), text.USD(run.Cost.USD)
	switch used, limit := Budgeted(run); {
	case run.Budget.USD > 0 && run.Budget.Since.USD > 0:
		all = c.Shown("used of newest", "all", all, "used", text.USD(used), "limit", text.USD(limit))
	case limit > 0:
		all = c.Shown("used of", "used", text.USD(used), "limit", text.USD(limit))
	}
	return all + Unpriced(run)
}

// Budgeted gives what counts against the limit of what a run may cost, and that limit; 0: there is none.
func Budgeted(run metadata.Run) (used, limit float64) {
	if b := run.Budget; b.USD > 0 {
		return run.Cost.USD - b.Since.USD, b.USD
	}
	return phases.SpentOnIssue(run), run.Budget.IssueUSD
}

// Opened gives the changes of protected paths that wait for a person.
func Opened(c phases.Course) (all []metadata.Opened) {
	for _, rec := range c.Run.Phases {
		if phase, _, _, ok := phases.Approval(c, rec.Name); ok && phase == rec.Name {
			all = append(all, rec.Opened...)
		}
	}
	return all
}

// axis says where attempts are on a line of time. Those at work at the same time are as
// far apart as they were; where nobody was at work, time is short.
type axis struct {
	Attempts       []metadata.Attempt // in the order in which they began
	Starts, Widths []time.Duration    // of each
	All            time.Duration
}

// AxisOf places attempts. Took says how long each lasted; none is narrower than least, and no
// pause longer than pause.
func AxisOf(attempts []metadata.Attempt, took func(metadata.Attempt) time.Duration, least, pause time.Duration) (a axis) {
	var began, end time.Time // of what is at work at the same time
	var from time.Duration   // where that begins
	a.Attempts = slices.SortedStableFunc(slices.Values(attempts), func(a, b metadata.Attempt) int { return a.StartedAt.Compare(b.StartedAt) })
	for i, one := range a.Attempts {
		if i == 0 || !one.StartedAt.Before(end) {
			if i > 0 {
				a.All += min(one.StartedAt.Sub(end), pause)
			}
			began, from = one.StartedAt, a.All
		}
		start, width := from+one.StartedAt.Sub(began), max(took(one), least)
		a.Starts, a.Widths = append(a.Starts, start), append(a.Widths, width)
		a.All = max(a.All, start+width)
		if over := one.StartedAt.Add(took(one)); over.After(end) {
			end = over
		}
	}
	return a
}

// Together says how long a run has taken, and how long it would have if nothing had been
// done at the same time. It is "" if nothing was, or if that saved less than a second.
func Together(c prompts.Catalogue, run metadata.Run) string {
	took, alone := phases.TimeTogether(run)
	if alone-took < time.Second {
		return ""
	}
	return c.Shown("at once", "took", c.Duration(took), "alone", c.Duration(alone))
}
