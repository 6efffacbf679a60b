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

// rollBackAlone takes a run back without asking anybody. It asks a person
// instead if that is not possible, or has happened too often.
func rollBackAlone(plan *pipelines.Pipeline, run metadata.Run, to Rollback) (metadata.Run, *RollbackPlan) {
	if to.Step == "" {
		to.Step = metadata.Revise
	}
	to.Reason, to.Trigger = CutText(ValidText(to.Reason), MostReason), metadata.Automatic
	command := rollbackText(to.To, to.Step, to.Reason)
	if n := automaticSince(run); n >= mostAutomatic {
		return proposed(run, to.From, metadata.Because("went_back_often", "n", n, "command", command))
	}
	r, err := PlanRollback(plan, run, to)
	if err != nil {
		return proposed(run, to.From, metadata.Because("rollback_impossible", "command", command, "why", WhyOf(err)))
	}
	return r.Run, &r
}

// MostReason is how long a reason from an agent may be, in Unicode code points:
// as long as one from a person.
const MostReason = 1000

// proposed lets a person decide what follows from a phase. A phase that has
// failed needs a person anyway.
func proposed(run metadata.Run, phase string, ask metadata.Reason) (metadata.Run, *RollbackPlan) {
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
	return strings.TrimSpace("/rollback " + OneLine(to) + " " + OneLine(reason))
}

// Proposed gives the rollback that an agent or a rule has proposed for the
// phase that waits for approval. A person may carry it out instead of
// approving. The result is false if there is no proposal, or none that could be
// carried out.
func Proposed(plan *pipelines.Pipeline, run metadata.Run) (Rollback, bool) {
	phase, _, _, ok := Approval(plan, run)
	if !ok {
		return Rollback{}, false
	}
	rec := run.Phase(phase)
	var all []RollbackRequest
	if r := RequestIn(plan.Phase(phase), rec.Report).Rollback; r != nil {
		all = append(all, *r)
	}
	for _, r := range plan.Rules {
		if back := r.Then.Rollback; back != nil && r.After == phase {
			all = append(all, RollbackRequest{Phase: back.To, Step: metadata.Step(back.Step), Reason: back.Reason})
		}
	}
	for _, r := range all {
		asIs := rollbackText(r.Phase, r.Step, r.Reason)
		if r.Step == "" {
			r.Step = metadata.Revise
		}
		r.Reason = CutText(ValidText(r.Reason), MostReason)
		if !proposes(rec.Ask, asIs) && !proposes(rec.Ask, rollbackText(r.Phase, r.Step, r.Reason)) {
			continue // that is not why a person is asked
		}
		back := Rollback{To: r.Phase, Step: r.Step, Reason: r.Reason, Trigger: metadata.Manual, At: run.UpdatedAt}
		if _, err := PlanRollback(plan, run, back); err == nil {
			return back, true
		}
	}
	return Rollback{}, false
}

// proposes reports whether one of the reasons for an approval names a command.
// Records of earlier versions have reasons in words.
func proposes(ask metadata.Reason, command string) bool {
	return slices.ContainsFunc(ask.Each(), func(r metadata.Reason) bool {
		return r.Value("command").Said() == command || strings.Contains(r.Said(), command)
	})
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

// ApplyReport gives the record after what the report of a completed phase asks
// for: to go back, to give up, or to wait for other issues. A person decides
// where the agent is not sure, or where its decision is anything but a pass.
func ApplyReport(plan *pipelines.Pipeline, run metadata.Run, p *pipelines.Phase, at time.Time) (metadata.Run, *RollbackPlan) {
	r := RequestIn(p, run.Phase(p.Name).Report)
	switch {
	case r.Decision == "rollback" && r.Rollback == nil:
		return proposed(run, p.Name, metadata.Because("rollback_unnamed", "reason", metadata.Said(OneLine(r.Reason))))
	case r.Decision == "rollback", r.Decision == "" && r.Rollback != nil:
		if sure := r.Rollback.Confidence; sure != "" && sure != "high" {
			return proposed(run, p.Name, metadata.Because("rollback_proposed", "confidence", OneLine(sure), "command", rollbackText(r.Rollback.Phase, r.Rollback.Step, r.Rollback.Reason)))
		}
		return rollBackAlone(plan, run, Rollback{From: p.Name, To: r.Rollback.Phase, Step: r.Rollback.Step, Reason: r.Rollback.Reason, At: at})
	case r.Decision == "abort", r.Decision == "" && r.Abort != "":
		return proposed(run, p.Name, metadata.Because("gives_up", "reason", metadata.Said(OneLine(cmp.Or(r.Abort, r.Reason)))))
	case !r.Passes() && OneLine(r.Reason) == "":
		return proposed(run, p.Name, metadata.Because("decided", "decision", OneLine(r.Decision)))
	case !r.Passes():
		return proposed(run, p.Name, metadata.Because("decided_because", "decision", OneLine(r.Decision), "reason", metadata.Said(OneLine(r.Reason))))
	case len(r.DependsOn) > 0:
		var numbers []string
		for _, n := range r.DependsOn {
			numbers = append(numbers, "#"+string(n))
		}
		return proposed(run, p.Name, metadata.Because("waits_for_issues", "issues", numbers[:min(len(numbers), 20)]))
	}
	return run, nil
}

// WhyNotAlone says why a run may not go back without a person although the diagnosis
// is sure, or "".
func WhyNotAlone(run metadata.Run) metadata.Reason {
	if n := automaticSince(run); n >= mostAutomatic {
		return metadata.Because("went_back_alone", "n", n)
	}
	return ""
}
