package main

import (
	"errors"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// order is a command as somebody gave it.
type order struct {
	slashCommand
	by      string
	comment int64  // 0 if it came another way
	url     string // of the comment
	at      time.Time
	removed []prompts.Removal // from its text, because people do not see it
}

// line is a command on one line, with the first line of its text.
func (c slashCommand) line() string {
	text := oneLine(firstLine(c.Text))
	c.Text = ""
	return joined(" ", c.String(), text)
}

// without adds to what became of an order that its text was not taken whole.
func (o order) without(why metadata.Reason) metadata.Reason {
	if len(o.removed) == 0 {
		return why
	}
	var kinds []string
	for _, r := range o.removed {
		kinds = append(kinds, string(r.Kind))
	}
	return metadata.Because("taken_without", "what", why, "kinds", kinds)
}

// refused says why an order is not carried out. That is no error: it is what
// becomes of it.
type refused struct {
	code metadata.Code
	err  error
}

// Error says why.
func (r *refused) Error() string { return r.err.Error() }

// Unwrap returns why.
func (r *refused) Unwrap() error { return r.err }

// Why says why.
func (r *refused) Why() metadata.Reason { return phases.WhyOf(r.err) }

func refuse(code metadata.Code, why metadata.Reason) *refused {
	return &refused{code, &phases.Refusal{Reason: why}}
}

// deed is what an order makes of a run.
type deed struct {
	run    metadata.Run
	back   *phases.Rewound // of a rollback
	phase  string
	why    metadata.Reason // what became of it
	frozen bool            // the definition goes with the commit
}

// work computes what an order makes of a run, and changes nothing. Busy says
// that this process works on the run. An error is a *refused.
func (o order) work(plan *pipelines.Pipeline, run metadata.Run, busy bool) (deed, error) {
	c := phases.Command{Name: o.Name, By: o.by, Comment: o.comment, Phase: o.Phase, At: o.at}
	var next metadata.Run
	var err error
	var why metadata.Reason
	switch o.Name {
	case "run", "resume":
		return o.goOn(plan, run, busy)
	case "rollback", "reject":
		back, err := phases.Back(plan, run, o.rewind())
		if err != nil {
			return deed{}, &refused{metadata.NotACommand, meant(err)}
		}
		return deed{run: back.Run, back: &back, phase: o.Phase, why: metadata.Because("went_back", "phase", back.Entry.ToPhase, "step", back.Entry.ToStep)}, nil
	case "retry":
		next, err = phases.Retry(plan, run, o.Phase, phases.Start{At: o.at, More: o.More})
		why = metadata.Because("allowed_anew")
	case "cancel":
		why = o.told(metadata.Because("cancelled"))
		next, err = phases.Cancel(run, why, o.at)
	case "pause":
		why = o.told(metadata.Because("paused"))
		next, err = phases.Pause(run, why, o.at)
	case "skip":
		next, err = phases.Skip(plan, run, o.Phase, o.at)
		why = o.told(metadata.Because("left_out", "phase", o.Phase))
	case "approve":
		phase, role, _, _ := phases.Approval(plan, run)
		next, err = phases.Approve(plan, run, c)
		o.Phase, why = phase, metadata.Because("approved", "phase", phase, "role", role)
	case "answer":
		next, err = phases.Answer(run, o.Question, o.Text, c)
		why = metadata.Because("answered", "question", o.Question)
		if o.Question == "" {
			why = metadata.Because("answered_it")
		}
	default:
		return deed{}, refuse(metadata.NotACommand, metadata.Because("command_unknown", "command", o.Name))
	}
	if err != nil {
		return deed{}, &refused{o.codeFor(run), meant(err)}
	}
	if d := phases.Decide(plan, next); o.Name == "retry" && d.Do == phases.DoWait && d.Code == metadata.AwaitingPerson {
		return deed{}, refuse(d.Code, d.Why)
	}
	phase := o.Phase
	if phase == "" {
		phase = next.CurrentPhase
	}
	return deed{run: next, phase: phase, why: why}, nil
}

// meant adds to an error about a phase that is not there which one was probably
// meant.
func meant(err error) error {
	var unknown *phases.UnknownPhase
	if errors.As(err, &unknown) {
		if near := slashNearest(unknown.Phase, unknown.Known); near != "" {
			return &phases.Refusal{Reason: metadata.Because("did_you_mean", "why", unknown.Why(), "near", near)}
		}
	}
	return err
}

// told says what was done, by whom, and why.
func (o order) told(what metadata.Reason) metadata.Reason {
	text := metadata.Said(brief(oneLine(o.Text), 300))
	switch {
	case o.by == "" && text == "":
		return what
	case o.by == "":
		return metadata.Because("done_for", "what", what, "reason", text)
	case text == "":
		return metadata.Because("done_by", "what", what, "by", o.by)
	}
	return metadata.Because("done_by_for", "what", what, "by", o.by, "reason", text)
}

// codeFor gives the reason code for an order that a run as it stands does not
// allow.
func (o order) codeFor(run metadata.Run) metadata.Code {
	switch {
	case o.Name == "approve" || o.Name == "answer" || o.Name == "skip":
		return metadata.NotACommand
	case run.Status == metadata.Running:
		return metadata.AlreadyRunning
	case run.Status == metadata.Completed:
		return metadata.Done
	case run.Status == metadata.Cancelled:
		return metadata.RunCancelled
	}
	return metadata.NotACommand
}

// rewind is the rollback that an order asks for.
func (o order) rewind() phases.Rewind {
	step := o.Step
	if step == "" {
		step = metadata.Revise
	}
	return phases.Rewind{
		To: o.Phase, Step: step, Reason: o.Text, By: o.by, CommentURL: o.url, Restore: o.Restore, Trigger: metadata.Manual, At: o.at,
	}
}

// waitsFor reports whether a run has stopped already where it would wait for a
// person if it went on. One that was paused elsewhere has not.
func waitsFor(run metadata.Run, d phases.Decision) bool {
	return run.Status == metadata.Waiting && d.Do == phases.DoWait && d.Code == metadata.AwaitingPerson &&
		run.Stop.Code == d.Code && run.Stop.Phase == d.Phase
}

// goOn starts a run again that has stopped.
func (o order) goOn(plan *pipelines.Pipeline, run metadata.Run, busy bool) (deed, error) {
	anew := o.Refresh || o.RefreshIssue
	switch {
	case run.Status == metadata.Completed && !anew:
		return deed{}, refuse(metadata.Done, metadata.Because("run_completed"))
	case run.Status == metadata.Running && busy:
		return deed{}, refuse(metadata.AlreadyRunning, metadata.Because("run_under_way"))
	}
	if err := o.keepsTo(plan); err != nil {
		return deed{}, err
	}
	next := phases.TakeUp(run, phases.Start{At: o.at, More: o.More, Refresh: o.Refresh, Issue: o.RefreshIssue})
	if next.Status != metadata.Running && !anew {
		return deed{}, refuse(next.Stop.Code, metadata.Because("run_stopped", "status", next.Status, "why", next.Stop.Why))
	}
	if d := phases.Decide(plan, next); next.Status == metadata.Running && waitsFor(run, d) {
		if !o.RefreshIssue {
			return deed{}, refuse(d.Code, d.Why)
		}
		next = run // the new text is taken all the same
	}
	why := metadata.Because("goes_on")
	switch {
	case o.Refresh && o.RefreshIssue:
		why = metadata.Because("goes_on_with_both")
	case o.Refresh:
		why = metadata.Because("goes_on_anew")
	case o.RefreshIssue:
		why = metadata.Because("goes_on_with_issue")
	}
	return deed{run: next, phase: next.CurrentPhase, why: why, frozen: anew}, nil
}

// keepsTo refuses a pipeline or phases that a run which has begun would not
// take: it would spend on others than those that were asked for.
func (o order) keepsTo(plan *pipelines.Pipeline) error {
	switch {
	case o.Refresh:
	case o.Pipeline != "" && o.Pipeline != fullName(plan):
		return refuse(metadata.NotACommand, metadata.Because("keeps_pipeline", "pipeline", fullName(plan), "other", o.Pipeline))
	case o.From+o.Until+o.Only != "" || len(o.Skip) > 0:
		return refuse(metadata.NotACommand, metadata.Because("keeps_phases"))
	}
	return nil
}
