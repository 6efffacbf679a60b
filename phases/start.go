package phases

import (
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Fresh gives the record of a run that begins.
func Fresh(plan *pipelines.Pipeline, seed metadata.Run, at time.Time) metadata.Run {
	run := seed.Clone()
	run.Schema, run.Status = metadata.Schema, metadata.Running
	run.CreatedAt, run.UpdatedAt = at, at
	run.Revision = 1
	run.Execution.Attempt = 1
	run.Budget = budgetOf(plan)
	run.Budget.EarlierUSD = seed.Budget.EarlierUSD
	run.Phases = nil
	for _, p := range plan.Phases {
		run.Phases = append(run.Phases, metadata.Phase{Name: p.Name, Status: metadata.PhasePending})
	}
	run.CurrentPhase = plan.Phases[0].Name
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

	// Refresh says that the pipeline is taken as it is defined now, which may
	// allow what has stopped the run.
	Refresh bool

	// Issue says that the issue is taken as it reads now, which may tell the
	// agent what it lacked.
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
	if run.Stop != nil && Resumable(run.Stop, s) {
		if run.Status == metadata.Failed || s.Refresh && barred(run.Stop.Code) || s.Issue && run.Stop.Code == metadata.NoProgress {
			run.AllowanceFrom = len(run.Attempts)
		}
		run.Status, run.Stop = metadata.Running, nil
	}
	return touch(run, s.At)
}

// Absorb adds the attempts that earlier processes began on this machine and
// never committed: they have cost something, and their sessions can be resumed.
// Attempts that do not fit the record are left out.
func Absorb(run metadata.Run, local []metadata.Attempt, at time.Time) metadata.Run {
	run = run.Clone()
	for _, a := range local {
		rec := run.Phase(a.Phase)
		if rec == nil || a.N != len(run.Attempts)+1 || a.Generation != rec.Generation {
			continue
		}
		run.Attempts = append(run.Attempts, a)
		if a.Status != metadata.Started {
			run.Cost = AddUsage(run.Cost, a.Usage)
		}
		if rec.Status == metadata.PhasePending {
			start := a.StartedAt
			rec.Status, rec.CurrentStep, rec.StartedAt = metadata.PhaseInProgress, metadata.Execute, &start
		}
	}
	return Ended(run, nil, at)
}

// Ended ends the attempts that the record has as open: nobody is at work any more. Seen
// are the attempts as this machine knows them, which may say more of what they cost.
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
		run.Cost = AddUsage(run.Cost, a.Usage)
	}
	return run
}

// Resumable reports whether starting again is all that a stopped run needs.
func Resumable(stop *metadata.Stop, s Start) bool {
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

// barred reports whether a run was stopped by the settings protect, limits or
// secrets of its pipeline.
func barred(c metadata.Code) bool {
	return c == metadata.ChangeRefused || c == metadata.SecretFound
}

// Retry lets a stopped run try again: its phase has all its revisions
// again, and calls that failed before no longer count. Of several parts that are halted
// it lets one try again: the others stay as they are, and so does a run that is at work.
// An error says why there is nothing to retry.
func Retry(plan *pipelines.Pipeline, run metadata.Run, phase string, s Start) (metadata.Run, error) {
	run, at := AllowMore(run, s.More), s.At
	alone := halted(plan, run, phase) && (run.Stop == nil || run.Stop.Phase != phase)
	switch {
	case alone:
	case run.Status == metadata.Running:
		return run, refuse(metadata.Because("retry_running"))
	case run.Stop == nil:
		return run, refuse(metadata.Because("nothing_to_retry", "status", run.Status))
	case phase == "":
		phase = run.Stop.Phase
	}
	rec := run.Phase(phase)
	switch {
	case rec == nil:
		return run, &UnknownPhase{Phase: phase, Known: phaseNames(run)}
	case len(openQuestions(run, rec)) > 0:
		return run, refuse(metadata.Because("retry_unanswered", "phase", phase, "question", openQuestions(run, rec)[0].ID))
	case rec.Status == metadata.PhaseFailed:
		rec.Status, rec.CurrentStep = metadata.PhaseInProgress, metadata.Revise
	case !alone && (run.Stop.Code == metadata.CIFailed || run.Stop.Code == metadata.Conflicts): // it is asked again, and what fails is revised
	case rec.Status != metadata.PhaseInProgress && rec.Status != metadata.PhasePending:
		return run, refuse(metadata.Because("retry_ended", "phase", phase, "status", rec.Status))
	case !alone && run.Stop.Phase != "" && phase != run.Stop.Phase:
		return run, refuse(metadata.Because("retry_elsewhere", "phase", run.Stop.Phase, "other", phase))
	}
	rec.RetryCount, rec.Recent = 0, nil
	integrateAnew(rec)
	if alone {
		rec.AllowanceFrom = len(run.Attempts)
		wake(&run)
	} else {
		run.AllowanceFrom = len(run.Attempts)
		run.Status, run.Stop = metadata.Running, nil
	}
	run.Decisions = append(run.Decisions, metadata.Decision{At: at, Step: "retry", Phase: phase, Why: metadata.Because("fresh_allowance")})
	return touch(run, at), nil
}

// integrateAnew forgets that the work of a part conflicted with others, unless its writer is
// to resolve that conflict, and has to know of it.
func integrateAnew(rec *metadata.Phase) {
	if rec.Lane != nil && !apart(rec, rec.CurrentStep) {
		rec.Lane.Conflict = nil
	}
}

// SetUp gives the record after the commands that make its work tree ready. One
// that failed stops the run before anything is paid for.
func SetUp(run metadata.Run, results []metadata.CheckResult, at time.Time) metadata.Run {
	run = run.Clone()
	run.Setup = results
	if c := Broken(results); c != nil {
		why := metadata.Because("setup_exited", "command", c.Name, "code", c.ExitCode, "end", Complaint(c.Output))
		run.Status, run.Stop = metadata.Failed, &metadata.Stop{Code: metadata.SetupFailed, Why: why, Phase: run.CurrentPhase, At: at}
	}
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
	run = run.Clone()
	run.Status = metadata.Interrupted
	run.Stop = &metadata.Stop{Code: metadata.RunCancelled, Why: metadata.Because("told_to_stop"), Phase: run.CurrentPhase, At: at}
	return touch(run, at)
}
