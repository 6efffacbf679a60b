package phases

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Do is what a decision says to do.
type Do string

// What there is to do. The first three call an agent; Check runs the phase's
// commands; the last three end the process.
const (
	DoExecute Do = Do(metadata.Execute)
	DoReview  Do = Do(metadata.Review)
	DoRevise  Do = Do(metadata.Revise)
	DoCheck   Do = Do(metadata.Check)
	DoWait    Do = "wait"
	DoFail    Do = "fail"
	DoFinish  Do = "finish"
)

// Decision is what the engine does next, and why. It is flat and comparable.
type Decision struct {
	Do     Do
	Phase  string
	Agent  string        // who does it: a name of the pipeline; empty without an agent
	Resume int           // number of the attempt whose session goes on; 0 starts a fresh one
	Again  bool          // the last call brought something unusable: the session is told what
	Delay  time.Duration // to wait before, after an infrastructure error
	Code   metadata.Code // why it ends, for the last three
	Why    metadata.Reason
}

// Final reports whether the decision ends the process.
func (d Decision) Final() bool { return d.Do == DoWait || d.Do == DoFail || d.Do == DoFinish }

// Calls reports whether the decision calls an agent, which costs money.
func (d Decision) Calls() bool { return d.Agent != "" }

// Step returns the step of the decision, or "" for one that ends the process.
func (d Decision) Step() metadata.Step {
	if d.Final() {
		return ""
	}
	return metadata.Step(d.Do)
}

// String prints the decision as one line of a log.
func (d Decision) String() string {
	if d.Phase == "" {
		return fmt.Sprintf("%s: %s", d.Do, Say("en", d.Why))
	}
	return fmt.Sprintf("%s %s: %s", d.Do, d.Phase, Say("en", d.Why))
}

// Decide says what comes next for a run. Same arguments, same answer.
func Decide(plan *pipelines.Pipeline, run metadata.Run) Decision {
	d := next(plan, run)
	if d.Calls() {
		_, why := overBudget(run)
		if left := secondsLeft(run); why == "" && left > 0 && d.Delay > left {
			why = metadata.Because("wait_beyond_budget", "wait", d.Delay.Round(time.Second))
		}
		if why != "" {
			return Decision{Do: DoWait, Phase: d.Phase, Code: metadata.BudgetExceeded, Why: why}
		}
	}
	return d
}

// next finds the first phase that is not done and the step it needs. The record
// has the phases in their order, with those that rules have inserted.
func next(plan *pipelines.Pipeline, run metadata.Run) Decision {
	for _, p := range plan.Phases {
		if run.Phase(p.Name) == nil {
			return Decision{Do: DoFail, Phase: p.Name, Code: metadata.StateCorrupt, Why: metadata.Because("phase_unrecorded")}
		}
	}
	for i := range run.Phases {
		rec := &run.Phases[i]
		p := plan.Phase(rec.Name)
		if p == nil || rec.Status == metadata.PhaseSkipped {
			continue // the pipeline had it once, and the history names it
		}
		switch rec.Status {
		case metadata.PhaseCompleted:
			if Unreviewed(p, rec) {
				return attempt(plan, run, p, rec, metadata.Review, metadata.Because("artifact_edited", "file", p.Writes))
			}
			if role, why := approver(p, run, rec); role != "" {
				return Decision{Do: DoWait, Phase: p.Name, Code: metadata.AwaitingPerson, Why: metadata.Because("approval_needed", "phase", p.Name, "role", role, "why", why)}
			}
			continue
		case metadata.PhaseFailed:
			return failed(rec)
		case metadata.PhasePending:
			return attempt(plan, run, p, rec, metadata.Execute, metadata.Because("not_begun"))
		}
		return inProgress(plan, run, p, rec)
	}
	return Decision{Do: DoFinish, Code: metadata.Done, Why: metadata.Because("phases_done")}
}

// failed ends a run whose phase has no revises left. A check that fails is the
// reason whatever its review found besides: that is measured.
func failed(rec *metadata.Phase) Decision {
	code, why := metadata.ReviewFailed, metadata.Because("review_still_fails", "n", rec.RetryCount)
	if checkFails(rec) {
		code, why = metadata.CheckFailed, metadata.Because("checks_still_fail", "n", rec.RetryCount)
		if len(openBlockers(rec.Verdict))+len(failedGates(rec.Verdict)) > 0 {
			why = metadata.Because("both_still_fail", "n", rec.RetryCount)
		}
	}
	return Decision{Do: DoFail, Phase: rec.Name, Code: code, Why: why}
}

func inProgress(plan *pipelines.Pipeline, run metadata.Run, p *pipelines.Phase, rec *metadata.Phase) Decision {
	if open := openQuestions(run, rec); len(open) > 0 {
		return Decision{Do: DoWait, Phase: p.Name, Code: metadata.AwaitingPerson, Why: whyAsks(open)}
	}
	switch step := rec.CurrentStep; step {
	case metadata.Execute:
		why := metadata.Because("nothing_written")
		if rec.RollbackContext != nil {
			why = takenBack(rec)
		}
		return attempt(plan, run, p, rec, step, why)
	case metadata.Review:
		if checksDue(p, rec) {
			return Decision{Do: DoCheck, Phase: p.Name, Why: metadata.Because("checks_due", "n", len(p.Checks))}
		}
		return attempt(plan, run, p, rec, step, whyReview(run, rec))
	case metadata.Revise:
		if circle(rec.Recent) {
			return Decision{Do: DoWait, Phase: p.Name, Code: metadata.Stuck, Why: metadata.Because("going_in_circles")}
		}
		return attempt(plan, run, p, rec, step, whyRevise(rec))
	}
	return Decision{Do: DoFail, Phase: p.Name, Code: metadata.StateCorrupt, Why: metadata.Because("step_unrecorded", "step", rec.CurrentStep)}
}

// whyAsks says which questions a run waits for: at least one.
func whyAsks(open []metadata.Question) metadata.Reason {
	return metadata.Because("questions_asked", "phase", open[0].Phase, "n", len(open), "id", open[0].ID, "question", metadata.Said(brief(open[0].Text)))
}

// takenBack says why a phase was taken back that was.
func takenBack(rec *metadata.Phase) metadata.Reason {
	return metadata.Because("taken_back", "reason", metadata.Said(brief(rec.RollbackContext.Reason)))
}

// whyReview says what there is to review.
func whyReview(run metadata.Run, rec *metadata.Phase) metadata.Reason {
	switch {
	case rec.RollbackContext != nil && generationOf(run, rec.Written) < rec.Generation:
		return takenBack(rec)
	case rec.Verdict == nil:
		return metadata.Because("not_reviewed")
	}
	return metadata.Because("work_changed")
}

// generationOf gives the generation of a phase in which an attempt was made.
func generationOf(run metadata.Run, attempt int) int {
	if attempt < 1 || attempt > len(run.Attempts) {
		return 0
	}
	return run.Attempts[attempt-1].Generation
}

func whyRevise(rec *metadata.Phase) metadata.Reason {
	blockers, gates := len(openBlockers(rec.Verdict)), len(failedGates(rec.Verdict))
	switch {
	case rec.RollbackContext != nil:
		return takenBack(rec)
	case rec.Verdict == nil || rec.Verdict.Verdict == metadata.Pass, checkFails(rec) && rec.Verdict.Verdict == metadata.Fail && blockers+gates == 0:
		return metadata.Because("checks_fail")
	case rec.Verdict.Verdict == metadata.PassWithSuggestions:
		return metadata.Because("suggestions_kept")
	}
	return metadata.Because("review_failed", "blockers", blockers, "gates", gates)
}

// checksDue reports whether the phase's checks have not run on its newest work.
func checksDue(p *pipelines.Phase, rec *metadata.Phase) bool {
	return len(p.Checks) > 0 && (rec.Checks == nil || rec.Checks.Written != rec.Written)
}

// attempt decides on a step by an agent, in the light of how earlier calls
// for the very same work ended.
func attempt(plan *pipelines.Pipeline, run metadata.Run, p *pipelines.Phase, rec *metadata.Phase, step metadata.Step, why metadata.Reason) Decision {
	d := Decision{Do: Do(step), Phase: p.Name, Agent: assigned(plan, run, p, step), Why: why}
	if step == metadata.Revise {
		d.Resume = sessionOf(run, rec.Written, d.Agent)
	}
	tries := effort(run, rec, step)
	if len(tries) == 0 {
		return d
	}
	last := tries[len(tries)-1]
	if _, known := plan.Agents[last.Agent]; !known {
		return d // the command line has put others in its place since
	}
	switch last.Status {
	case metadata.Errored:
		return afterError(plan, run, p, d, tries)
	case metadata.Unsuccessful, metadata.Blocked:
		if last.Code == metadata.ProtectedPath || last.Code == metadata.PatchTooLarge && last.Status == metadata.Blocked {
			return Decision{Do: DoWait, Phase: d.Phase, Code: last.Code, Why: last.Why}
		}
		if last.Code == metadata.AwaitingPerson {
			d.Agent, d.Resume, d.Why = last.Agent, sessionOf(run, last.N, last.Agent), metadata.Because("questions_answered")
			return d
		}
		return afterNothing(run, d, tries)
	case metadata.Cut:
		d.Why = metadata.Because("call_interrupted")
		d.Agent = last.Agent
		d.Resume = sessionOf(run, last.N, d.Agent)
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
		return Decision{Do: DoWait, Phase: d.Phase, Code: last.Code, Why: first(last.Why)}
	}
	d.Agent, d.Again, d.Why = last.Agent, true, metadata.Because("asked_again", "why", first(last.Why))
	d.Resume = sessionOf(run, last.N, d.Agent)
	return d
}

// afterError decides what follows an infrastructure error: another agent,
// the same one later, or the end.
func afterError(plan *pipelines.Pipeline, run metadata.Run, p *pipelines.Phase, d Decision, tries []metadata.Attempt) Decision {
	last := tries[len(tries)-1]
	if last.Resumed && last.Class == metadata.Crash {
		d.Agent, d.Resume = last.Agent, 0
		d.Why = metadata.Because("session_gone")
		return d
	}
	used := func(name string) int {
		n := 0
		for _, a := range tries {
			gone := a.Resumed && a.Class == metadata.Crash // only the session was, see above
			if a.Agent == name && a.Status == metadata.Errored && !gone {
				n++
			}
		}
		return n
	}
	if to := plan.Agents[last.Agent].Fallback; to != "" && used(to) == 0 && fallsBack(last.Class, used(last.Agent)) {
		d.Agent, d.Resume = to, 0
		d.Why = metadata.Because("falls_back", "agent", last.Agent, "class", last.Class, "to", to)
		return d
	}
	if n := used(last.Agent); n <= retries(last.Class, p.Retry.Max) {
		if d.Agent != last.Agent {
			d.Resume = 0
		}
		asked := time.Duration(last.RetryAfter) * time.Second
		if left := secondsLeft(run); left > 0 && asked > left {
			return Decision{Do: DoFail, Phase: d.Phase, Code: codeOf(last.Class), Why: whyTooLate(last, left)}
		}
		d.Agent, d.Delay = last.Agent, max(backoff(p.Retry, run, n), asked)
		d.Why = metadata.Because("tried_again", "agent", last.Agent, "class", last.Class, "n", n+1, "most", retries(last.Class, p.Retry.Max)+1)
		return d
	}
	return Decision{Do: DoFail, Phase: d.Phase, Code: codeOf(last.Class), Why: metadata.Because("step_errored", "step", d.Do, "phase", d.Phase, "why", first(last.Why))}
}

// whyTooLate says that a service asks to be left alone for longer than the run
// has time: more of the budget would not help before that is over.
func whyTooLate(last metadata.Attempt, left time.Duration) metadata.Reason {
	asked := time.Duration(last.RetryAfter) * time.Second
	if last.EndedAt == nil {
		return metadata.Because("wait_beyond_time", "agent", last.Agent, "class", last.Class, "wait", asked, "left", left)
	}
	when := last.EndedAt.Add(asked).UTC().Format("2006-01-02 15:04 UTC")
	return metadata.Because("wait_beyond_time_until", "agent", last.Agent, "class", last.Class, "wait", asked, "left", left, "when", when)
}

// fallsBack reports whether another agent takes over after n errors of a class.
// A crash may be chance, so it gets a second try first.
func fallsBack(c metadata.Class, n int) bool {
	switch c {
	case metadata.Missing, metadata.Auth, metadata.RateLimited:
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

// backoff gives the wait after n errors: exponential, capped, and shorter by up
// to a fifth, which differs from run to run: those that failed together do not
// come back together.
func backoff(r pipelines.Retry, run metadata.Run, n int) time.Duration {
	d := float64(r.Initial)
	for range n - 1 {
		d *= r.Factor
	}
	seed := sha256.Sum256(fmt.Appendf(nil, "%s %d", run.Execution.ID, len(run.Attempts)))
	spread := float64(int(seed[0])<<8|int(seed[1])) / (1 << 16)
	return time.Duration(min(d, float64(r.Cap)) * (1 - spread/5))
}

func codeOf(c metadata.Class) metadata.Code {
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

// effort returns the attempts already made for the work at hand: the same
// phase, step, generation and round, since a person last gave an allowance.
func effort(run metadata.Run, rec *metadata.Phase, step metadata.Step) []metadata.Attempt {
	var tries []metadata.Attempt
	for _, a := range slices.Backward(run.Attempts) {
		if a.N <= run.AllowanceFrom || a.Phase != rec.Name || a.Generation != rec.Generation {
			break
		}
		if a.Step == step && a.Round == rec.Round {
			tries = append(tries, a)
		}
	}
	slices.Reverse(tries)
	return tries
}

// assigned returns who does a step: the pipeline's agent, or the one that
// stands in for it while it is missing or has no valid key.
func assigned(plan *pipelines.Pipeline, run metadata.Run, p *pipelines.Phase, step metadata.Step) string {
	name := SettingsIn(plan, run, p, step).Agent
	for range plan.Agents {
		to := plan.Agents[name].Fallback
		if to == "" || !down(run, name) || down(run, to) {
			break
		}
		name = to
	}
	return name
}

// down reports whether the newest call of an agent in this allowance failed
// in a way that the next one would, too.
func down(run metadata.Run, agent string) bool {
	for _, a := range slices.Backward(run.Attempts) {
		if a.N <= run.AllowanceFrom {
			return false
		}
		if a.Agent == agent && a.Status != metadata.Cut {
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

// SettingsIn returns how a run does a step of a phase: as Settings, with what
// rules have changed about that: another agent writes, another tier counts for
// all steps.
func SettingsIn(plan *pipelines.Pipeline, run metadata.Run, p *pipelines.Phase, step metadata.Step) pipelines.Step {
	s := Settings(p, step)
	rec := run.Phase(p.Name)
	if rec == nil || rec.Use == nil {
		return s
	}
	if use := rec.Use.Agent; use != "" && step != metadata.Review && plan.Agents[use].Use != "" {
		s.Agent = use
	}
	if rec.Use.Tier != "" {
		s.Tier = rec.Use.Tier
	}
	if was := Settings(p, step); s.Agent != was.Agent || s.Tier != was.Tier {
		s.Model = plan.Agents[s.Agent].Models[s.Tier]
	}
	return s
}

// sessionOf returns n if attempt n left a session that this agent can go on
// with, else 0.
func sessionOf(run metadata.Run, n int, agent string) int {
	if n < 1 || n > len(run.Attempts) {
		return 0
	}
	if a := run.Attempts[n-1]; a.Agent != agent || a.Session == "" || !a.Confirmed || a.StartedAt.Before(issueTaken(run)) {
		return 0
	}
	return n
}
