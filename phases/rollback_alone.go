package phases

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// mostAutomatic is how often a run goes back by itself before a person has to look.
const mostAutomatic = 3

// wayBack gives the rollback that an agent or a rule asks for.
func wayBack(from string, r RollbackRequest, at time.Time) Rollback {
	return Rollback{From: from, To: r.Phase, Step: cmp.Or(r.Step, metadata.Revise), Reason: CutText(ValidText(r.Reason), MostReason), Trigger: metadata.Automatic, At: at}
}

// command is how a person would ask for a rollback.
func (r Rollback) command() string {
	return strings.TrimSpace("/rollback " + OneLine(r.To+":"+string(r.Step)) + " " + OneLine(r.Reason))
}

// rollBackAlone takes a run back without asking anybody.
func rollBackAlone(plan *pipelines.Pipeline, run metadata.Run, to Rollback) (metadata.Run, *RollbackPlan) {
	if n := automaticSince(run); n >= mostAutomatic {
		return proposed(run, to.From, metadata.Because("went_back_often", "n", n, "command", to.command()))
	}
	r, err := PlanRollback(plan, run, to)
	if err != nil {
		return proposed(run, to.From, metadata.Because("rollback_impossible", "command", to.command(), "why", WhyOf(err)))
	}
	return r.Run, &r
}

// MostReason is how long a reason from an agent may be, in Unicode code points: as long as one from a person.
const MostReason = 1000

// proposed lets a person decide what follows from a phase. A phase that has failed needs a person anyway.
func proposed(run metadata.Run, phase string, ask metadata.Reason) (metadata.Run, *RollbackPlan) {
	run = run.Clone()
	if rec := run.Phase(phase); rec.Status == metadata.PhaseCompleted {
		demand(rec, "maintain", ask)
	}
	return run, nil
}

// Proposed gives the rollback that an agent or a rule has proposed for the phase that waits for approval. A person
// may carry it out instead of approving.
func Proposed(plan *pipelines.Pipeline, run metadata.Run) (Rollback, bool) {
	phase, _, _, ok := Approval(plan, run, "")
	if !ok {
		return Rollback{}, false
	}
	rec := run.Phase(phase)
	var all []RollbackRequest
	if r := requestIn(plan.Phase(phase), rec.Report).Rollback; r != nil {
		all = append(all, *r)
	}
	for _, r := range plan.Rules {
		if r.Then.Rollback != nil && r.After == phase {
			all = append(all, requestOf(r.Then.Rollback))
		}
	}
	for _, r := range all {
		back := wayBack("", r, run.UpdatedAt)
		back.Trigger = metadata.Manual
		asked := slices.ContainsFunc(rec.Ask.Each(), func(why metadata.Reason) bool { return why.Value("command").Said() == back.command() })
		if asked && checkRollback(plan, run, back) == nil {
			return back, true
		}
	}
	return Rollback{}, false
}

// requestOf is the way back that a rule names.
func requestOf(back *pipelines.RuleRollback) RollbackRequest {
	return RollbackRequest{Phase: back.To, Step: metadata.Step(back.Step), Reason: back.Reason}
}

// automaticSince counts the rollbacks without a person since a person last took the run back.
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

// ApplyReport gives the record after what the report of a completed phase asks for: to go back, to give up, or to
// wait for other issues. A person decides where the agent is not sure, or where its decision is anything but a pass.
func ApplyReport(plan *pipelines.Pipeline, run metadata.Run, p *pipelines.Phase, at time.Time) (metadata.Run, *RollbackPlan) {
	r := requestIn(p, run.Phase(p.Name).Report)
	switch {
	case r.Decision == "rollback" && r.Rollback == nil:
		return proposed(run, p.Name, metadata.Because("rollback_unnamed", "reason", metadata.Said(OneLine(r.Reason))))
	case r.Decision == "rollback", r.Decision == "" && r.Rollback != nil:
		back := wayBack(p.Name, *r.Rollback, at)
		if sure := r.Rollback.Confidence; sure != "" && sure != "high" {
			return proposed(run, p.Name, metadata.Because("rollback_proposed", "confidence", OneLine(sure), "command", back.command()))
		}
		return rollBackAlone(plan, run, back)
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

// WhyNotAlone says why a run may not go back without a person although the diagnosis is sure, or "".
func WhyNotAlone(run metadata.Run) metadata.Reason {
	if n := automaticSince(run); n >= mostAutomatic {
		return metadata.Because("went_back_alone", "n", n)
	}
	return ""
}
