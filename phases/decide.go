package phases

import (
	"encoding/json"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Course is a run and the plan that it goes by: all that says what is next.
type Course struct {
	Plan *pipelines.Pipeline
	Run  metadata.Run
}

// On gives the course of a run by a plan.
func On(plan *pipelines.Pipeline, run metadata.Run) Course { return Course{plan, run} }

// With gives the course of the run as it has become.
func (c Course) With(run metadata.Run) Course { return Course{c.Plan, run} }

// Decide says what comes next for a run. Same arguments, same answer.
func Decide(c Course) Decision {
	d := next(c)
	if d.Calls() {
		_, why := LimitReached(c.Run)
		if remaining := RemainingTime(c.Run); why == "" && remaining > 0 && d.Delay > remaining {
			why = metadata.Because("wait_beyond_budget", "wait", d.Delay.Round(time.Second))
		}
		if why != "" {
			return halt(DoWait, d.Phase, metadata.BudgetExceeded, why)
		}
	}
	return d
}

// next gives the first thing there is to do. Only if there is none, it ends: with what the first part waits for.
func next(c Course) Decision {
	all := Due(c)
	for _, d := range all {
		if !d.Final() {
			return d
		}
	}
	return all[0]
}

// Due gives what each phase needs that is not done and does not need another one
// that is not: at least one decision, in the order of the record, which has the
// phases that rules have inserted. It has more than one only among the parts of a
// phase, and in a pipeline with parallel: true.
func Due(c Course) (all []Decision) {
	for _, p := range c.Plan.Phases {
		if c.Run.Phase(p.Name) == nil {
			return []Decision{{Do: DoFail, Phase: p.Name, Code: metadata.StateCorrupt, Why: metadata.Because("phase_unrecorded")}}
		}
	}
	undone := map[string]bool{}
	for i := range c.Run.Phases {
		rec := &c.Run.Phases[i]
		p := c.Plan.Phase(rec.Name)
		if p == nil || rec.Status == metadata.PhaseSkipped {
			continue // the pipeline had it once, and the history names it
		}
		if !PhasesBeside(c.Plan, rec) && len(all) > 0 {
			return all // its parts are not all done
		}
		if waitsForOthers(c, rec, undone) {
			undone[rec.Name] = true
			continue
		}
		d := needed(c, p, rec)
		if d.Do == "" {
			continue
		}
		all, undone[rec.Name] = append(all, d), true
		if !PhasesBeside(c.Plan, rec) || d.Final() && !haltsAlone(rec, d) {
			return all
		}
	}
	switch {
	case len(all) > 0:
	case c.Run.AwaitsCI():
		all = []Decision{{Do: DoWait, Phase: c.Run.CurrentPhase, Code: metadata.AwaitingCI, Why: metadata.Because("ci_awaited")}}
	default:
		all = []Decision{{Do: DoFinish, Code: metadata.Done, Why: metadata.Because("phases_done")}}
	}
	return all
}

// needed gives what a phase needs to be done; the zero decision if it is.
func needed(c Course, p *pipelines.Phase, rec *metadata.Phase) Decision {
	switch rec.Status {
	case metadata.PhaseCompleted:
		if unreviewed(p, rec) {
			return attempt(c, rec, metadata.Review, metadata.Because("artifact_edited", "file", p.Writes))
		}
		if role, why := approver(p, c.Run, rec); role != "" {
			return halt(DoWait, p.Name, metadata.AwaitingPerson, metadata.Because("approval_needed", "phase", p.Name, "role", role, "why", why))
		}
		return Decision{}
	case metadata.PhaseFailed:
		return failed(rec)
	case metadata.PhasePending:
		return begin(c, rec, metadata.Because("not_begun"))
	}
	return inProgress(c, p, rec)
}

// failed ends a run whose phase has no revises left.
func failed(rec *metadata.Phase) Decision {
	code, why := metadata.ReviewFailed, metadata.Because("review_still_fails", "n", rec.RetryCount)
	if rec.ChecksFail() {
		code, why = metadata.CheckFailed, metadata.Because("checks_still_fail", "n", rec.RetryCount)
		if len(rec.Verdict.OpenBlockers())+len(rec.Verdict.FailedGates()) > 0 {
			why = metadata.Because("both_still_fail", "n", rec.RetryCount)
		}
	}
	return halt(DoFail, rec.Name, code, whereItStands(rec, why))
}

// whyStuck says why another revise would lead nowhere; "" if it may lead somewhere.
func whyStuck(rec *metadata.Phase) metadata.Reason {
	switch {
	case inCircle(rec.Recent):
		return metadata.Because("going_in_circles")
	case findsOnlyNew(rec.Recent):
		var titles []string
		for _, f := range rec.Verdict.OpenBlockers() {
			titles = append(titles, OneLine(f.Title))
		}
		return metadata.Because("only_new_findings", "findings", titles)
	}
	return ""
}

func inProgress(of Course, p *pipelines.Phase, rec *metadata.Phase) Decision {
	if open := openQuestions(of.Run, rec); len(open) > 0 {
		return halt(DoWait, p.Name, metadata.AwaitingPerson, whyAsks(open))
	}
	switch step := rec.CurrentStep; step {
	case metadata.Execute:
		why := metadata.Because("nothing_written")
		switch {
		case apart(rec, step):
			why = metadata.Because("part_anew", "parts", IntegratedSince(of.Run, rec.Name))
		case rec.RollbackContext != nil:
			why = takenBack(rec)
		}
		return begin(of, rec, why)
	case metadata.Review:
		if checksDue(p, rec) {
			return Decision{Do: DoCheck, Phase: p.Name, Why: metadata.Because("checks_due", "n", len(p.Checks))}
		}
		return attempt(of, rec, step, whyReview(of.Run, rec))
	case metadata.Revise:
		if why := whyStuck(rec); why != "" {
			return halt(DoWait, p.Name, metadata.Stuck, whereItStands(rec, why))
		}
		return attempt(of, rec, step, whyRevise(rec))
	}
	if c := rec.Lane; rec.CurrentStep == metadata.Integrate && c != nil {
		if c.Conflict != nil && c.Conflict.Person {
			return halt(DoWait, p.Name, metadata.Conflicts, whyConflicts(rec))
		}
		return Decision{Do: DoIntegrate, Phase: p.Name, Why: metadata.Because("part_done")}
	}
	return halt(DoFail, p.Name, metadata.StateCorrupt, metadata.Because("step_unrecorded", "step", rec.CurrentStep))
}

// begin decides on the first step of a phase: an agent does it, unless there are parts that were done by agents.
func begin(c Course, rec *metadata.Phase, why metadata.Reason) Decision {
	if parts := PartsOf(&c.Run, rec.Name); len(parts) > 0 {
		return Decision{Do: DoIntegrate, Phase: rec.Name, Why: metadata.Because("parts_done", "n", len(parts))}
	}
	return attempt(c, rec, metadata.Execute, why)
}

// whyAsks says which questions a run waits for: at least one.
func whyAsks(open []metadata.Question) metadata.Reason {
	return metadata.Because("questions_asked", "phase", open[0].Phase, "n", len(open), "id", open[0].ID, "question", metadata.Said(OneLine(open[0].Text)))
}

// takenBack says why a phase was taken back.
func takenBack(rec *metadata.Phase) metadata.Reason {
	return metadata.Because("taken_back", "reason", metadata.Said(OneLine(rec.RollbackContext.Reason)))
}

// whyReview says what there is to review.
func whyReview(run metadata.Run, rec *metadata.Phase) metadata.Reason {
	switch {
	case rec.RollbackContext != nil && (rec.Written == 0 || run.Attempts[rec.Written-1].Generation < rec.Generation):
		return takenBack(rec)
	case rec.Verdict == nil:
		return metadata.Because("not_reviewed")
	}
	return metadata.Because("work_changed")
}

func whyRevise(rec *metadata.Phase) metadata.Reason {
	blockers, gates := len(rec.Verdict.OpenBlockers()), len(rec.Verdict.FailedGates())
	switch {
	case apart(rec, metadata.Revise):
		return whyConflicts(rec)
	case rec.RollbackContext != nil:
		return takenBack(rec)
	case rec.Verdict == nil || rec.Verdict.Verdict == metadata.Pass, rec.ChecksFail() && rec.Verdict.Verdict == metadata.Fail && blockers+gates == 0:
		return metadata.Because("checks_fail")
	case rec.Verdict.Verdict == metadata.PassWithSuggestions:
		return metadata.Because("suggestions_kept")
	case gates == 0:
		return metadata.Because("review_failed_blockers", "n", blockers)
	case blockers == 0:
		return metadata.Because("review_failed_gates", "n", gates)
	}
	return metadata.Because("review_failed", "blockers", blockers, "gates", gates)
}

// whyConflicts says what keeps the work of a part from the branch.
func whyConflicts(rec *metadata.Phase) metadata.Reason {
	c := rec.Lane.Conflict
	if len(c.Paths) == 0 {
		return metadata.Because("parts_checks_fail", "phase", rec.Name, "parts", c.Parts)
	}
	return metadata.Because("parts_conflict", "phase", rec.Name, "parts", c.Parts, "paths", c.Paths)
}

// checksDue reports whether the phase's checks have not run on its newest work.
func checksDue(p *pipelines.Phase, rec *metadata.Phase) bool {
	return len(p.Checks) > 0 && (rec.Checks == nil || rec.Checks.Written != rec.Written)
}

// Do is what a decision says to do.
type Do string

// What there is to do. The first three call an agent; Check runs the phase's
// commands, Integrate brings its parts together; the last three end the process.
const (
	DoExecute   Do = Do(metadata.Execute)
	DoReview    Do = Do(metadata.Review)
	DoRevise    Do = Do(metadata.Revise)
	DoCheck     Do = Do(metadata.Check)
	DoIntegrate Do = Do(metadata.Integrate) // the parts of a phase
	DoBaseline  Do = "baseline"             // before the first step; never decided
	DoSetup     Do = "setup"                // before a step, where the work tree has to be made ready; never decided
	DoWait      Do = "wait"
	DoFail      Do = "fail"
	DoFinish    Do = "finish"
)

// Decision is what the engine does next, and why. It is flat and comparable.
type Decision struct {
	Do     Do
	Phase  string
	Agent  string        // who does it: a name of the pipeline; empty without an agent
	Resume int           // number of the attempt whose session goes on; 0 starts a fresh one
	Again  bool          // the last call gave something unusable, and the session is told what
	Delay  time.Duration // to wait before the step, after an infrastructure error
	Code   metadata.Code // why it ends, for the last three
	Why    metadata.Reason
}

// halt is a decision to end the process at a phase.
func halt(how Do, phase string, code metadata.Code, why metadata.Reason) Decision {
	return Decision{Do: how, Phase: phase, Code: code, Why: why}
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

// Outcome is what came out of a decision. Time, ids and cost enter the record
// through it and through Beginning, nowhere else.
type Outcome struct {
	At     time.Time
	Status metadata.AttemptStatus // of the attempt; empty for decisions that make none
	Code   metadata.Code          // why it did not succeed
	Class  metadata.Class         // for metadata.Errored
	Why    metadata.Reason
	Stderr string // the end of what the agent's program wrote there

	Warnings       []string // what is odd about the call and did not stop it, in English, for the log
	Refused        string   // hosts that its network does not have, see metadata.Attempt
	Session, Model string
	Usage          metadata.Usage
	RetryAfter     time.Duration
	Duration       time.Duration

	Written    *Written        // for execute and revise that succeeded
	Questions  []askedQuestion // that the agent asks people before it goes on
	Violations []metadata.Violation
	Broke      []metadata.Rule        // by the violations
	Opened     []metadata.Opened      // that a person is asked about
	Checks     []metadata.CheckResult // for check
	OwnSetup   bool                   // see metadata.Checks
	Verdict    *metadata.Verdict      // for a review that succeeded
	Work       string                 // Digest of the work a review judged
	Tip        string                 // the commit that the step began with, which has the work that it judges
	Lost       []string               // tests that the newest work has broken, see LostTests

	Head     string             // newest commit with the work of a part that is done beside others; "": as before
	Conflict *metadata.Conflict // why such work could not be integrated; then Base is the commit of the branch that Head leads on from or, without a Head, that it is done anew upon
	Base     string
}

// End notes when a step was over that began at start. The clock may have been put back meanwhile.
func (o *Outcome) End(start, at time.Time) { o.At, o.Duration = at, max(0, at.Sub(start)) }

// Unsuccessfully is the outcome of a call that has to be made again.
func Unsuccessfully(code metadata.Code, why metadata.Reason) Outcome {
	return Outcome{Status: metadata.Unsuccessful, Code: code, Why: why}
}

// BlockedBy is the outcome of a call whose answer cannot be used as it is.
func BlockedBy(code metadata.Code, why metadata.Reason) Outcome {
	return Outcome{Status: metadata.Blocked, Code: code, Why: why}
}

// Written is what execute or revise left behind.
type Written struct {
	Digest string   // of the artifact
	Files  []string // artifact files, as paths from the top of the repository
	Diff   metadata.Diff
	Report json.RawMessage
}

// Beginning is what is known when an attempt starts.
type Beginning struct {
	At      time.Time
	Session string // chosen by us, or the one that goes on
	Model   string
	Base    string // the commit the tree is at
	Beside  bool   // it is a part that is done beside others
}
