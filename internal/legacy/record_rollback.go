package legacy

import (
	"path"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// context reads why a phase was taken back, nil if it was not.
func (o *olderObject) context(latest time.Time) *metadata.RollbackContext {
	c := o.object("rollback_context")
	if c == nil {
		return nil
	}
	out := &metadata.RollbackContext{
		TriggeredAt: or(c.time("triggered_at"), &latest), Reason: c.reason(), ReviewResult: c.path("review_result"),
		By: c.text("by"), CommentURL: c.link("comment_url"),
	}
	out.FromPhase, out.FromStep = c.origin(out.ReviewResult)
	if d := c.object("details"); d != nil {
		out.Details = &metadata.RollbackDetails{BlockerCount: int(d.count("blocker_count")), SuggestionCount: int(d.count("suggestion_count"))}
		list, n := d.list("affected_tests")
		for i := range n {
			out.Details.AffectedTests = append(out.Details.AffectedTests, list.text(element(i)))
		}
		d.dropUnread()
	}
	c.dropUnread()
	return out
}

// rollbacks reads the history of rollbacks, and adds those that the phases
// have told of.
func (o *olderObject) rollbacks(r *metadata.Run) []metadata.Rollback {
	var out []metadata.Rollback
	list, n := o.list("rollback_history")
	for i := range n {
		e := list.object(element(i))
		if e == nil {
			continue
		}
		entry := metadata.Rollback{
			Timestamp: or(e.time("timestamp"), &r.CreatedAt), Reason: e.reason(), ToPhase: phaseName(e.text("to_phase")),
			// What a rollback goes to, and who asks for it, unless it is said.
			ToStep: choice(e, "to_step", metadata.Revise, metadata.AgentSteps()...), TriggeredBy: choice(e, "triggered_by", metadata.Manual, metadata.Triggers()...),
			By: e.text("by"), CommentURL: e.link("comment_url"), ReviewResultPath: e.path("review_result_path"),
		}
		entry.FromPhase, entry.FromStep = e.origin(entry.ReviewResultPath)
		if r.Phase(entry.ToPhase) == nil {
			e.bad("to_phase", "there is no phase %.80q", entry.ToPhase)
		}
		e.dropUnread()
		out = append(out, entry)
	}
	return append(out, r.RollbackHistory...)
}

// reason reads why; a record has no rollback without.
func (o *olderObject) reason() string {
	if why := o.text("reason"); why != "" {
		return why
	}
	o.drop("reason", "is missing, and the record says so")
	return "(no reason was recorded)"
}

// origin reads where a rollback came from. Where the file does not say it, the
// review that led to it does.
func (o *olderObject) origin(review string) (string, metadata.Step) {
	phase, step := phaseName(o.text("from_phase")), choice(o, "from_step", "", metadata.Steps()...)
	if folder := path.Dir(review); phase == "" && path.Base(folder) == string(metadata.Review) {
		return phaseName(path.Base(path.Dir(folder))), metadata.Review
	}
	return phase, step
}
