package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Request is a command as somebody gave it.
type Request struct {
	Command
	By      string
	Comment int64                // 0 if it came another way
	OnPull  bool                 // the comment is on the pull request
	Review  *metadata.PullReview // what it stands in, if that is a review; as the record will have it
	Url     string               // of the comment or review
	At      time.Time
	Written time.Time       // when its comment was; zero: it came another way
	Removed []clean.Removal // from its text, because people do not see it
}

// Line is a command on one line, with the first line of its text.
func (c Command) Line() string {
	body := text.OneLine(text.FirstLine(c.Text))
	c.Text = ""
	return text.Join(" ", c.String(), body)
}

// Without adds to what became of a command that parts of its text were left out.
func (o Request) Without(why metadata.Reason) metadata.Reason {
	if len(o.Removed) == 0 {
		return why
	}
	var kinds []string
	for _, r := range o.Removed {
		kinds = append(kinds, string(r.Kind))
	}
	return metadata.Because("taken_without", "what", why, "kinds", kinds)
}

// Refusal says why a command is not carried out. It does not stop the run: it is
// what became of the command.
type Refusal struct {
	Code metadata.Code
	error
}

// Unwrap returns why.
func (r *Refusal) Unwrap() error { return r.error }

// Why says why.
func (r *Refusal) Why() metadata.Reason { return prompts.Why(r.error) }

// Refuse makes a Refusal of its code and the reason that people are told.
func Refuse(code metadata.Code, why metadata.Reason) *Refusal {
	return RefusedBy(code, phases.Refuse(why))
}

// RefusedBy makes a Refusal of its code and the error that says why.
func RefusedBy(code metadata.Code, err error) *Refusal { return &Refusal{code, err} }

// Denial is something that was refused.
type Denial struct {
	Code  metadata.Code
	By    string          // login; empty if unknown
	What  string          // what was asked for, such as the command; may be empty
	Why   metadata.Reason // where it says more than the code; may be none
	Known bool            // it is a command, which the run as it stands does not allow
	Kept  bool            // not for the issue: the record of the run has it, or whoever asked does not have the right
}

// Words are the reason and then its code, for a line.
func (d Denial) Words(language string) string {
	return text.Join(" ", d.Why.In(prompts.Words(language)), fmt.Sprintf("(%s)", d.Code))
}

// Effect is what a command makes of a run.
type Effect struct {
	Run    metadata.Run
	Back   *phases.RollbackPlan // of a rollback
	Phase  string
	Why    metadata.Reason // what became of it
	Frozen bool            // the definition goes with the commit
	Since  *metadata.Run   // the record as committed, if that was done while it was found out; nil: the one that was given
}

// Taken is the command, with what it makes of a run, as the record notes it.
func (o Request) Taken(x Effect) phases.Command {
	return phases.Command{Name: o.Name, Text: o.Line(), By: o.By, Comment: o.Comment, OnPull: o.OnPull, Review: o.Review, Phase: x.Phase, Why: x.Why, At: o.At}
}

// Apply computes what a command makes of a run, and changes nothing. Busy says
// that this process works on the run. An error is a *Refusal.
func (o Request) Apply(of phases.Course, busy bool) (Effect, error) {
	c := o.Taken(Effect{Phase: o.Phase})
	var next metadata.Run
	var err error
	var why metadata.Reason
	switch o.Name {
	case "run":
		return o.goOn(of, busy)
	case "rollback":
		if o.Auto {
			return o.consult(of)
		}
		if o.Phase == "" {
			if o.Phase = newestTree(of); o.Phase == "" {
				return Effect{}, Refuse(metadata.NothingDone, metadata.Because("no_code_to_revise"))
			}
		}
		request := o.Rollback()
		request.From = StandsAt(of, o.Phase)
		back, err := phases.PlanRollback(of, request)
		if err != nil {
			return Effect{}, &Refusal{metadata.NothingDone, WithNearest(err)}
		}
		if request.Restore && phases.MergedSince(of.Run, back.Entry.ToPhase, back.Attempt) {
			return Effect{}, Refuse(metadata.NothingDone, metadata.Because("restore_merged", "phase", back.Entry.ToPhase))
		}
		if o.Review != nil {
			hold(back.Run.Phase(back.Entry.ToPhase), o.Review.Comments)
		}
		return Effect{Run: back.Run, Back: &back, Phase: o.Phase, Why: metadata.Because("went_back", "phase", back.Entry.ToPhase, "step", back.Entry.ToStep)}, nil
	case "retry":
		next, err = phases.Retry(of, o.Phase, phases.Start{At: o.At, More: o.More})
		why = metadata.Because("allowed_anew")
	case "update":
		if of.Run.Status == metadata.Cancelled {
			return Effect{}, Refuse(metadata.RunCancelled, metadata.Because("run_stopped", "status", of.Run.Status, "why", of.Run.Stop.Why))
		}
		next, why = phases.AskForMerge(of.Run, o.At), metadata.Because("update_asked")
	case "cancel":
		why = o.noted(metadata.Because("cancelled"))
		next, err = phases.Cancel(of.Run, why, o.At)
	case "pause":
		why = o.noted(metadata.Because("paused"))
		next, err = phases.Pause(of.Run, why, o.At)
	case "finish":
		if next, why = of.Run, metadata.Because("finished"); o.Squash {
			why = metadata.Because("squashed")
		}
		if of.Run.Status != metadata.Completed {
			return Effect{}, Refuse(metadata.NothingDone, metadata.Because("not_to_finish", "status", of.Run.Status))
		}
	case "skip":
		next, err = phases.Skip(of, o.Phase, o.At)
		why = o.noted(metadata.Because("left_out", "phase", o.Phase))
	case "approve":
		phase, role, _, _ := phases.Approval(of, o.Phase)
		// The work was not there yet when the comment that approves it was written, but the run was. A comment that is older
		// than the run comes from a forge whose clock says nothing.
		if rec := of.Run.Phase(phase); rec != nil && rec.CompletedAt != nil && o.Written.After(of.Run.CreatedAt) && o.Written.Before(rec.CompletedAt.Add(-clockSkew)) {
			return Effect{}, Refuse(metadata.StaleEvent, metadata.Because("approve_unseen", "phase", phase))
		}
		next, err = phases.Approve(of, c)
		o.Phase, why = phase, metadata.Because("approved", "phase", phase, "role", role)
		if next.Status == metadata.Cancelled && of.Run.Status != metadata.Cancelled {
			why = next.Stop.Why
		}
	case "answer":
		next, err = phases.Answer(of.Run, o.Question, o.Text, c)
		why = metadata.Because("answered", "question", o.Question)
		if o.Question == "" {
			why = metadata.Because("answered_it")
		}
	default:
		return Effect{}, Refuse(metadata.NothingDone, metadata.Because("command_unknown", "command", o.Name))
	}
	if err != nil {
		return Effect{}, &Refusal{o.codeFor(of.Run), WithNearest(err)}
	}
	if d := phases.Decide(of.With(next)); o.Name == "retry" && d.Do == phases.DoWait && d.Code == metadata.AwaitingPerson {
		return Effect{}, Refuse(d.Code, d.Why)
	}
	return Effect{Run: next, Phase: cmp.Or(o.Phase, next.CurrentPhase), Why: why}, nil
}

// StandsAt is the phase that a person comes from who sends a phase back: the phase itself, if
// it waits for an approval, as one of several parts may; else "", which is where the run is.
func StandsAt(c phases.Course, phase string) string {
	if slices.Contains(phases.Approvals(c), phase) {
		return phase
	}
	return ""
}

// clockSkew is how far the clock of a forge may be behind ours. An approval that was given
// within this time before the work was done counts, see docs/security.md.
const clockSkew = time.Minute

// hold has what somebody said about lines stand against the work of a phase, until
// a review finds it fixed. If there is no work yet, the reason alone tells of it.
func hold(rec *metadata.Phase, comments []metadata.ReviewComment) {
	if rec.Written == 0 || len(comments) == 0 {
		return
	}
	v := metadata.Verdict{Gates: []metadata.Gate{}}
	if rec.Verdict != nil {
		v = *rec.Verdict
	}
	v.Verdict, v.Findings = metadata.Fail, slices.Clone(v.Findings)
	for _, c := range comments {
		v.Findings = append(v.Findings, c.Finding)
	}
	rec.Verdict = &v
}

// newestTree is the newest phase that may change the code and has begun: what a
// review of a pull request is about.
func newestTree(c phases.Course) string {
	for i := range slices.Backward(c.Run.Phases) {
		p := c.Plan.Phase(c.Run.Phases[i].Name)
		if s := c.Run.Phases[i].Status; p != nil && p.Access == pipelines.AccessTree && s != metadata.PhasePending && s != metadata.PhaseSkipped {
			return p.Name
		}
	}
	return ""
}

// WithNearest puts an error into words, and adds to one about a phase that is not there
// which one was probably meant.
func WithNearest(err error) error {
	if unknown, is := errors.AsType[*phases.UnknownPhase](err); is {
		if near := Nearest(unknown.Phase, unknown.Known); near != "" {
			return phases.Refuse(metadata.Because("did_you_mean", "why", unknown.Why(), "near", near))
		}
	}
	return err
}

// noted says what was done, by whom, and why.
func (o Request) noted(what metadata.Reason) metadata.Reason {
	text := metadata.Said(clean.Truncate(text.OneLine(o.Text), 300))
	switch {
	case o.By == "" && text == "":
		return what
	case o.By == "":
		return metadata.Because("done_for", "what", what, "reason", text)
	case text == "":
		return metadata.Because("done_by", "what", what, "by", o.By)
	}
	return metadata.Because("done_by_for", "what", what, "by", o.By, "reason", text)
}

// codeFor gives the reason code for a command that a run as it stands does not
// allow.
func (o Request) codeFor(run metadata.Run) metadata.Code {
	switch {
	case o.Name == "approve" || o.Name == "answer" || o.Name == "skip":
		return metadata.NothingDone
	case run.Status == metadata.Running:
		return metadata.AlreadyRunning
	case run.Status == metadata.Completed:
		return metadata.Done
	case run.Status == metadata.Cancelled:
		return metadata.RunCancelled
	}
	return metadata.NothingDone
}

// Rollback is the rollback that is asked for.
func (o Request) Rollback() phases.Rollback {
	step := cmp.Or(o.Step, metadata.Revise)
	return phases.Rollback{
		To: o.Phase, Step: step, Reason: o.Text, By: o.By, CommentURL: o.Url, Restore: o.Restore || o.Attempt > 0, Attempt: o.Attempt, Trigger: metadata.Manual, At: o.At,
	}
}

// WaitsFor reports whether a run has stopped already where it would wait for a
// person if it went on. One that was paused elsewhere has not.
func WaitsFor(run metadata.Run, d phases.Decision) bool {
	return run.Status == metadata.Waiting && d.Do == phases.DoWait && d.Code == metadata.AwaitingPerson &&
		run.Stop.Code == d.Code && run.Stop.Phase == d.Phase
}

// goOn starts a run again that has stopped.
func (o Request) goOn(c phases.Course, busy bool) (Effect, error) {
	anew := o.Refresh != anew{}
	switch {
	case c.Run.Status == metadata.Completed && !anew:
		return Effect{}, Refuse(metadata.Done, metadata.Because("run_completed"))
	case c.Run.Status == metadata.Running && busy:
		return Effect{}, Refuse(metadata.AlreadyRunning, metadata.Because("run_under_way"))
	}
	if err := o.keepsTo(c.Plan); err != nil {
		return Effect{}, err
	}
	next := phases.TakeUp(c.Run, phases.Start{At: o.At, More: o.More, Refresh: o.Refresh.Definition, Issue: o.Refresh.Issue})
	if next.Status != metadata.Running && !anew {
		return Effect{}, Refuse(next.Stop.Code, metadata.Because("run_stopped", "status", next.Status, "why", next.Stop.Why))
	}
	if d := phases.Decide(c.With(next)); next.Status == metadata.Running && WaitsFor(c.Run, d) {
		if !o.Refresh.Issue {
			return Effect{}, Refuse(d.Code, d.Why)
		}
		next = c.Run // the new text is taken all the same
	}
	why := metadata.Because("goes_on")
	switch {
	case o.Refresh.Definition && o.Refresh.Issue:
		why = metadata.Because("goes_on_with_both")
	case o.Refresh.Definition:
		why = metadata.Because("goes_on_anew")
	case o.Refresh.Issue:
		why = metadata.Because("goes_on_with_issue")
	}
	return Effect{Run: next, Phase: next.CurrentPhase, Why: why, Frozen: anew}, nil
}

// keepsTo refuses a pipeline or phases that a run which has begun would not
// take: it would spend on others than those that were asked for.
func (o Request) keepsTo(plan *pipelines.Pipeline) error {
	switch {
	case o.Refresh.Definition:
	case o.Pipeline != "" && o.Pipeline != plan.FullName():
		return Refuse(metadata.NothingDone, metadata.Because("keeps_pipeline", "pipeline", plan.FullName(), "other", o.Pipeline))
	case !o.Part.IsZero():
		return Refuse(metadata.NothingDone, metadata.Because("keeps_phases"))
	}
	return nil
}

// Sentence says what became of a command, for a line of its own. People's own
// words may be at its end, with or without a full stop.
func (x Effect) Sentence(c prompts.Catalogue) string {
	said := x.Why.In(c)
	body := text.Capitalize(said)
	if x.Phase != "" && strings.HasPrefix(said, x.Phase+" ") {
		body = c.Shown("phase said", "said", said) // its name stays as it is
	}
	if !text.EndsItself(body) {
		body += c.Stop()
	}
	return body
}

// Refused is what the record says of a command that was refused.
func Refused(why metadata.Reason) metadata.Reason { return metadata.Because("refused", "why", why) }

// WhyRefused gives why the record says that a command was refused; ok is false if
// it does not say so.
func WhyRefused(r metadata.Reason) (why metadata.Reason, ok bool) {
	return r.Value("why"), r.Code() == "refused"
}
