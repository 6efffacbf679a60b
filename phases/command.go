package phases

import (
	"strconv"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// Command is what a person asked of a run, and where.
type Command struct {
	Name    string               // as people type it, without the slash
	Text    string               // all of its first line, as people write it in a comment; may be empty
	By      string               // login; empty if unknown
	Comment int64                // id of the comment; 0 if it came another way
	OnPull  bool                 // the comment is on the pull request
	Review  *metadata.PullReview // what it stood in, if it was a review
	Job     string               // the job that brought it, if it stood in no comment
	Phase   string               // the phase it is about; may be empty
	Why     metadata.Reason      // what became of it, in a sentence
	At      time.Time
}

// mostCommand is how much of a command the record has, in Unicode code points.
const mostCommand = 300

// Take notes in the record that a command was taken. This note and the effect
// of the command are one commit, so nothing is obeyed twice. Before is the
// record as it was, and after is what the command made of it; the two are the
// same if it was refused.
func Take(before, after metadata.Run, c Command) metadata.Run {
	run := after.Clone()
	run.Decisions = append(run.Decisions, metadata.Decision{
		At: c.At, Step: c.Name, Phase: c.Phase, Why: c.Why, By: c.By, Command: CutText(c.Text, mostCommand), Comment: c.Comment, Job: c.Job,
	})
	if c.Review != nil {
		run.Reviews = append(run.Reviews, *c.Review)
	}
	cursor := &run.Cursor
	if c.OnPull {
		cursor = &run.PullCursor
	}
	if c.Comment > idOf(*cursor) {
		*cursor = strconv.FormatInt(c.Comment, 10)
	}
	run.Revision, run.UpdatedAt = before.Revision+1, c.At
	return run
}

// Taken reports whether the command of a comment on the issue was taken.
func Taken(run metadata.Run, comment int64) bool { return comment <= idOf(run.Cursor) }

// TakenOnPull is Taken for the pull request. Each conversation has its own cursor: they
// are read in turn, so a newer comment on one may be seen before an older one on the other.
func TakenOnPull(run metadata.Run, comment int64) bool { return comment <= idOf(run.PullCursor) }

// idOf gives the comment that a cursor stands on; 0 if none.
func idOf(cursor string) int64 {
	id, err := strconv.ParseInt(cursor, 10, 64)
	if err != nil {
		return 0 // no command was taken yet
	}
	return id
}

// Cancel gives the record of a run that a person has ended. The step under way
// is given up. What was committed stays, and a new start goes on from there.
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

// Changed gives the record of a run on whose branch others have changed what a
// phase left behind: its approval no longer holds, and an artifact that was
// reviewed is reviewed again, with all revises. Digest is that of the artifact
// as it is now.
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

// Touch gives the next record after a change that the engine does not decide
// about, such as the number of a pull request.
func Touch(run metadata.Run, at time.Time) metadata.Run { return touch(run.Clone(), at) }

// Halt gives the record of a run that cannot go on for a reason outside of it,
// such as a key that is missing. Starting again goes on.
func Halt(run metadata.Run, code metadata.Code, why metadata.Reason, at time.Time) metadata.Run {
	run = run.Clone()
	run.Status = metadata.Failed
	run.Stop = &metadata.Stop{Code: code, Why: why, Phase: run.CurrentPhase, At: at}
	return touch(run, at)
}
