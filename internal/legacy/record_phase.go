package legacy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// phases reads all phases, and what an evaluation said about going back. Latest
// is when the file was written.
func (o *olderObject) phases(r *metadata.Run, latest time.Time) {
	if o.fields["phases"] == nil {
		o.bad("phases", "are missing: this is not a record of a run")
	}
	all := o.object("phases")
	if all == nil {
		return
	}
	seen := map[string]bool{}
	decided := map[string]string{} // by which phase, the phase that has to be done again
	for _, key := range all.names() {
		p := all.object(key)
		if p == nil {
			continue
		}
		name := phaseName(key)
		all.must(key, metadata.CheckID(name))
		if seen[name] {
			all.bad(key, "is phase %s once more", name)
		}
		seen[name] = true
		r.Phases = append(r.Phases, p.phase(name, r.CreatedAt, latest))
		decision, failed := p.word("decision"), phaseName(p.text("failed_phase"))
		if back, ok := strings.CutPrefix(decision, "fail_phase_"); ok && failed == "" {
			failed = phaseName(back)
		}
		if strings.HasPrefix(decision, "fail") && failed != "" {
			decided[name] = failed
		} else if decision != "" {
			p.drop("decision", "stands in the artifact of the phase")
		}
		p.dropUnread()
	}
	for _, by := range r.Phases {
		if to := r.Phase(decided[by.Name]); to != nil {
			sendBack(r, by.Name, to, latest)
		}
	}
}

// sendBack gives a phase the reason for which another one had it done again.
// The older system set the phases back and told nobody why.
func sendBack(r *metadata.Run, by string, to *metadata.Phase, at time.Time) {
	if to.RollbackContext != nil || to.Status != metadata.PhasePending && to.Status != metadata.PhaseInProgress {
		return
	}
	step := to.CurrentStep
	if step == "" || step == metadata.Check {
		step = metadata.Execute
	}
	reason := fmt.Sprintf("%s decided that %s has to be done again.", by, to.Name)
	to.RollbackContext = &metadata.RollbackContext{TriggeredAt: at, FromPhase: by, Reason: reason}
	r.RollbackHistory = append(r.RollbackHistory, metadata.Rollback{
		Timestamp: at, FromPhase: by, ToPhase: to.Name, ToStep: step, Reason: reason, TriggeredBy: metadata.Automatic,
	})
}

// phase reads one phase and resolves what contradicts itself in favour of its
// status.
func (o *olderObject) phase(name string, created, latest time.Time) metadata.Phase {
	p := metadata.Phase{
		Name: name, RetryCount: int(o.count("retry_count")), StartedAt: o.time("started_at"), CompletedAt: o.time("completed_at"),
		ReviewResult: o.ruling(), OutputFiles: o.outputs(), CompletedSteps: o.steps(), RollbackContext: o.context(latest),
	}
	p.Status = choice(o, "status", metadata.PhasePending, metadata.PhaseStatuses()...)
	current := choice(o, "current_step", "", metadata.Steps()...)
	switch p.Status {
	case metadata.PhaseCompleted:
		o.completed(&p, current, created)
	case metadata.PhaseInProgress, metadata.PhaseFailed:
		o.unfinished(&p, current)
	default:
		if p.Status == metadata.PhasePending && (len(p.CompletedSteps) > 0 || current != "") {
			o.drop("completed_steps", "the phase is pending again: it begins anew")
		}
		p = metadata.Phase{Name: name, Status: p.Status, RollbackContext: p.RollbackContext}
	}
	return p
}

// completed completes what is missing of a phase that is done.
func (o *olderObject) completed(p *metadata.Phase, current metadata.Step, created time.Time) {
	if p.CompletedAt == nil {
		t := or(p.StartedAt, &created)
		p.CompletedAt = &t
		o.drop("completed_at", "is missing: "+t.Format(time.RFC3339)+" is taken, the nearest time there is")
	}
	if p.StartedAt == nil || p.StartedAt.After(*p.CompletedAt) {
		p.StartedAt = p.CompletedAt
	}
	if current != "" {
		o.drop("current_step", "the phase is completed and has none")
	}
	if p.RollbackContext != nil {
		o.drop("rollback_context", "the phase was completed after it; rollback_history keeps it")
		p.RollbackContext = nil
	}
	if p.ReviewResult == string(metadata.Fail) {
		o.drop("review_result", "is fail, but the phase is completed")
		p.ReviewResult = ""
	}
	if len(p.CompletedSteps) == 0 {
		p.CompletedSteps = []metadata.Step{metadata.Execute}
		if p.ReviewResult != "" {
			p.CompletedSteps = append(p.CompletedSteps, metadata.Review)
		}
	}
}

// unfinished reads a phase that has begun and is not done: what it did last
// says what comes next, unless the file does.
func (o *olderObject) unfinished(p *metadata.Phase, current metadata.Step) {
	if p.CompletedAt != nil {
		o.drop("completed_at", "the phase is not completed")
		p.CompletedAt = nil
	}
	done := p.CompletedSteps
	switch {
	case current != "" && current != metadata.Check:
	case len(done) == 0:
		current = metadata.Execute
	case done[len(done)-1] == metadata.Review:
		current = metadata.Revise
	default:
		current = metadata.Review
	}
	p.CompletedSteps = slices.DeleteFunc(done, func(s metadata.Step) bool { return s == current })
	p.CurrentStep = current
}

// ruling reads a verdict.
func (o *olderObject) ruling() string {
	v := o.word("review_result")
	if v != "" && !slices.Contains(metadata.Rulings(), metadata.Ruling(v)) {
		o.drop("review_result", "is no verdict of a review")
		return ""
	}
	return v
}

// outputs reads the artifacts that the file lists.
func (o *olderObject) outputs() []string {
	var out []string
	list, n := o.list("output_files")
	for i := range n {
		if p := list.path(element(i)); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// steps reads the steps that are done, each once.
func (o *olderObject) steps() []metadata.Step {
	var out []metadata.Step
	list, n := o.list("completed_steps")
	for i := range n {
		if s := choice(list, element(i), "", metadata.Steps()...); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
