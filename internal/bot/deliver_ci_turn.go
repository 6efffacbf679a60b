package bot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// fixing is the decision to have the work revised for what CI says.
const fixing = "ci"

// waitsForCI reports whether a run has stopped until CI has spoken: what CI says of its
// newest commit is what decides how it goes on.
func waitsForCI(run metadata.Run) bool {
	return run.AwaitsCI() && run.Stop != nil && (run.Stop.Code == metadata.AwaitingCI || run.Stop.Code == metadata.CIFailed)
}

// ciFixes is how often the work was revised for CI since a person spoke last.
func ciFixes(run metadata.Run) (n int) {
	for _, d := range slices.Backward(run.Decisions) {
		if d.By != "" {
			break
		}
		if d.Step == fixing {
			n++
		}
	}
	return n
}

// ciSpoke reports whether CI has had something to say of the work of a run before: then it will again.
func ciSpoke(run metadata.Run) bool {
	return run.CI.Commit != "" || run.Stop != nil && run.Stop.Code == metadata.CIFailed ||
		slices.ContainsFunc(run.Decisions, func(d metadata.Decision) bool { return d.Step == fixing })
}

// ciLate reports whether what CI says of a run now is for people: it is completed, and has a pull request.
func ciLate(run metadata.Run) bool {
	return run.Status == metadata.Completed && run.PRNumber > 0
}

// passCI gives the record of a run after CI was good on a commit; empty: nothing has run there, and why not.
func passCI(c phases.Course, commit string, none metadata.Reason, at time.Time) metadata.Run {
	next := c.Run.Clone()
	next.CI, next.Unchecked = &metadata.CI{After: len(c.Run.Attempts), Commit: commit}, none
	next.Status, next.Stop = metadata.Running, nil
	if d := phases.Decide(c.With(next)); d.Final() {
		next = phases.Apply(c.With(next), d, phases.Outcome{At: at})
	}
	next.Revision, next.UpdatedAt = c.Run.Revision+1, at
	return next
}

// fixCI takes a run back to the newest phase that changes code, for what failed. Ok is
// false if no such phase has done anything.
func fixCI(of phases.Course, commit string, failed []metadata.CheckResult, at time.Time) (back phases.RollbackPlan, ok bool, err error) {
	phase := changedCheck(of)
	if phase == "" {
		return back, false, nil
	}
	why := metadata.Because("ci_reason", "commit", shortCommit(commit), "names", names(failed))
	back, err = phases.PlanRollback(of, phases.Rollback{
		To: phase, Step: metadata.Revise, Reason: why.In(prompts.Words(of.Run.Language)), Trigger: metadata.Automatic, At: at,
	})
	if err != nil {
		return back, false, err
	}
	next, rec := &back.Run, back.Run.Phase(phase)
	results := failed
	if rec.Checks != nil && rec.Checks.Written == rec.Written {
		results = slices.Concat(slices.DeleteFunc(slices.Clone(rec.Checks.Results), func(c metadata.CheckResult) bool { return strings.HasPrefix(c.Name, "ci/") }), failed)
	}
	rec.Checks = &metadata.Checks{Written: rec.Written, Results: results}
	next.Decisions = append(next.Decisions, metadata.Decision{At: at, Step: fixing, Phase: phase, Why: metadata.Because("ci_red", "commit", shortCommit(commit), "names", names(failed))})
	return back, true, nil
}

// giveUpCI stops a run for a person, because CI still fails.
func giveUpCI(c phases.Course, commit string, failed []string, at time.Time) metadata.Run {
	next := phases.Halt(c.Run, metadata.CIFailed, metadata.Because("ci_still_red", "commit", shortCommit(commit), "n", ciFixes(c.Run), "names", failed), at)
	next.Stop.Phase = changedCheck(c)
	return next
}

// missCI gives the record of a run for which the time to wait for CI is over; ok is false if no person has to see to
// it. What has begun goes on without one, since its end is an event, and so may what waits for its end; what has not
// even begun may never do so. That is said once: the run waits on as it did.
func missCI(run metadata.Run, commit string, v ciVerdict, at time.Time) (next metadata.Run, ok bool) {
	if run.MissesCI() || run.Stop.Code != metadata.AwaitingCI || len(v.Pending) > 0 || v.AtWork {
		return run, false
	}
	next = phases.Touch(run, at)
	next.Stop.Why = metadata.Because("ci_silent", "commit", shortCommit(commit))
	if len(v.Missing) > 0 {
		next.Stop.Why = metadata.Because("ci_absent", "commit", shortCommit(commit), "names", v.Missing)
	}
	return next, true
}

// changedCheck is the newest phase that may change the code and has done so.
func changedCheck(c phases.Course) string {
	for _, rec := range slices.Backward(c.Run.Phases) {
		if p := c.Plan.Phase(rec.Name); p != nil && p.Access == pipelines.AccessTree && rec.Status == metadata.PhaseCompleted {
			return rec.Name
		}
	}
	return ""
}

func names(results []metadata.CheckResult) (out []string) {
	for _, r := range results {
		out = append(out, r.Name)
	}
	return out
}

// shortCommit is a commit as people write it.
func shortCommit(commit string) string { return commit[:min(len(commit), 7)] }

// ciState is what CI says of a commit.
type ciState string

// The states of CI.
const (
	ciNothing ciState = "nothing" // has started, or all was skipped
	ciPending ciState = "pending"
	ciGreen   ciState = "green"
	ciRed     ciState = "red"
)

// ciOff reports whether a pipeline asks nothing of CI.
func ciOff(rule pipelines.CI) bool { return rule.Required != nil && len(rule.Required) == 0 }

// ciVerdict is what all checks that count come to.
type ciVerdict struct {
	Passed  int
	Skipped int // alone they say nothing of the work
	Failed  []github.Check
	Pending []string // names of those that have not ended
	Missing []string // what the pipeline requires and has not started, and what was cancelled
	AtWork  bool     // a workflow is at work, whether it counts or not: what is missing may come after it
}

// judgeCI holds the checks of a commit against what the pipeline requires. A name is
// that of a check, or of its workflow or its file.
func judgeCI(rule pipelines.CI, all []github.Check) (v ciVerdict) {
	for _, name := range rule.Required {
		if !slices.ContainsFunc(all, func(c github.Check) bool { return named(c, name) }) {
			v.Missing = append(v.Missing, checkName(name))
		}
	}
	for _, c := range all {
		v.AtWork = v.AtWork || c.State == github.Pending && c.Workflow != "" && !c.Waits
		counts := rule.Required == nil || slices.ContainsFunc(rule.Required, func(name string) bool { return named(c, name) })
		switch {
		case !counts:
		case c.State == github.Passed:
			v.Passed++
		case c.State == github.Skipped:
			v.Skipped++
		case c.State == github.Failed:
			v.Failed = append(v.Failed, c)
		case c.State == github.Stopped && slices.ContainsFunc(all, func(o github.Check) bool { return o.State == github.Failed && o.Workflow == c.Workflow }):
			// It was cancelled because that one has failed.
		case c.State == github.Stopped:
			v.Missing = append(v.Missing, checkName(c.Name+" (cancelled)"))
		default:
			v.Pending = append(v.Pending, checkName(c.Name))
		}
	}
	return v
}

func named(c github.Check, name string) bool {
	return c.Name == name || c.Workflow == name || c.Title == name
}

// state is what that comes to.
func (v ciVerdict) state() ciState {
	switch {
	case len(v.Pending)+len(v.Missing) > 0:
		return ciPending
	case len(v.Failed) > 0:
		return ciRed
	case v.Passed > 0:
		return ciGreen
	}
	return ciNothing
}

// silent says why nothing has looked at a commit of which the verdict is Nothing.
func (v ciVerdict) silent(commit string) metadata.Reason {
	if v.Skipped > 0 {
		return metadata.Because("ci_skipped", "commit", shortCommit(commit))
	}
	return metadata.Because("ci_nothing", "commit", shortCommit(commit))
}

// goesOnAlone reports whether a run waits for what is no person's decision: CI, or that other issues are closed.
func goesOnAlone(run metadata.Run) bool {
	_, issues := phases.AwaitedBy(run)
	return waitsForCI(run) || len(issues) > 0
}

// tellLate writes one comment, however often it is asked, if CI fails on the commit at which
// the pull request of a completed run is: on that which CI was good on, if there is one. It reports
// whether that is so. Nothing is noted in the record: a commit could start CI anew.
func tellLate(ctx context.Context, d *delivery, c phases.Course, commit string) bool {
	stop, ok := page.StopOf(c.Run)
	if !ok || !ciLate(c.Run) || ciOff(c.Plan.CI) || c.Run.CI != nil && c.Run.CI.Commit != "" && c.Run.CI.Commit != commit {
		return false
	}
	v, err := d.lookAtCI(ctx, c.Plan.CI, commit)
	if err != nil || len(v.Failed) == 0 {
		d.Voice.warnOf(err)
		return false
	}
	pull, err := d.open(ctx, c.Run)
	if err != nil || pull.Commit != commit {
		if !isRefusal(err) {
			d.Voice.warnOf(err)
		}
		return false
	}
	who := d.mentioned(c.Run)
	if len(who) == 0 {
		return true
	}
	red := metadata.Because("ci_red", "commit", shortCommit(commit), "names", checkNames(v.Failed))
	marker := page.MarkerOf("late", c.Run.IssueNumber+"/"+stop.Key)
	_, err = d.thread().Post(ctx, marker, page.LateCI(marker, who, c, red, d.Voice.Facts(c.Run)), time.Time{})
	d.Voice.warnOf(err)
	return true
}

// unstarted is a job that has ended without a decision.
type unstarted struct {
	For *trigger  // what it was started for; nil: nothing that is obeyed
	Job string    // as the record names it as the origin of commands
	At  time.Time // now
}

// longest is how long after its first start the job of a workflow can be started again on GitHub.
const longest = 31 * 24 * time.Hour

// tellUnstarted tells people where they gave a command that its job failed before reprise could
// begin, once in each run of the workflow; where nobody gave one, once while the run waits. It
// reports whether that is so: a job that was only dropped did not fail, and a command that was
// taken needs no word. The zero value of a run is one that there is not yet.
func tellUnstarted(ctx context.Context, d *delivery, run metadata.Run, u unstarted) bool {
	if d.In.Ended != "failure" || d.In.Dry || u.For == nil || u.isTaken(run) {
		return false
	}
	number, key, from := d.Issue, u.Job, u.For.At
	does, by := u.For.Requested.Command.Line(), u.For.By
	switch {
	case u.For.CI:
		by, key, from = "", fmt.Sprint(run.Stop.At.UnixMilli()), page.Since(run.Stop.At)
	case u.For.Pull > 0:
		number = u.For.Pull
	case from.IsZero():
		from = u.At.Add(-longest)
	}
	if u.For.Review != nil {
		does = ""
	}
	marker, language := page.MarkerOf("unstarted", fmt.Sprint(d.Issue)+"/"+key), cmp.Or(run.Language, d.In.Language, "en")
	body := page.Unstarted(marker, language, d.mentionedFor(run, by), does, d.Voice.Facts(run).Job)
	_, err := d.GitHub.Thread(number).Post(ctx, marker, body, from)
	d.Voice.warnOf(err)
	return true
}

// isTaken reports whether another job has taken what a job was started for, or will: one that
// is at work looks for new commands.
func (u unstarted) isTaken(run metadata.Run) bool {
	lease, said := run.Execution.Lease, u.For.said()
	switch {
	case lease != nil && u.At.Before(lease.Expires):
		return true
	case u.For.CI:
		return !goesOnAlone(run)
	case said > 0 && u.For.Pull > 0:
		return phases.TakenOnPull(run, said)
	case said > 0:
		return phases.Taken(run, said)
	}
	return slices.ContainsFunc(run.Decisions, func(d metadata.Decision) bool { return d.Job != "" && d.Job == u.Job })
}
