package phases

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// facts is what the rules after a phase see of it, in the form that their
// conditions are written for.
func facts(run metadata.Run, rec *metadata.Phase, is Issue) ([]byte, error) {
	f := map[string]any{
		"attempt": rec.RetryCount + 1,
		"cost":    map[string]any{"usd": run.Cost.USD, "tokens": run.Cost.InputTokens + run.Cost.OutputTokens},
		"issue":   map[string]any{"labels": append([]string{}, is.Labels...), "title": is.Title, "author": is.Author},
		"diff":    map[string]int{"files": 0, "lines": 0, "added": 0, "deleted": 0},
	}
	if rec.Report != nil {
		f["report"] = rec.Report
	}
	if d := rec.Diff; d != nil {
		f["diff"] = map[string]int{"files": d.Files, "lines": d.Lines, "added": d.Added, "deleted": d.Deleted}
	}
	if v := rec.Verdict; v != nil {
		found := map[metadata.Severity]int{}
		for _, x := range v.Findings {
			found[x.Severity]++
		}
		f["verdict"] = v.Verdict
		f["findings"] = map[string]int{"blockers": found[metadata.Blocker], "suggestions": found[metadata.Suggestion]}
	}
	if rec.Checks != nil && rec.Checks.Written == rec.Written {
		checks := map[string]string{}
		for _, c := range rec.Checks.Results {
			checks[c.Name] = "fail"
			if c.Pass {
				checks[c.Name] = "pass"
			}
		}
		f["checks"] = checks
	}
	return json.Marshal(f)
}

// Issue is what rules may see of the issue.
type Issue struct {
	Labels        []string
	Title, Author string
}

// consequences applies what follows from a step besides the step itself: what
// the report asks for, and the rules of the pipeline. Before is the record
// that the step began with.
func (e *Engine) consequences(ctx context.Context, before, next metadata.Run, d Decision, x *effects) (metadata.Run, error) {
	rec := next.Phase(d.Phase)
	if rec == nil || d.Final() || next.Status != metadata.Running {
		return next, nil
	}
	p, was := e.Plan.Phase(d.Phase), before.Phase(d.Phase)
	var err error
	// Whether the reason of a rollback is met is for a review to say.
	ready := rec.Status == metadata.PhaseInProgress && rec.CurrentStep == metadata.Review && d.Do != DoReview
	if ready && rec.RollbackContext == nil && !checksDue(p, rec) && !checkFails(rec) {
		if next, err = e.fire(ctx, next, d.Phase, true, x); err != nil {
			return next, err
		}
	}
	if next.Phase(d.Phase).Status != metadata.PhaseCompleted || was.Status == metadata.PhaseCompleted {
		return next, nil
	}
	next, back, err := asks(e.Plan, next, p, e.Now())
	if err != nil || back != nil {
		x.rewound(back)
		return next, err
	}
	return e.fire(ctx, next, d.Phase, false, x)
}

// fire applies the rules after a phase whose conditions hold: those that skip
// its review before that, the others once the phase is completed.
func (e *Engine) fire(ctx context.Context, run metadata.Run, phase string, early bool, x *effects) (metadata.Run, error) {
	for i, r := range e.Plan.Rules {
		if r.After != phase || (r.Then.Skip != "") != early {
			continue
		}
		seen, err := facts(run, run.Phase(phase), Issue{e.Issue.Labels, e.Issue.Title, e.Issue.Author})
		if err != nil {
			return run, err
		}
		holds, err := e.Matches(ctx, r.When, seen)
		if err != nil {
			return run, fmt.Errorf("%s: rule %d after %s: %w", metadata.ConfigInvalid, i+1, phase, err)
		}
		if !holds {
			continue
		}
		why := fmt.Sprintf("rule %d: %s: it saw %s", i+1, thenText(r.Then), limit(string(seen), 2000))
		var back *Rewound
		if run, back, err = Fire(e.Plan, run, r, why, e.Now()); err != nil {
			return run, err
		}
		if back != nil {
			x.rewound(back)
			return run, nil // the phase is not completed any more
		}
	}
	return run, nil
}

// rewound adds what a rollback leaves to be committed.
func (x *effects) rewound(back *Rewound) {
	if back == nil {
		return
	}
	if x.files == nil {
		x.files = map[string][]byte{}
	}
	for name, body := range back.Files {
		x.files[name] = body
	}
	x.moves = back.Moves
}

// Fire gives the record after a rule took effect. Of a rule that takes the run
// back, it also gives what that moves and writes. The record notes why, with
// the facts that the rule saw.
func Fire(plan *pipelines.Pipeline, run metadata.Run, r pipelines.Rule, why string, at time.Time) (metadata.Run, *Rewound, error) {
	run = run.Clone()
	rec := run.Phase(r.After)
	run.Decisions = append(run.Decisions, metadata.Decision{At: at, Step: "rule", Phase: r.After, Why: why})
	switch then := r.Then; {
	case then.Skip != "":
		complete(rec, at)
	case then.Insert != "":
		insert(&run, r.After, then.Insert)
	case then.Drop != nil:
		for _, name := range then.Drop {
			if d := run.Phase(name); d != nil && d.Status == metadata.PhasePending {
				d.Status = metadata.PhaseSkipped
			}
		}
	case then.Approve != "":
		rec.Approve, rec.Ask = then.Approve, "a rule of the pipeline asks for it"
	case then.Use != nil:
		for _, later := range later(run.Phases, r.After) {
			later.Use = &metadata.Use{Agent: then.Use.Agent, Tier: then.Use.Tier}
		}
	case then.Rollback != nil:
		return back(plan, run, r.After, then.Rollback.To, metadata.Step(then.Rollback.Step), then.Rollback.Reason, at)
	}
	return run, nil, nil
}

// insert puts a phase behind another one, unless it is there already.
func insert(run *metadata.Run, after, name string) {
	if run.Phase(name) != nil {
		return
	}
	i := slices.IndexFunc(run.Phases, func(p metadata.Phase) bool { return p.Name == after })
	run.Phases = slices.Insert(run.Phases, i+1, metadata.Phase{Name: name, Status: metadata.PhasePending})
}

// mostAutomatic is how often a run goes back by itself before a person has to
// look.
const mostAutomatic = 3

// back takes a run back without a person, or asks one where it has gone back
// by itself often enough.
func back(plan *pipelines.Pipeline, run metadata.Run, from, to string, step metadata.Step, reason string, at time.Time) (metadata.Run, *Rewound, error) {
	if step == "" {
		step = metadata.Revise
	}
	if n := automaticSince(run); n >= mostAutomatic {
		ask := fmt.Sprintf("it went back by itself %d times; once more would be to %s, because: %s", n, to, brief(reason))
		return proposed(run, from, ask), nil, nil
	}
	r, err := Back(plan, run, Rewind{To: to, Step: step, From: from, Reason: reason, Trigger: metadata.Automatic, At: at})
	if err != nil {
		return proposed(run, from, "it asks to go back to "+to+": "+err.Error()), nil, nil
	}
	r.Run.Revision = run.Revision // both changes are one
	return r.Run, &r, nil
}

// proposed leaves it to a person what follows from a phase.
func proposed(run metadata.Run, phase, ask string) metadata.Run {
	rec := run.Phase(phase)
	rec.Approve, rec.Ask = "maintain", limit(ask, 1000)
	return run
}

// automaticSince counts the rollbacks without a person since a person last
// took the run back.
func automaticSince(run metadata.Run) int {
	n := 0
	for _, r := range slices.Backward(run.RollbackHistory) {
		if r.TriggeredBy == metadata.Manual {
			break
		}
		n++
	}
	return n
}

// asks gives the record after what the report of a completed phase asks for:
// to go back, to give up, or to wait for other issues. Where the agent is not
// sure, a person decides.
func asks(plan *pipelines.Pipeline, run metadata.Run, p *pipelines.Phase, at time.Time) (metadata.Run, *Rewound, error) {
	rec := run.Phase(p.Name)
	r := requestIn(p, rec.Report)
	switch {
	case r.Rollback != nil && (r.Decision == "" || r.Decision == "rollback"):
		run = run.Clone()
		if r.Rollback.Confidence != "" && r.Rollback.Confidence != "high" {
			ask := fmt.Sprintf("it proposes, with %s confidence: /rollback %s:%s %s", r.Rollback.Confidence, r.Rollback.Phase, r.Rollback.Step, brief(r.Rollback.Reason))
			return proposed(run, p.Name, ask), nil, nil
		}
		return back(plan, run, p.Name, r.Rollback.Phase, r.Rollback.Step, r.Rollback.Reason, at)
	case r.Abort != "" || r.Decision == "abort":
		reason := r.Abort
		if reason == "" {
			reason = r.Reason
		}
		run = run.Clone()
		return proposed(run, p.Name, "it advises to give up (/cancel does): "+brief(reason)), nil, nil
	case len(r.DependsOn) > 0:
		var numbers []string
		for _, n := range r.DependsOn {
			numbers = append(numbers, "#"+string(n))
		}
		run = run.Clone()
		return proposed(run, p.Name, "it needs these issues to be done first: "+strings.Join(numbers, ", ")), nil, nil
	}
	return run, nil, nil
}

// thenText says what a rule does.
func thenText(t pipelines.Then) string {
	switch {
	case t.Skip != "":
		return "skip the " + t.Skip
	case t.Insert != "":
		return "insert " + t.Insert
	case t.Drop != nil:
		return "drop " + strings.Join(t.Drop, ", ")
	case t.Approve != "":
		return "ask for the approval of " + t.Approve
	case t.Rollback != nil:
		return "take the run back to " + t.Rollback.To
	case t.Use != nil:
		return strings.TrimSpace("use " + t.Use.Agent + " " + t.Use.Tier)
	}
	return "nothing"
}
