package metadata

import "strings"

func (c *checker) attempt(i int, a *Attempt) {
	at := c.element("attempts", i)
	if a.N != i+1 {
		at.bad("n", "%d is out of order; attempts count from 1, so this is %d", a.N, i+1)
	}
	if !c.phases[a.Phase] {
		at.bad("phase", "there is no phase %q", a.Phase)
	}
	oneOf(at, "step", a.Step, Steps()...)
	count(at, "generation", a.Generation)
	count(at, "round", a.Round)
	oneOf(at, "status", a.Status, attemptStatuses()...)
	optional(at, "code", a.Code, codes()...)
	optional(at, "class", a.Class, classes()...)
	if optional(at, "verdict", a.Verdict, Rulings()...); a.Verdict != "" && a.Step != Review && a.Step != Check {
		at.bad("verdict", "is set, but %s judges nothing", a.Step)
	}
	if a.Broke != "" {
		for rule := range strings.SplitSeq(a.Broke, ",") {
			oneOf(at, "broke", Rule(rule), rules()...)
		}
	}
	count(at, "retry_after_s", a.RetryAfter)
	count(at, "usage.input_tokens", a.Usage.InputTokens)
	count(at, "usage.output_tokens", a.Usage.OutputTokens)
	count(at, "usage.cached_tokens", a.Usage.CachedTokens)
	count(at, "usage.turns", a.Usage.Turns)
	at.amount("usage.cost_usd", a.Usage.USD)
	count(at, "duration_ms", a.DurationMS)
	at.time("started_at", a.StartedAt)
	at.timeOrNil("ended_at", a.EndedAt)
	switch {
	case a.EndedAt == nil && a.Status != Started:
		at.bad("ended_at", "is missing, but the attempt is %s", a.Status)
	case a.EndedAt != nil && a.Status == Started:
		at.bad("ended_at", "is set, but nobody saw the attempt end: it is %s", a.Status)
	}
}

func (c *checker) rollback(i int, r *Rollback) {
	at := c.element("rollback_history", i)
	at.time("timestamp", r.Timestamp)
	at.known("from_phase", r.FromPhase)
	optional(at, "from_step", r.FromStep, Steps()...)
	if !c.phases[r.ToPhase] {
		at.bad("to_phase", "there is no phase %q", r.ToPhase)
	}
	oneOf(at, "to_step", r.ToStep, AgentSteps()...)
	at.filled("reason", r.Reason)
	oneOf(at, "triggered_by", r.TriggeredBy, Triggers()...)
	at.link("comment_url", r.CommentURL)
	at.path("review_result_path", r.ReviewResultPath)
}

func (c *checker) decision(i int, d *Decision) {
	at := c.element("decisions", i)
	at.time("at", d.At)
	at.filled("step", d.Step)
	at.known("phase", d.Phase)
	at.filled("why", string(d.Why))
	count(at, "attempt", d.Attempt)
	count(at, "comment_id", d.Comment)
	if d.Comment == 0 {
		return
	}
	if before, twice := c.comments[d.Comment]; twice {
		at.bad("comment_id", "the command of comment %d was taken before, in decisions[%d]", d.Comment, before)
	}
	c.comments[d.Comment] = i
}
