package terminal

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// news is one event of a run, flat: a line of the JSON log, of which the other views make theirs. Its texts are as they
// were said.
type news struct {
	prompts.Catalogue `json:"-"` // in the language of the run
	rules             []metadata.Reason
	said              bool // the end of the call before, or of a stop the newest, has given the same reason

	Time   time.Time `json:"time"`
	Event  string    `json:"event"` // begin, end, activity, merge of the base, skip_if before a phase, or stop when the run goes no further; left is another, see left
	Issue  string    `json:"issue"`
	Phase  string    `json:"phase,omitempty"`
	Number int       `json:"number,omitzero"` // of the phase, counts from 1
	Phases int       `json:"phases"`
	Step   string    `json:"step,omitempty"`
	Round  int       `json:"round,omitzero"`
	Agent  string    `json:"agent,omitempty"`
	Model  string    `json:"model,omitempty"`

	// What begins.
	Why       string          `json:"why,omitempty"`     // in English
	Because   metadata.Reason `json:"because,omitempty"` // the same as the record has it
	Resumed   bool            `json:"resumed,omitzero"`  // in a session of an earlier attempt
	Again     bool            `json:"again,omitzero"`    // asked once more for something usable
	DelayMS   int64           `json:"delay_ms,omitzero"`
	TakenBack string          `json:"taken_back,omitempty"` // the reason of a rollback that is not met yet
	Status    string          `json:"status,omitempty"`     // of the attempt, or of the run that stopped
	Code      metadata.Code   `json:"reason_code,omitempty"`

	// What ended.
	Class      metadata.Class       `json:"class,omitempty"`
	Files      []string             `json:"files,omitempty"`
	Diff       *metadata.Diff       `json:"diff,omitempty"`
	Verdict    metadata.Ruling      `json:"verdict,omitempty"`
	Findings   []metadata.Finding   `json:"findings,omitempty"` // open ones
	Gates      []metadata.Gate      `json:"failed_gates,omitempty"`
	Checks     []checkNews          `json:"checks,omitempty"`
	Violations []view.Reverted      `json:"violations,omitempty"` // changes that were taken back
	Stderr     string               `json:"stderr,omitempty"`     // the end of what the agent's program wrote there
	Warnings   []string             `json:"warnings,omitempty"`   // what was odd about the call and did not stop it
	Rules      []string             `json:"rules,omitempty"`      // that took effect, with what each did
	PhaseIs    metadata.PhaseStatus `json:"phase_status,omitempty"`
	WentBack   string               `json:"went_back,omitempty"` // where the run went back to by itself because of that
	Tokens     int64                `json:"tokens,omitzero"`
	USD        float64              `json:"cost_usd,omitzero"`
	DurationMS int64                `json:"duration_ms,omitzero"`
	Activity   string               `json:"activity,omitempty"`
	Total      *newsTotal           `json:"total,omitempty"` // with stop
}

// checkNews is how one check ended; in JSON without its output.
type checkNews struct {
	result      metadata.CheckResult
	Name        string `json:"name"`
	Pass        bool   `json:"pass"`
	ExitCode    int    `json:"exit_code"`
	FailsBefore bool   `json:"fails_before,omitzero"` // in the same way, before anything was changed
	Flaky       bool   `json:"flaky,omitzero"`
}

// newsTotal is what a run came to.
type newsTotal struct {
	Completed int   `json:"completed"`
	Attempts  int   `json:"attempts"`
	Tokens    int64 `json:"tokens"`
	view.Dollars
	DurationMS int64 `json:"duration_ms"`
}

// newsOf gives what there is to tell about an event: the outcome that ends a
// run is two news. A decision that ends the process is none, its outcome is.
func newsOf(plan *pipelines.Pipeline, e engine.Event) []news {
	s := view.StateOf(phases.On(plan, e.Run))
	switch {
	case e.Decision != nil && !e.Decision.Final():
		return []news{newsOfBegin(s, e)}
	case e.Activity != nil:
		n := newsAbout(s, e, e.Of)
		n.Event, n.Activity = "activity", e.Activity.Text
		n.Tokens, n.USD = e.Activity.Usage.InputTokens+e.Activity.Usage.OutputTokens, metadata.Rounded(e.Activity.Usage.USD)
		return []news{n}
	case e.Done != nil:
		var all []news
		if !e.Of.Final() {
			all = append(all, newsOfEnd(s, e))
		}
		if e.Run.Status != metadata.Running {
			all = append(all, newsOfStop(s, e))
		}
		return all
	case e.Decision == nil && len(e.Run.Decisions) > 0:
		d := e.Run.Decisions[len(e.Run.Decisions)-1] // which says so
		about := phases.Decision{}
		if d.Step == phases.SkipStep {
			about.Phase = d.Phase
		}
		n := newsAbout(s, e, about)
		n.Event, n.Round = d.Step, 0
		n.because(d.Why)
		return []news{n}
	}
	return nil
}

// newsAbout fills in what all news of a decision have.
func newsAbout(s view.State, e engine.Event, d phases.Decision) news {
	r := s.Row(d.Phase)
	return news{
		Catalogue: prompts.Words(e.Run.Language), Time: e.At.UTC(), Issue: e.Run.IssueNumber, Phase: d.Phase, Number: r.Number, Phases: s.All,
		Step: string(d.Step()), Round: r.Rec.Round + 1, Agent: d.Agent, Model: view.ModelOf(phases.On(s.Plan, e.Run), d),
	}
}

func newsOfBegin(s view.State, e engine.Event) news {
	d := *e.Decision
	n := newsAbout(s, e, d)
	n.Event, n.Resumed, n.Again, n.DelayMS = "begin", d.Resume > 0, d.Again, d.Delay.Milliseconds()
	n.because(d.Why)
	if rec := e.Run.Phase(d.Phase); rec != nil && rec.RollbackContext != nil && d.Do != phases.DoCheck {
		n.TakenBack = rec.RollbackContext.Reason
	}
	return n
}

func newsOfEnd(s view.State, e engine.Event) news {
	o := *e.Done
	n := newsAbout(s, e, e.Of)
	n.Event, n.Status, n.Code, n.Class = "end", string(o.Status), o.Code, o.Class
	n.because(o.Why)
	if all := e.Run.Attempts; len(all) > 1 && (e.Of.Again || e.Of.Delay > 0) && o.Why != "" {
		last, before := all[len(all)-1], all[len(all)-2]
		n.said = last.Why == o.Why && before.Why == o.Why && before.Phase == last.Phase && before.Step == last.Step
	}
	n.Tokens, n.USD = o.Usage.InputTokens+o.Usage.OutputTokens, metadata.Rounded(o.Usage.USD)
	n.DurationMS, n.Violations, n.Stderr = o.Duration.Milliseconds(), view.AllReverted(o.Violations), o.Stderr
	n.Warnings = o.Warnings
	if e.Of.Do != phases.DoBaseline { // which comes after them, and leads to none
		n.rules = rulesSince(e.Run)
	}
	for _, why := range n.rules {
		n.Rules = append(n.Rules, why.In(prompts.Words("en")))
	}
	n.Model = cmp.Or(o.Model, n.Model)
	if o.Written != nil {
		n.Files, n.Diff = o.Written.Files, &o.Written.Diff
	}
	for _, c := range o.Checks {
		c.FailsBefore = c.FailsBefore || !c.Pass && e.Of.Do == phases.DoBaseline && !phases.CouldNotRun(c)
		n.Checks = append(n.Checks, checkNews{c, c.Name, c.Pass, c.ExitCode, c.FailsBefore, c.Flaky})
	}
	rec := e.Run.Phase(e.Of.Phase)
	if rec == nil {
		return n
	}
	if e.Of.Do != phases.DoBaseline { // which comes in beside a phase
		n.PhaseIs = rec.Status
	}
	if all := e.Run.RollbackHistory; len(all) > 0 {
		last := all[len(all)-1]
		if last.TriggeredBy == metadata.Automatic && last.FromPhase == e.Of.Phase && !last.Timestamp.Before(o.At) {
			n.WentBack = text.Join(" ", last.ToPhase, string(last.ToStep))
		}
	}
	verdict := cmp.Or(rec.Verdict, o.Verdict) // the phase may have gone back since
	if o.Status == metadata.Succeeded && e.Of.Do == phases.DoReview && verdict != nil {
		n.because(phases.AttemptOf(&e.Run, e.Of.Phase).Why)
		n.Round = max(rec.Round, 1)
		n.Verdict, n.Findings, n.Gates = verdict.Verdict, view.OpenFindings(verdict), verdict.FailedGates()
	}
	return n
}

// because notes why, for programs and for people.
func (n *news) because(why metadata.Reason) { n.Why, n.Because = why.In(prompts.Words("en")), why }

// rulesSince gives what rules did after the newest attempt.
func rulesSince(run metadata.Run) (rules []metadata.Reason) {
	for _, d := range slices.Backward(run.Decisions) {
		if d.Attempt == len(run.Attempts) {
			break
		}
		if d.Step == "rule" {
			rules = append([]metadata.Reason{d.Why}, rules...)
		}
	}
	return rules
}

// newsOfStop tells how the run ended, and what it came to.
func newsOfStop(s view.State, e engine.Event) news {
	d := s.Now
	n := newsAbout(s, e, phases.Decision{Phase: d.Phase})
	n.Event, n.Status, n.Code, n.Round, n.Step = "stop", string(e.Run.Status), d.Code, 0, string(d.Do)
	n.because(d.Why)
	if all := e.Run.Attempts; len(all) > 0 && e.Run.Status != metadata.Interrupted {
		last := all[len(all)-1]
		n.said = last.Status != metadata.Succeeded && last.Why != "" && strings.Contains(n.Why, last.Why.In(prompts.Words("en")))
	}
	if e.Run.Status == metadata.Completed {
		n.Phase, n.Number, n.Code = "", 0, metadata.Done
	}
	spent := phases.SpentOf(e.Run)
	n.Total = &newsTotal{s.Done, spent.Attempts, spent.Tokens, view.DollarsOf(e.Run), s.Took().Milliseconds()}
	return n
}
