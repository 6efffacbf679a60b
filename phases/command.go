package phases

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// Command is what a person asked of a run, and where.
type Command struct {
	Name    string          // as people type it, without the slash
	Text    string          // all of its first line, as people write it in a comment; may be empty
	By      string          // login; empty if unknown
	Comment int64           // id of the comment; 0 if it came another way
	Job     string          // the job that brought it, if it stood in no comment
	Phase   string          // the phase it is about; may be empty
	Why     metadata.Reason // what became of it, in a sentence
	At      time.Time
}

// mostCommand is how much of a command the record has, in Unicode code points.
const mostCommand = 300

// Take gives the record after a command was taken. It carries what the command
// did, so that both are one commit and nothing is obeyed twice: before is the
// record as it was, after what the command made of it, which is the same where
// it was refused.
func Take(before, after metadata.Run, c Command) metadata.Run {
	run := after.Clone()
	run.Decisions = append(run.Decisions, metadata.Decision{
		At: c.At, Step: c.Name, Phase: c.Phase, Why: c.Why, By: c.By, Command: limit(c.Text, mostCommand), Comment: c.Comment, Job: c.Job,
	})
	if c.Comment > cursorOf(run) {
		run.Cursor = strconv.FormatInt(c.Comment, 10)
	}
	run.Revision, run.UpdatedAt = before.Revision+1, c.At
	return run
}

// Taken reports whether the command of a comment was taken.
func Taken(run metadata.Run, comment int64) bool { return comment <= cursorOf(run) }

// cursorOf gives the comment that the record's cursor stands on; 0 if none.
func cursorOf(run metadata.Run) int64 {
	id, err := strconv.ParseInt(run.Cursor, 10, 64)
	if err != nil {
		return 0 // no command was taken yet
	}
	return id
}

// Cancel gives the record of a run that a person has ended. What is under way
// is given up; what was committed stays, and starting again goes on from it.
func Cancel(run metadata.Run, why metadata.Reason, at time.Time) (metadata.Run, error) {
	switch run.Status {
	case metadata.Completed:
		return run, refuse(metadata.Because("nothing_to_cancel"))
	case metadata.Cancelled:
		return run, refuse(metadata.Because("cancelled_already"))
	}
	run = run.Clone()
	stop := metadata.Stop{Code: metadata.RunCancelled, Why: why, Phase: run.CurrentPhase, At: at}
	if rec := run.Phase(run.CurrentPhase); rec != nil {
		stop.Step = rec.CurrentStep
	}
	run.Status, run.Stop = metadata.Cancelled, &stop
	return touch(run, at), nil
}

// ErrSteered is the cause of a context that was cancelled because people want
// the run to go another way than the step under way does.
var ErrSteered = errors.New("people asked for something else")

// Steering is how people reach a run that is under way.
type Steering interface {
	// Steer is asked between two steps and when the run has stopped. It carries
	// out what people have asked for since, and returns the record to go on
	// with; an error ends the process.
	Steer(ctx context.Context, run metadata.Run) (metadata.Run, error)
	// Urgent is called while a step is under way. It returns true once people
	// want that step to end, or false when ctx is done.
	Urgent(ctx context.Context) bool
}

// steer asks people, if there is a way to.
func (e *Engine) steer(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if e.Steering == nil || ctx.Err() != nil {
		return run, nil
	}
	return e.Steering.Steer(ctx, run)
}

// attend gives the context for a step that people may end. The function that
// it returns is called when the step has ended.
func (e *Engine) attend(ctx context.Context) (context.Context, func()) {
	if e.Steering == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer func() { done <- struct{}{} }()
		if e.Steering.Urgent(ctx) {
			cancel(ErrSteered)
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}

// Changed gives the record of a run on whose branch others have changed what a
// phase left behind: an approval of it does not hold any more, and an artifact
// that was reviewed is reviewed again, with all revises. Digest is that of the
// artifact as it reads now.
func Changed(run metadata.Run, phase, digest string, at time.Time) metadata.Run {
	run = run.Clone()
	rec := run.Phase(phase)
	rec.Touched++
	rec.Digest = digest
	if rec.Edited() && rec.Status == metadata.PhaseCompleted {
		rec.RetryCount, rec.Round, rec.Recent = 0, 0, nil
		run.AllowanceFrom = len(run.Attempts)
	}
	run.Decisions = append(run.Decisions, metadata.Decision{At: at, Step: "changed", Phase: phase, Why: metadata.Because("branch_changed")})
	return touch(run, at)
}

// Touch gives the next record after one that was changed by hand in what the
// engine does not decide, such as the number of a pull request.
func Touch(run metadata.Run, at time.Time) metadata.Run { return touch(run.Clone(), at) }

// Halt gives the record of a run that cannot go on for a reason outside of it,
// such as a key that is missing. Starting again goes on.
func Halt(run metadata.Run, code metadata.Code, why metadata.Reason, at time.Time) metadata.Run {
	run = run.Clone()
	run.Status = metadata.Failed
	run.Stop = &metadata.Stop{Code: code, Why: why, Phase: run.CurrentPhase, At: at}
	return touch(run, at)
}
