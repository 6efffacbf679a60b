package phases

import (
	"cmp"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Begin opens the attempt of a decision in the record. That is saved before the
// agent starts, so the call is known even if reprise is killed.
func Begin(run metadata.Run, d Decision, b Beginning) metadata.Run {
	run = run.Clone()
	rec := run.Phase(d.Phase)
	if rec.Status == metadata.PhasePending {
		rec.Status, rec.CurrentStep, rec.StartedAt = metadata.PhaseInProgress, metadata.Execute, &b.At
	}
	if rec.Status == metadata.PhaseCompleted { // somebody has changed what it left behind
		rec.Status, rec.CurrentStep, rec.CompletedAt = metadata.PhaseInProgress, d.Step(), nil
		rec.CompletedSteps = slices.DeleteFunc(rec.CompletedSteps, func(s metadata.Step) bool { return s == d.Step() })
	}
	if rec.Base == "" {
		rec.Base = b.Base
		if first := firstPart(&run, d.Phase); first != nil {
			rec.Base, rec.Upstream = first.Base, first.Upstream
		}
	}
	switch {
	case !b.Beside:
	case rec.Lane == nil:
		rec.Lane = &metadata.Lane{Base: b.Base}
	case IsAnew(rec.Lane):
		rec.Lane.Base, rec.Lane.Conflict.Parts = b.Base, IntegratedSince(run, rec.Name)
	}
	run.CurrentPhase = d.Phase
	n := len(run.Attempts) + 1
	run.Attempts = append(run.Attempts, metadata.Attempt{
		N: n, Phase: d.Phase, Step: d.Step(), Generation: rec.Generation, Round: rec.Round,
		Agent: d.Agent, Model: b.Model, Session: b.Session, Resumed: d.Resume > 0,
		Status: metadata.Started, StartedAt: b.At,
	})
	note(&run, b.At, string(d.Do), d.Phase, d.Why)
	run.Decisions[len(run.Decisions)-1].Attempt = n
	return touch(run, b.At)
}

// Apply gives the record after a decision and its outcome.
func Apply(c Course, d Decision, o Outcome) metadata.Run {
	c.Run = c.Run.Clone()
	if d.Final() {
		return touch(end(c.Run, d, o), o.At)
	}
	rec := c.Run.Phase(d.Phase)
	a := conclude(&c.Run, d, o)
	if IsVoid(rec, *a) {
		return touch(c.Run, o.At)
	}
	if rec.Lane != nil && o.Head != "" {
		rec.Lane.Head = o.Head
	}
	evaluated := o.Status != metadata.Errored && o.Status != metadata.Cut // otherwise the objections to the work stay as they are
	if evaluated && (d.Do == DoExecute || d.Do == DoRevise) {
		rec.Violations = firstViolations(o.Violations) // the next call is told
		rec.Opened = o.Opened
	}
	if o.Status == metadata.Succeeded {
		p := c.Plan.Phase(d.Phase)
		switch d.Do {
		case DoExecute, DoRevise, DoIntegrate:
			wrote(&c.Run, rec, p, a, o)
		case DoCheck:
			rec.Checks = &metadata.Checks{Written: rec.Written, Results: o.Checks, OwnSetup: o.OwnSetup}
			a.Verdict = RulingOf(o.Checks)
			if len(o.Lost) > 0 && stand(&c.Run, rec, o.Lost) { // no review is needed to say that this is worse
				completeOrRevise(&c.Run, rec, p, o)
				break
			}
			if p.NoReview || slices.Contains(rec.CompletedSteps, metadata.Review) { // it has passed, and the base was merged since
				completeOrRevise(&c.Run, rec, p, o)
			}
		case DoReview:
			reviewed(&c.Run, rec, p, o)
			c.Run.AnswerReviews(rec)
			if a.Verdict = rec.Verdict.Verdict; rec.Verdict.Own() != a.Verdict {
				a.Why = WhyChecksFailed(rec.Checks.Results) // the review has nothing against the work
			}
			for _, g := range rec.Verdict.FailedGates() {
				a.FailedGates = append(a.FailedGates, g.Gate)
			}
		}
	}
	switch {
	case o.Conflict != nil:
		conflicts(rec, *o.Conflict, o)
	case evaluated && leftApart(c, rec):
		anew(rec)
	}
	addQuestions(&c.Run, rec, o.Questions, o)
	if o.Status == metadata.Cut {
		c.Run.Status = metadata.Interrupted
		c.Run.Stop = &metadata.Stop{Code: cmp.Or(o.Code, metadata.RunCancelled), Why: o.Why, Phase: d.Phase, Step: d.Step(), At: o.At}
	}
	return touch(c.Run, o.At)
}

// end records that the process stops, and why.
func end(run metadata.Run, d Decision, o Outcome) metadata.Run {
	note(&run, o.At, string(d.Do), d.Phase, d.Why)
	if d.Do == DoFinish {
		run.Status, run.Stop = metadata.Completed, nil
		return run
	}
	run.Status = metadata.Waiting
	if d.Do == DoFail {
		run.Status = metadata.Failed
	}
	run.Stop = &metadata.Stop{Code: d.Code, Why: d.Why, Phase: d.Phase, At: o.At}
	if rec := run.Phase(d.Phase); rec != nil {
		run.Stop.Step = rec.CurrentStep
		run.CurrentPhase = d.Phase // it may be one before, whose approval is void
	}
	return run
}

// IsVoid reports whether what an attempt comes to has no effect, because people have
// taken its phase back or left it out meanwhile. Only cost and history have it.
func IsVoid(rec *metadata.Phase, a metadata.Attempt) bool {
	return rec.Status != metadata.PhaseInProgress || rec.Generation != a.Generation
}

// AttemptOf gives the newest attempt of a phase, which has to have one: the open one
// while somebody is at work on the phase. It points into run.
func AttemptOf(run *metadata.Run, phase string) *metadata.Attempt {
	i := len(run.Attempts) - 1
	for i > 0 && run.Attempts[i].Phase != phase {
		i--
	}
	return &run.Attempts[i]
}

// conclude completes the open attempt of a decision.
func conclude(run *metadata.Run, d Decision, o Outcome) *metadata.Attempt {
	a := AttemptOf(run, d.Phase)
	a.EndedAt, a.Status, a.Code, a.Class, a.Why = &o.At, o.Status, o.Code, o.Class, o.Why
	if o.Status != metadata.Succeeded {
		a.Stderr = o.Stderr
	}
	a.Broke, a.Refused = ruleList(o.Broke), o.Refused
	a.Usage, a.DurationMS = o.Usage, o.Duration.Milliseconds()
	a.RetryAfter = int(o.RetryAfter.Seconds())
	a.Session, a.Confirmed = o.Session, o.Session != ""
	a.Model = cmp.Or(o.Model, a.Model)
	run.Cost = addUsage(run.Cost, o.Usage)
	return a
}

// wrote records new work of a phase, which nobody has judged yet.
func wrote(run *metadata.Run, rec *metadata.Phase, p *pipelines.Phase, a *metadata.Attempt, o Outcome) {
	switch {
	case a.Step == metadata.Integrate && rec.Lane != nil: // it is reviewed already
		rec.Lane = nil
		complete(rec, o.At)
		return
	case a.Step == metadata.Revise && rec.Lane != nil && rec.Lane.Conflict != nil && rec.Lane.Conflict.Writer == 0:
		rec.Lane.Conflict.Writer = a.N // nobody has found anything wrong with the work
	case a.Step == metadata.Revise:
		rec.RetryCount++
	}
	rec.Written = a.N
	rec.Digest, rec.OutputFiles, rec.Diff = o.Written.Digest, o.Written.Files, &o.Written.Diff
	if o.Written.Report != nil {
		rec.Report = o.Written.Report
		takeDecisions(&run.DesignDecisions, o.Written.Report)
		takeParts(run, p, o.Written.Report)
		children(run, p, o.Written.Report)
	}
	rec.CompletedSteps = stepDone(rec.CompletedSteps, a.Step)
	rec.CurrentStep = metadata.Review
	if p.NoReview {
		rec.Verdict, rec.ReviewResult = nil, "" // of a review that was switched off since
	}
	if p.NoReview && len(p.Checks) == 0 {
		complete(rec, o.At)
	}
}

// reviewed records a verdict and what follows from it.
func reviewed(run *metadata.Run, rec *metadata.Phase, p *pipelines.Phase, o Outcome) {
	before := rec.Verdict
	v := concludeVerdict(*o.Verdict, before, !rec.ChecksFail())
	if v.Commit = o.Tip; rec.Lane != nil && rec.Lane.Head != "" {
		v.Commit = rec.Lane.Head // the tip of its tree is on no branch
	}
	rec.Verdict, rec.ReviewResult = &v, string(v.Verdict)
	rec.Round++
	rec.CompletedSteps = stepDone(rec.CompletedSteps, metadata.Review)
	rec.Recent = append(rec.Recent, roundOf(o.Work, rec, before))
	completeOrRevise(run, rec, p, o)
}

// completeOrRevise completes the phase if everything about it holds, sends it to revise
// while there are revises left, and fails it otherwise: then it stands on its best work.
func completeOrRevise(run *metadata.Run, rec *metadata.Phase, p *pipelines.Phase, o Outcome) {
	keepBest(rec, o.Tip)
	passes := !rec.ChecksFail() && (rec.Verdict == nil || rec.Verdict.Verdict != metadata.Fail) // without a review there is none
	switch {
	case passes && p.ReviseAlways && rec.RetryCount < p.Revisions &&
		len(rec.Verdict.OpenSuggestions()) > 0 && !inCircle(rec.Recent) && !actedOnSuggestions(run, rec): // nothing is wrong with the work
		rec.CurrentStep = metadata.Revise
	case passes:
		complete(rec, o.At)
	case rec.RetryCount >= p.Revisions:
		stand(run, rec, nil)
		rec.Status, rec.CurrentStep = metadata.PhaseFailed, ""
	default:
		rec.CurrentStep = metadata.Revise
		if whyStuck(rec) != "" {
			stand(run, rec, nil)
		}
	}
}

// complete completes a phase. The work of a part that was done beside others has to be on the branch for that.
func complete(rec *metadata.Phase, at time.Time) {
	if rec.Lane != nil && rec.Lane.Head != "" {
		rec.CurrentStep = metadata.Integrate
		return
	}
	rec.Lane, rec.Best = nil, nil
	rec.Status, rec.CurrentStep, rec.CompletedAt = metadata.PhaseCompleted, "", &at
	rec.Accepted = rec.Digest
	rec.RollbackContext = nil
}

// conflicts records why the work of a part could not be integrated.
func conflicts(rec *metadata.Phase, c metadata.Conflict, o Outcome) {
	was := rec.Lane.Conflict
	if was != nil {
		c.Writer, c.Anew, c.Person = was.Writer, true, was.Anew
	}
	rec.Lane.Conflict = &c
	switch {
	case c.Person:
		return
	case c.Anew:
		anew(rec)
	default:
		rec.CurrentStep = metadata.Revise
	}
	rec.Lane.Base, rec.Recent = o.Base, nil
	if len(o.Checks) > 0 {
		rec.Checks = &metadata.Checks{Written: rec.Written, Results: o.Checks}
	}
}

// leftApart reports whether the writer of a part has done nothing to resolve its conflict with
// what was merged before it, however it was asked.
func leftApart(c Course, rec *metadata.Phase) bool {
	if rec.CurrentStep != metadata.Revise || !apart(rec, metadata.Revise) {
		return false
	}
	next := attempt(c, rec, metadata.Revise, "")
	return next.Do == DoWait && (next.Code == metadata.Conflicts || next.Code == metadata.OutputInvalid)
}

// anew has a part that is in conflict done again, on what the branch has when it begins.
func anew(rec *metadata.Phase) {
	rec.Lane.Conflict.Anew = true
	rec.Lane.Head, rec.CurrentStep, rec.Recent = "", metadata.Execute, nil
}

// IsAnew reports whether a part begins again because of a conflict, with nothing of what it was.
func IsAnew(lane *metadata.Lane) bool {
	return lane != nil && lane.Head == "" && lane.Conflict != nil
}

// stepDone adds a step to the completed ones. New work makes an earlier review void.
func stepDone(done []metadata.Step, step metadata.Step) []metadata.Step {
	kept := slices.DeleteFunc(slices.Clone(done), func(s metadata.Step) bool {
		return s == step || (s == metadata.Review && step != metadata.Review)
	})
	return append(kept, step)
}

// firstViolations keeps only the first ones, so that prompts and records stay short.
func firstViolations(all []metadata.Violation) []metadata.Violation {
	const most = 50
	if len(all) <= most {
		return all
	}
	more := metadata.Violation{Path: "…", Rule: metadata.Because("not_listed", "n", len(all)-most)}
	return append(slices.Clone(all[:most]), more)
}

// actedOnSuggestions reports whether a review that passed has had the phase revised before: since its work began,
// or others edited it, for then the rounds begin anew.
func actedOnSuggestions(run *metadata.Run, rec *metadata.Phase) bool {
	acted, round := false, 0
	for _, a := range run.Attempts {
		if a.Phase == rec.Name && a.Generation == rec.Generation {
			acted = acted && a.Round >= round || a.Verdict == metadata.PassWithSuggestions
			round = a.Round
		}
	}
	return acted
}

// note adds to the history of a run what was done, to which phase, and why.
func note(run *metadata.Run, at time.Time, step, phase string, why metadata.Reason) {
	run.Decisions = append(run.Decisions, metadata.Decision{At: at, Step: step, Phase: phase, Why: why})
}

// touch makes a record the next one. It has to be a copy of the one before.
func touch(run metadata.Run, at time.Time) metadata.Run {
	run.Revision++
	run.UpdatedAt = at
	return run
}

func indexOf(list metadata.Phases, name string) int {
	return slices.IndexFunc(list, func(p metadata.Phase) bool { return p.Name == name })
}
