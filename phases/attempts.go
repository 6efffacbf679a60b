package phases

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// attempt decides on a step that an agent does, given how earlier calls for the same work ended.
func attempt(c Course, rec *metadata.Phase, step metadata.Step, why metadata.Reason) Decision {
	p := c.Plan.Phase(rec.Name)
	d := Decision{Do: Do(step), Phase: p.Name, Agent: assigned(c, p, step), Why: why}
	if step == metadata.Revise {
		d.Resume = sessionOf(c.Run, rec.Written, d.Agent)
	}
	tries := Tries(c, rec, step)
	if len(tries) == 0 {
		return d
	}
	last := tries[len(tries)-1]
	if _, known := c.Plan.Agents[last.Agent]; !known {
		return d // the command line has put others in its place since
	}
	switch last.Status {
	case metadata.Errored:
		return afterError(c, p, d, tries)
	case metadata.Unsuccessful, metadata.Blocked:
		if last.Code == metadata.ChangeRefused && last.Status == metadata.Blocked {
			return halt(DoWait, d.Phase, last.Code, last.Why)
		}
		if last.Code == metadata.AwaitingPerson {
			d.Agent, d.Resume, d.Why = last.Agent, sessionOf(c.Run, last.N, last.Agent), metadata.Because("questions_answered")
			return d
		}
		return conflicting(rec, step, afterNothing(c.Run, d, tries))
	case metadata.Cut:
		d.Why = metadata.Because("call_interrupted")
		d.Agent = last.Agent
		d.Resume = sessionOf(c.Run, last.N, d.Agent)
	}
	return d
}

// afterNothing decides what follows a call that brought no evidence or an
// unusable answer: the same session is asked once more, then a person is.
func afterNothing(run metadata.Run, d Decision, tries []metadata.Attempt) Decision {
	last := tries[len(tries)-1]
	unusable := 0
	for _, a := range tries {
		// A call that the budget cut short says nothing about the agent.
		if (a.Status == metadata.Unsuccessful || a.Status == metadata.Blocked) && a.Code != metadata.BudgetExceeded && a.Code != metadata.AwaitingPerson {
			unusable++
		}
	}
	if unusable > 1 {
		why := firstSentence(last.Why)
		for _, more := range last.Why.Each() {
			if more.Code() == "last_words" {
				why = metadata.All(why, more)
			}
		}
		return halt(DoWait, d.Phase, last.Code, why)
	}
	d.Agent, d.Again, d.Why = last.Agent, true, metadata.Because("asked_again", "why", firstSentence(last.Why))
	d.Resume = sessionOf(run, last.N, d.Agent)
	return d
}

// conflicting names the conflict that a person has to know of, where the writer of a part was
// to bring it together with others, and did nothing.
func conflicting(rec *metadata.Phase, step metadata.Step, d Decision) Decision {
	if d.Code == metadata.NoProgress && apart(rec, step) {
		d.Code, d.Why = metadata.Conflicts, metadata.All(whyConflicts(rec), metadata.Because("parts_left", "why", d.Why))
	}
	return d
}

// apart reports whether a step is to bring a part together with what went in before it.
func apart(rec *metadata.Phase, step metadata.Step) bool {
	if rec.Lane == nil || rec.Lane.Conflict == nil {
		return false
	}
	return step == metadata.Execute || step == metadata.Revise && rec.Lane.Conflict.Writer == 0
}

// afterError decides what follows an infrastructure error: another agent, the same one later, or the end.
func afterError(c Course, p *pipelines.Phase, d Decision, tries []metadata.Attempt) Decision {
	last := tries[len(tries)-1]
	if last.Resumed && spent(c.Run, last) {
		d.Agent, d.Resume = last.Agent, 0
		d.Why = metadata.Because("session_gone")
		return d
	}
	used := func(name string) (n int) {
		for _, a := range tries {
			gone := a.Resumed && endsSession(a.Class) // only the session was, see above
			if a.Agent == name && a.Status == metadata.Errored && !gone {
				n++
			}
		}
		return n
	}
	n := used(last.Agent)
	if session := sessionOf(c.Run, last.N, last.Agent); last.Class == metadata.TooLong && session > 0 && n == 1 {
		d.Agent, d.Resume, d.Again, d.Why = last.Agent, session, true, metadata.Because("asked_again", "why", firstSentence(last.Why))
		return d
	}
	if to := c.Plan.Agents[last.Agent].Fallback; to != "" && used(to) == 0 && (n > retries(last.Class, p.Retry.Max) || fallsBack(last.Class, n)) {
		d.Agent, d.Resume = to, 0
		d.Why = metadata.Because("falls_back", "agent", last.Agent, "class", last.Class, "to", to)
		return d
	}
	if n <= retries(last.Class, p.Retry.Max) {
		if d.Agent != last.Agent || !last.Resumed {
			d.Resume = 0
		}
		wait := time.Duration(last.RetryAfter) * time.Second
		if remaining := RemainingTime(c.Run); wait > longestWait || remaining > 0 && wait > remaining {
			return halt(DoFail, d.Phase, CodeOf(last.Class), whyTooLate(last, remaining))
		}
		d.Agent, d.Delay = last.Agent, max(backoff(p.Retry, c.Run, n), wait)
		d.Why = metadata.Because("tried_again", "agent", last.Agent, "class", last.Class, "n", n+1, "most", retries(last.Class, p.Retry.Max)+1)
		return d
	}
	return halt(DoFail, d.Phase, CodeOf(last.Class), firstSentence(last.Why))
}

// spent reports whether the session of an attempt, which resumed it, is over: because of what ended the attempt, or
// because it is the second that failed in the session, rate limits apart.
func spent(run metadata.Run, last metadata.Attempt) bool {
	failed := 0
	for _, a := range run.Attempts[:last.N] {
		if a.Resumed && a.Session == last.Session && a.Status == metadata.Errored && a.Class != metadata.RateLimited {
			failed++
		}
	}
	return last.Status == metadata.Errored && (endsSession(last.Class) || failed > 1 && last.Session != "")
}

// endsSession reports whether an error of a class is one of the session where that was resumed: what a service refuses
// may be what was said before, however it words that.
func endsSession(c metadata.Class) bool {
	return c == metadata.Crash || c == metadata.Session || c == metadata.Refused
}

// longestWait is how long a run waits for a service that has no room; if it takes longer, a person starts it again.
const longestWait = time.Hour

// whyTooLate says that a service asks for a longer pause than the run has time for, or than a run waits.
func whyTooLate(last metadata.Attempt, remaining time.Duration) metadata.Reason {
	wait := time.Duration(last.RetryAfter) * time.Second
	when := last.EndedAt.Add(wait).UTC().Format("2006-01-02 15:04 UTC")
	if remaining == 0 || wait <= remaining {
		return metadata.Because("wait_until", "agent", last.Agent, "class", last.Class, "why", firstSentence(last.Why), "when", when)
	}
	return metadata.Because("wait_beyond_time_until", "agent", last.Agent, "class", last.Class, "wait", wait, "left", remaining, "when", when)
}

// fallsBack reports whether another agent takes over after n errors of a class.
func fallsBack(c metadata.Class, n int) bool {
	switch c {
	case metadata.Missing, metadata.Auth, metadata.RateLimited, metadata.Refused, metadata.Session, metadata.TooLong:
		return true
	case metadata.Crash:
		return n > 1
	}
	return false
}

// retries gives how often a class of error is tried again.
func retries(c metadata.Class, limit int) int {
	switch c {
	case metadata.RateLimited, metadata.Network, metadata.Crash:
		return limit
	case metadata.StepTimeout, metadata.IdleTimeout:
		return min(limit, 1) // each try may take as long as the first
	}
	return 0
}

// backoff gives the wait after n errors: exponential, capped, and reduced by up to a fifth.
func backoff(r pipelines.Retry, run metadata.Run, n int) time.Duration {
	d := float64(r.Initial)
	for range n - 1 {
		d *= r.Factor
	}
	seed := sha256.Sum256(fmt.Appendf(nil, "%s %d", run.Execution.ID, len(run.Attempts)))
	spread := float64(int(seed[0])<<8|int(seed[1])) / (1 << 16)
	return time.Duration(min(d, float64(r.Cap)) * (1 - spread/5))
}

// CodeOf gives the reason code of an infrastructure error of a class.
func CodeOf(c metadata.Class) metadata.Code {
	switch c {
	case metadata.Auth:
		return metadata.CredentialsMissing
	case metadata.RateLimited, metadata.Network:
		return metadata.APIError
	case metadata.StepTimeout, metadata.IdleTimeout:
		return metadata.TimedOut
	case metadata.Disk:
		return metadata.DiskFailed
	}
	return metadata.AgentFailed
}

// Tries returns the attempts already made for the work at hand: the same phase, step, generation and round, since a
// person last gave an allowance. Other parts or phases beside it may have been worked on in between.
func Tries(c Course, rec *metadata.Phase, step metadata.Step) (tries []metadata.Attempt) {
	for _, a := range slices.Backward(c.Run.Attempts) {
		if a.N <= allowanceFrom(c.Run, rec) {
			break
		}
		if a.Phase != rec.Name && (c.Plan.Parallel || partBeside(rec, c.Run.Phase(a.Phase))) {
			continue
		}
		if a.Phase != rec.Name || a.Generation != rec.Generation {
			break
		}
		if a.Step == step && a.Round == rec.Round {
			tries = append(tries, a)
		}
	}
	slices.Reverse(tries)
	return tries
}

// IntegratedSince names the parts and phases whose work went in since one beside them began, each once.
func IntegratedSince(run metadata.Run, part string) (names []string) {
	rec, began := run.Phase(part), 0
	for _, a := range run.Attempts {
		switch {
		case a.Phase == part && a.Generation == rec.Generation && began == 0:
			began = a.N
		case began > 0 && a.Step == metadata.Integrate && a.Status == metadata.Succeeded && len(PartsOf(&run, a.Phase)) == 0 && !slices.Contains(names, a.Phase):
			names = append(names, a.Phase)
		}
	}
	return names
}

// allowanceFrom is the number of the attempt after which a phase has its newest
// allowance: that of the run or, for a part, its own.
func allowanceFrom(run metadata.Run, rec *metadata.Phase) int {
	return max(run.AllowanceFrom, rec.AllowanceFrom)
}

// sessionOf returns n if attempt n left a session that this agent can go on with, else 0. What a reviewer has run may have
// changed what its session remembers: only one that ran nothing goes on.
func sessionOf(run metadata.Run, n int, agent string) int {
	if n < 1 || n > len(run.Attempts) {
		return 0
	}
	of := run.Attempts[n-1]
	if of.Step == metadata.Review && !unfounded(of.Why) || of.Agent != agent || of.Session == "" || !of.Confirmed || InOrder(run)(of.StartedAt, newest(run, IssueTaken).At) < 0 {
		return 0
	}
	if slices.ContainsFunc(run.Attempts, func(a metadata.Attempt) bool { return a.Resumed && a.Session == of.Session && spent(run, a) }) {
		return 0
	}
	return n
}

// unfounded reports whether a verdict did not count because its reviewer had run or opened nothing.
func unfounded(why metadata.Reason) bool {
	return slices.ContainsFunc(why.Each(), func(r metadata.Reason) bool {
		return r.Code() == "review_ran_nothing" || r.Code() == "review_opened_nothing"
	})
}

// IssueTaken is the step of a decision to take the issue anew.
const IssueTaken = "refresh-issue"

// ruleList gives rules as an attempt records them.
func ruleList(rules []metadata.Rule) string {
	words := make([]string, len(rules))
	for i, r := range rules {
		words[i] = string(r)
	}
	return strings.Join(words, ",")
}

// StopRepeats turns the outcome of a writing step into one that a person has to look at, if the step broke a rule
// that an earlier one of the same phase and generation has broken since a person last gave an allowance.
func StopRepeats(run metadata.Run, d Decision, o Outcome) Outcome {
	rec := run.Phase(d.Phase)
	if d.Do != DoExecute && d.Do != DoRevise || o.Code == metadata.SecretFound {
		return o
	}
	for _, rule := range o.Broke {
		if !brokeBefore(run, rec, rule) {
			continue
		}
		o.Status, o.Code, o.Class = metadata.Blocked, metadata.ChangeRefused, ""
		o.Why = metadata.Because("rule_broken_again", "changes", listed(o.Violations))
		o.Written, o.Questions = nil, nil
		return o
	}
	return o
}

// brokeBefore reports whether an earlier writing step of the phase broke a rule.
func brokeBefore(run metadata.Run, rec *metadata.Phase, rule metadata.Rule) bool {
	return slices.ContainsFunc(run.Attempts, func(a metadata.Attempt) bool {
		return a.N > allowanceFrom(run, rec) && a.Phase == rec.Name && a.Generation == rec.Generation && a.Step != metadata.Review &&
			slices.Contains(strings.Split(a.Broke, ","), string(rule))
	})
}

// listed names the first violations for a person.
func listed(all []metadata.Violation) metadata.Reason {
	var parts []metadata.Reason
	for _, v := range all[:min(5, len(all))] {
		parts = append(parts, metadata.Because("change_reverted", "path", OneLine(v.Path), "why", v.Rule))
	}
	if more := len(all) - len(parts); more > 0 {
		parts = append(parts, metadata.Because("and_more", "n", more))
	}
	return metadata.All(parts...)
}

// assigned returns who does a step: the pipeline's agent, or the one that
// stands in for it while it is missing or has no valid key.
func assigned(c Course, p *pipelines.Phase, step metadata.Step) string {
	name := SettingsIn(c, p, step).Agent
	for range c.Plan.Agents {
		to := c.Plan.Agents[name].Fallback
		if to == "" || !down(c.Run, name) || down(c.Run, to) {
			break
		}
		name = to
	}
	return name
}

// down reports whether the newest call of an agent in this allowance failed for
// a reason that the next call would meet, too.
func down(run metadata.Run, agent string) bool {
	for _, a := range slices.Backward(run.Attempts) {
		if a.N <= run.AllowanceFrom {
			return false
		}
		if a.Agent == agent && a.Status != metadata.Cut && a.Status != metadata.Started {
			return a.Status == metadata.Errored && (a.Class == metadata.Missing || a.Class == metadata.Auth)
		}
	}
	return false
}

// Settings returns how the pipeline wants a step of a phase done.
func Settings(p *pipelines.Phase, step metadata.Step) pipelines.Step {
	switch step {
	case metadata.Review:
		return p.Review
	case metadata.Revise:
		return p.Revise
	}
	return p.Execute
}

// SettingsIn returns how a run does a step of a phase: Settings with what rules
// have changed, such as the agent that writes, or the tier of all steps.
func SettingsIn(c Course, p *pipelines.Phase, step metadata.Step) pipelines.Step {
	s := Settings(p, step)
	rec := c.Run.Phase(p.Name)
	if rec == nil || rec.Use == nil {
		return s
	}
	if use := rec.Use.Agent; use != "" && step != metadata.Review && c.Plan.Agents[use].Use != "" {
		s.Agent = use
	}
	s.Tier = cmp.Or(rec.Use.Tier, s.Tier)
	if was := Settings(p, step); s.Agent != was.Agent || s.Tier != was.Tier {
		s.Model = c.Plan.Agents[s.Agent].Models[s.Tier]
	}
	return s
}

// CutOff reports whether the newest work of a phase is that of a call which ended at the limit of
// its turns, so that it is likely to be unfinished.
func CutOff(run metadata.Run, rec *metadata.Phase) bool {
	if rec.Written < 1 || rec.Written > len(run.Attempts) {
		return false
	}
	a := run.Attempts[rec.Written-1]
	return a.Phase == rec.Name && a.Status == metadata.Succeeded && slices.ContainsFunc(a.Why.Each(), func(r metadata.Reason) bool { return r.Code() == "limit_reached" })
}
