package phases

import (
	"cmp"
	"strconv"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Fresh gives the record of a run that begins.
func Fresh(c Course, at time.Time) metadata.Run {
	run := c.Run.Clone()
	run.Schema, run.Status = metadata.Schema, metadata.Running
	run.CreatedAt, run.UpdatedAt = at, at
	run.Revision = 1
	run.Execution.Attempt = 1
	run.Budget = budgetOf(c.Plan)
	run.Budget.EarlierUSD = c.Run.Budget.EarlierUSD
	run.Phases = nil
	for _, p := range c.Plan.Phases {
		run.Phases = append(run.Phases, metadata.Phase{Name: p.Name, Status: metadata.PhasePending})
	}
	run.CurrentPhase = c.Plan.Phases[0].Name
	return run
}

// budgetOf gives the limits that a pipeline sets.
func budgetOf(plan *pipelines.Pipeline) metadata.Budget {
	return metadata.Budget{
		USD: plan.Budget.USD, Tokens: plan.Budget.Tokens, Attempts: plan.Budget.Attempts,
		Seconds: int(time.Duration(plan.Budget.Time).Seconds()), IssueUSD: plan.Budget.IssueUSD,
	}
}

// Start is what a process knows when it takes up a run that exists.
type Start struct {
	At   time.Time
	More Allowance

	// Refresh says that the pipeline is taken as it is defined now, which may allow what has stopped the run.
	Refresh bool

	// Issue says that the issue is taken as it reads now, which may tell the agent what it lacked.
	Issue bool
}

// TakeUp gives the record as a new process continues it. A run that was
// stopped by an interruption or by an infrastructure error goes on. One that
// waits for a person stays as it is, and so does one whose budget is used up
// unless Start brings more of it, one that broke a rule of its pipeline unless
// the pipeline is taken anew, and one whose agent made no progress unless the
// issue is.
func TakeUp(run metadata.Run, s Start) metadata.Run {
	run = AllowMore(run, s.More)
	run.Execution.Attempt++
	if run.Stop != nil && resumable(run.Stop, s) {
		if run.Status == metadata.Failed || run.Stop.Code == metadata.PushFailed || s.Refresh && barred(run.Stop.Code) || s.Issue && run.Stop.Code == metadata.NoProgress {
			run.AllowanceFrom = len(run.Attempts)
		}
		run.Status, run.Stop = metadata.Running, nil
	}
	return touch(run, s.At)
}

// Absorb adds the attempts that earlier processes began on this machine and never committed: they have cost
// something, and their sessions can be resumed. Attempts that do not fit the record are left out.
func Absorb(run metadata.Run, local []metadata.Attempt, at time.Time) metadata.Run {
	run = run.Clone()
	for _, a := range local {
		rec := run.Phase(a.Phase)
		if rec == nil || a.N != len(run.Attempts)+1 || a.Generation != rec.Generation {
			continue
		}
		run.Attempts = append(run.Attempts, a)
		if a.Status != metadata.Started {
			run.Cost = addUsage(run.Cost, a.Usage)
		}
		if rec.Status == metadata.PhasePending {
			rec.Status, rec.CurrentStep, rec.StartedAt = metadata.PhaseInProgress, metadata.Execute, &a.StartedAt
		}
	}
	return Ended(run, nil, at)
}

// Ended ends the attempts that the record has as open: nobody is at work any more.
func Ended(run metadata.Run, seen []metadata.Attempt, at time.Time) metadata.Run {
	run = run.Clone()
	for i := range run.Attempts {
		a := &run.Attempts[i]
		if a.Status != metadata.Started {
			continue
		}
		if i < len(seen) && seen[i].Phase == a.Phase && seen[i].StartedAt.Equal(a.StartedAt) {
			a.Usage, a.Session, a.Confirmed = seen[i].Usage, seen[i].Session, seen[i].Confirmed
		}
		a.Status, a.Code, a.Class, a.EndedAt = metadata.Cut, metadata.RunCancelled, metadata.Signal, &at
		a.Why = metadata.Because("ended_before_agent")
		run.Cost = addUsage(run.Cost, a.Usage)
	}
	return run
}

// resumable reports whether starting again is all that a stopped run needs.
func resumable(stop *metadata.Stop, s Start) bool {
	if stop.Why.Code() == "given_up" {
		return false // only a rollback leads on
	}
	switch stop.Code {
	case metadata.RunCancelled, metadata.AgentFailed, metadata.DiskFailed, metadata.SetupFailed, metadata.CredentialsMissing, metadata.APIError,
		metadata.TimedOut, metadata.PushFailed, metadata.AwaitingPerson, metadata.AwaitingCI, metadata.CIFailed, metadata.Conflicts,
		metadata.ConfigInvalid:
		return true
	case metadata.BudgetExceeded:
		return s.More != Allowance{} || OfDay(stop)
	case metadata.NoProgress:
		return s.Issue
	}
	return s.Refresh && barred(stop.Code)
}

// barred reports whether a run was stopped by the settings protect, limits or secrets of its pipeline.
func barred(c metadata.Code) bool {
	return c == metadata.ChangeRefused || c == metadata.SecretFound
}

// Retry lets a stopped run try again: its phase has all its revisions again, and calls that failed before no longer
// count.
func Retry(c Course, phase string, s Start) (metadata.Run, error) {
	next, at := AllowMore(c.Run, s.More), s.At
	alone := halted(c.With(next), phase) && (next.Stop == nil || next.Stop.Phase != phase)
	switch {
	case alone:
	case next.Status == metadata.Running:
		return next, Refuse(metadata.Because("retry_running"))
	case next.Stop == nil, GivenUp(next) != "":
		return next, Refuse(metadata.Because("nothing_to_retry", "status", next.Status))
	case phase == "":
		phase = next.Stop.Phase
	}
	rec := next.Phase(phase)
	switch {
	case rec == nil:
		return next, &UnknownPhase{Phase: phase, Known: next.Phases.Names()}
	case len(openQuestions(next, rec)) > 0:
		return next, Refuse(metadata.Because("retry_unanswered", "phase", phase, "question", openQuestions(next, rec)[0].ID))
	case rec.Status == metadata.PhaseFailed:
		rec.Status, rec.CurrentStep = metadata.PhaseInProgress, metadata.Revise
	case !alone && (next.Stop.Code == metadata.CIFailed || next.Stop.Code == metadata.Conflicts): // it is asked again, and what fails is revised
	case rec.Status != metadata.PhaseInProgress && rec.Status != metadata.PhasePending:
		return next, Refuse(metadata.Because("retry_ended", "phase", phase, "status", rec.Status))
	case !alone && next.Stop.Phase != "" && phase != next.Stop.Phase:
		return next, Refuse(metadata.Because("retry_elsewhere", "phase", next.Stop.Phase, "other", phase))
	}
	rec.RetryCount, rec.Recent = 0, nil
	if rec.Lane != nil && !apart(rec, rec.CurrentStep) {
		rec.Lane.Conflict = nil // else its writer is to resolve that, and has to know of it
	}
	if alone {
		rec.AllowanceFrom = len(next.Attempts)
		wake(&next)
	} else {
		next.AllowanceFrom = len(next.Attempts)
		next.Status, next.Stop = metadata.Running, nil
	}
	note(&next, at, "retry", phase, metadata.Because("fresh_allowance"))
	return touch(next, at), nil
}

// SetUp gives the record after the commands that make its work tree ready.
func SetUp(run metadata.Run, results []metadata.CheckResult, at time.Time) metadata.Run {
	run = run.Clone()
	run.Setup = results
	if c := Broken(results); c != nil {
		why := metadata.Because("setup_exited", "command", c.Name, "code", c.ExitCode, "end", cmp.Or(complaint(c.Output), c.Run))
		return stopped(run, metadata.Failed, metadata.SetupFailed, why, at)
	}
	return touch(run, at)
}

// TriedBefore gives the record after checks ran on what was there before the work. One that could not run would prove
// nothing later: the run stops, and they are tried again when it is started again.
func TriedBefore(run metadata.Run, results []metadata.CheckResult, at time.Time) metadata.Run {
	var why []metadata.Reason
	for _, c := range results {
		if CouldNotRun(c) {
			why = append(why, metadata.Because("check_not_run", "check", c.Name, "code", c.ExitCode, "end", cmp.Or(complaint(c.Output), c.Run)))
		}
	}
	if len(why) > 0 {
		return stopped(run, metadata.Failed, metadata.SetupFailed, metadata.All(why...), at)
	}
	run = run.Clone()
	run.Baseline = results
	return touch(run, at)
}

// Broken gives the command of a setup that failed, or nil.
func Broken(setup []metadata.CheckResult) *metadata.CheckResult {
	for i := range setup {
		if !setup[i].Pass {
			return &setup[i]
		}
	}
	return nil
}

// Interrupt gives the record of a run whose process was told to stop.
func Interrupt(run metadata.Run, at time.Time) metadata.Run {
	return stopped(run, metadata.Interrupted, metadata.RunCancelled, metadata.Because("told_to_stop"), at)
}

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

// Cancel gives the record of a run that a person has ended. The step under way is given up.
func Cancel(run metadata.Run, why metadata.Reason, at time.Time) (metadata.Run, error) {
	switch run.Status {
	case metadata.Completed:
		return run, Refuse(metadata.Because("nothing_to_cancel"))
	case metadata.Cancelled:
		return run, Refuse(metadata.Because("cancelled_already"))
	}
	next := stopped(run, metadata.Cancelled, metadata.RunCancelled, why, at)
	if rec := run.Phase(run.CurrentPhase); rec != nil {
		next.Stop.Step = rec.CurrentStep
	}
	return next, nil
}

// Changed gives the record of a run on whose branch others have changed what a phase left behind: its approval no
// longer holds, and an artifact that was reviewed is reviewed again, with all revises.
func Changed(run metadata.Run, phase, digest string, at time.Time) metadata.Run {
	run = run.Clone()
	rec := run.Phase(phase)
	rec.Touched++
	rec.Digest, rec.Best = digest, nil
	if rec.Edited() && rec.Status == metadata.PhaseCompleted {
		rec.RetryCount, rec.Round, rec.Recent = 0, 0, nil
		run.AllowanceFrom = len(run.Attempts)
	}
	note(&run, at, "changed", phase, metadata.Because("branch_changed"))
	return touch(run, at)
}

// Touch gives the next record after a change that the engine does not decide
// about, such as the number of a pull request.
func Touch(run metadata.Run, at time.Time) metadata.Run { return touch(run.Clone(), at) }

// Halt gives the record of a run that cannot go on for a reason outside of it, such as a key that is missing.
func Halt(run metadata.Run, code metadata.Code, why metadata.Reason, at time.Time) metadata.Run {
	return stopped(run, metadata.Failed, code, why, at)
}

// stopped gives the next record of a run that stops where it is; one that waits does so after what was done last.
func stopped(run metadata.Run, status metadata.Status, code metadata.Code, why metadata.Reason, at time.Time) metadata.Run {
	run = run.Clone()
	phase := run.CurrentPhase
	if status != metadata.Waiting {
		phase = AtHand(run)
	}
	run.Status, run.Stop = status, &metadata.Stop{Code: code, Why: why, Phase: phase, At: at}
	return touch(run, at)
}

// AtHand is At for where the pipeline is not known.
func AtHand(run metadata.Run) string {
	if run.Stop != nil && run.Stop.Phase != "" {
		return run.Stop.Phase
	}
	for i := indexOf(run.Phases, run.CurrentPhase); run.Status == metadata.Running && i >= 0 && i < len(run.Phases); i++ {
		if p := run.Phases[i]; p.Status != metadata.PhaseCompleted && p.Status != metadata.PhaseSkipped {
			return p.Name
		}
	}
	return run.CurrentPhase
}

// At gives the phase that a run is at: where it stopped, what it works on, or what comes next.
func At(c Course) (at string) {
	switch {
	case c.Run.Status != metadata.Running:
		if c.Run.Stop != nil {
			at = c.Run.Stop.Phase
		}
	case len(c.Run.Attempts) > 0 && c.Run.Attempts[len(c.Run.Attempts)-1].Status == metadata.Started:
		at = c.Run.Attempts[len(c.Run.Attempts)-1].Phase
	default:
		at = Decide(c).Phase
	}
	at = cmp.Or(at, c.Run.CurrentPhase)
	return at
}
