package phases

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
)

// FoldOutcome is what became of the record of a machine.
type FoldOutcome string

// What becomes of a record: its part goes on from it, or only what it has spent is taken over, as the run has gone
// another way meanwhile; or there is nothing in it that the run does not have.
const (
	TakenFolded   FoldOutcome = "taken"
	VoidFolded    FoldOutcome = "void"
	NothingFolded FoldOutcome = "nothing"
)

// FoldPart takes what a machine has done of a part into the record of a run. The machine began
// from the record from, which is that of commit tip; theirs is what it has recorded since.
// That was written elsewhere, so nothing is taken from it but what is of the part. An
// error says that it is no such record; nothing of it counts then.
func FoldPart(from metadata.Run, tip string, run metadata.Run, part string, theirs metadata.Run) (metadata.Run, FoldOutcome, error) {
	rec, other := run.Phase(part), theirs.Phase(part)
	switch {
	case theirs.Execution.ID != run.Execution.ID || theirs.IssueNumber != run.IssueNumber:
		return run, NothingFolded, errors.New("it is the record of another run")
	case rec == nil || rec.Task == "" || other == nil || other.Task != rec.Task:
		return run, NothingFolded, fmt.Errorf("%s is no part of the run", part)
	}
	next, begun := run.Clone(), theirs.Clone()
	if i := slices.IndexFunc(begun.Attempts, func(a metadata.Attempt) bool { return a.Status == metadata.Started }); i >= 0 {
		begun = Ended(begun, nil, begun.Attempts[i].StartedAt) // the machine is gone
	}
	number := map[int]int{} // of attempts there, as the run has them
	for _, a := range begun.Attempts {
		switch there := numberOf(run, a); {
		case there > 0:
			number[a.N] = there
			continue
		case a.Phase != part:
			return run, NothingFolded, fmt.Errorf("attempt %d is one of %s, and the machine has only %s", a.N, a.Phase, part)
		}
		was := a.N
		a.N = len(next.Attempts) + 1
		number[was] = a.N
		next.Attempts = append(next.Attempts, a)
		next = WithUsage(next, a.Usage)
	}
	if len(next.Attempts) == len(run.Attempts) {
		return run, NothingFolded, nil
	}
	if !follows(from, begun) || rec.Status != metadata.PhasePending || rec.Generation != other.Generation || !lies(other, tip) {
		return RefusePart(run, next, "the run has gone another way meanwhile"), VoidFolded, nil
	}
	take(&next, from, begun, part, number)
	return next, TakenFolded, nil
}

// RefusePart gives the record of a run that takes over no more of next than what was spent:
// no step of it has succeeded, because of why.
func RefusePart(run, next metadata.Run, why string) metadata.Run {
	out := run.Clone()
	out.Cost = next.Cost
	for _, a := range next.Attempts[len(run.Attempts):] {
		if a.Status == metadata.Succeeded {
			a.Status, a.Code, a.Class = metadata.Cut, metadata.RunCancelled, metadata.Signal
			a.Why = metadata.Said("this was done beside the run, and is not taken: " + why)
		}
		out.Attempts = append(out.Attempts, a)
	}
	return out
}

// numberOf gives the number under which a run has an attempt of another record already; 0: it does not.
func numberOf(run metadata.Run, a metadata.Attempt) int {
	for _, b := range run.Attempts {
		if b.Phase == a.Phase && b.Step == a.Step && b.StartedAt.Equal(a.StartedAt) {
			return b.N
		}
	}
	return 0
}

// follows reports whether a record has come of another without a person's going back.
func follows(from, next metadata.Run) bool {
	next.Revision = from.Revision + 1
	return len(next.RollbackHistory) == len(from.RollbackHistory) && metadata.CheckNext(from, next) == nil
}

// lies reports whether the work of a part is upon the commit tip of the run's branch. One
// that is completed has changed no code: that would have to be brought together first.
func lies(rec *metadata.Phase, tip string) bool {
	if rec.Lane == nil {
		return rec.Status == metadata.PhaseCompleted
	}
	return rec.Lane.Base == tip && rec.Lane.Conflict == nil
}

// take has a part go on from what a machine has recorded of it.
func take(next *metadata.Run, from, theirs metadata.Run, part string, number map[int]int) {
	rec := next.Phase(part)
	*rec = *theirs.Phase(part)
	rec.Written, rec.AllowanceFrom = number[rec.Written], number[rec.AllowanceFrom]
	if rec.Checks != nil {
		rec.Checks.Written = number[rec.Checks.Written]
	}
	for _, d := range theirs.Decisions[len(from.Decisions):] {
		if d.Phase == part && d.Comment == 0 && d.By == "" && d.Command == "" && d.Job == "" {
			d.Attempt = number[d.Attempt]
			next.Decisions = append(next.Decisions, d)
		}
	}
	for _, q := range theirs.Questions[len(from.Questions):] {
		if q.Phase == part && q.AnsweredAt == nil {
			q.ID, q.Attempt = fmt.Sprintf("q%d", len(next.Questions)+1), number[q.Attempt]
			next.Questions = append(next.Questions, q)
		}
	}
	for _, c := range theirs.Children { // issues that the part asks for beside its work
		there := slices.ContainsFunc(next.Children, func(other metadata.Child) bool { return other.ID == c.ID })
		if c.Phase == part && !c.Opened() && !there {
			next.Children = append(next.Children, c)
		}
	}
	decide(&next.DesignDecisions, from.DesignDecisions, theirs.DesignDecisions)
	if rec.Verdict != nil {
		next.AnswerReviews(rec)
	}
}
