package phases

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// mostAutomatic is how often a run goes back by itself before a person has to
// look.
const mostAutomatic = 3

// goBack takes a run back without a person, or asks one where that cannot be or
// has been often enough.
func goBack(plan *pipelines.Pipeline, run metadata.Run, from, to string, step metadata.Step, reason string, at time.Time) (metadata.Run, *Rewound) {
	if step == "" {
		step = metadata.Revise
	}
	reason = limit(clean(reason), mostReason)
	if n := automaticSince(run); n >= mostAutomatic {
		return proposed(run, from, metadata.Because("went_back_often", "n", n, "command", rollbackText(to, step, reason)))
	}
	r, err := Back(plan, run, Rewind{To: to, Step: step, From: from, Reason: reason, Trigger: metadata.Automatic, At: at})
	if err != nil {
		return proposed(run, from, metadata.Because("rollback_impossible", "command", rollbackText(to, step, reason), "why", WhyOf(err)))
	}
	return r.Run, &r
}

// mostReason is the most that a reason from an agent may have, in Unicode code
// points, as that from a person.
const mostReason = 1000

// clean takes out of a text what no text has.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// proposed leaves it to a person what follows from a phase. A phase that has
// failed needs one anyway.
func proposed(run metadata.Run, phase string, ask metadata.Reason) (metadata.Run, *Rewound) {
	run = run.Clone()
	if rec := run.Phase(phase); rec.Status == metadata.PhaseCompleted {
		demand(rec, "maintain", ask)
	}
	return run, nil
}

// rollbackText is the command with which a person would take the run back.
func rollbackText(to string, step metadata.Step, reason string) string {
	if step != "" {
		to += ":" + string(step)
	}
	return strings.TrimSpace("/rollback " + brief(to) + " " + brief(reason))
}

// Proposed gives the rollback that an agent or a rule proposes about the phase
// that a run waits to be approved: a person may carry it out instead. It asks
// for nothing if there is none, or none that could be carried out.
func Proposed(plan *pipelines.Pipeline, run metadata.Run) (Rewind, bool) {
	phase, _, _, ok := Approval(plan, run)
	if !ok {
		return Rewind{}, false
	}
	rec := run.Phase(phase)
	var all []rollbackReport
	if r := requestIn(plan.Phase(phase), rec.Report).Rollback; r != nil {
		all = append(all, *r)
	}
	for _, r := range plan.Rules {
		if back := r.Then.Rollback; back != nil && r.After == phase {
			all = append(all, rollbackReport{Phase: back.To, Step: metadata.Step(back.Step), Reason: back.Reason})
		}
	}
	for _, r := range all {
		asIs := rollbackText(r.Phase, r.Step, r.Reason)
		if r.Step == "" {
			r.Step = metadata.Revise
		}
		r.Reason = limit(clean(r.Reason), mostReason)
		if ask := Say("en", rec.Ask); !strings.Contains(ask, asIs) && !strings.Contains(ask, rollbackText(r.Phase, r.Step, r.Reason)) {
			continue // that is not why a person is asked
		}
		rw := Rewind{To: r.Phase, Step: r.Step, Reason: r.Reason, Trigger: metadata.Manual, At: run.UpdatedAt}
		if _, err := Back(plan, run, rw); err == nil {
			return rw, true
		}
	}
	return Rewind{}, false
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
// sure, and where it decides anything else than that the work passes, a person
// decides.
func asks(plan *pipelines.Pipeline, run metadata.Run, p *pipelines.Phase, at time.Time) (metadata.Run, *Rewound) {
	r := requestIn(p, run.Phase(p.Name).Report)
	switch {
	case r.Decision == "rollback" && r.Rollback == nil:
		return proposed(run, p.Name, metadata.Because("rollback_unnamed", "reason", metadata.Said(brief(r.Reason))))
	case r.Decision == "rollback", r.Decision == "" && r.Rollback != nil:
		if sure := r.Rollback.Confidence; sure != "" && sure != "high" {
			return proposed(run, p.Name, metadata.Because("rollback_proposed", "confidence", brief(sure), "command", rollbackText(r.Rollback.Phase, r.Rollback.Step, r.Rollback.Reason)))
		}
		return goBack(plan, run, p.Name, r.Rollback.Phase, r.Rollback.Step, r.Rollback.Reason, at)
	case r.Decision == "abort", r.Decision == "" && r.Abort != "":
		return proposed(run, p.Name, metadata.Because("gives_up", "reason", metadata.Said(brief(cmp.Or(r.Abort, r.Reason)))))
	case !r.passes() && brief(r.Reason) == "":
		return proposed(run, p.Name, metadata.Because("decided", "decision", brief(r.Decision)))
	case !r.passes():
		return proposed(run, p.Name, metadata.Because("decided_because", "decision", brief(r.Decision), "reason", metadata.Said(brief(r.Reason))))
	case len(r.DependsOn) > 0:
		var numbers []string
		for _, n := range r.DependsOn {
			numbers = append(numbers, "#"+string(n))
		}
		return proposed(run, p.Name, metadata.Because("waits_for_issues", "issues", numbers[:min(len(numbers), 20)]))
	}
	return run, nil
}
