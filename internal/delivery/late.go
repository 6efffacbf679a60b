package delivery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/inbox"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// GoesOnAlone reports whether a run waits for what is no person's decision: CI, or that other issues are closed.
func GoesOnAlone(run metadata.Run) bool {
	_, issues := phases.AwaitedBy(run)
	return WaitsForCI(run) || len(issues) > 0
}

// TellLate writes one comment, however often it is asked, if CI fails on the commit at which
// the pull request of a completed run is: on that which CI was good on, if there is one. It reports
// whether that is so. Nothing is noted in the record: a commit could start CI anew.
func TellLate(ctx context.Context, d *Delivery, plan *pipelines.Pipeline, run metadata.Run, commit string) bool {
	stop, ok := page.StopOf(run)
	if !ok || !CILate(run) || CIOff(plan.CI) || run.CI != nil && run.CI.Commit != "" && run.CI.Commit != commit {
		return false
	}
	v, err := d.LookAtCI(ctx, plan.CI, commit)
	if err != nil || len(v.Failed) == 0 {
		d.Voice.warnOf(err)
		return false
	}
	pull, err := d.open(ctx, run)
	if err != nil || pull.Commit != commit {
		if !isRefusal(err) {
			d.Voice.warnOf(err)
		}
		return false
	}
	who := d.mentioned(run)
	if len(who) == 0 {
		return true
	}
	red := metadata.Because("ci_red", "commit", ShortCommit(commit), "names", CheckNames(v.Failed))
	marker := page.MarkerOf("late", run.IssueNumber+"/"+stop.Key)
	_, err = d.thread().Post(ctx, marker, page.LateCI(marker, who, plan, run, red, d.Voice.Facts(run)), time.Time{})
	d.Voice.warnOf(err)
	return true
}

// Unstarted is a job that has ended without a decision.
type Unstarted struct {
	For *inbox.Trigger // what it was started for; nil: nothing that is obeyed
	Job string         // as the record names it as the origin of commands
	At  time.Time      // now
}

// longest is how long after its first start the job of a workflow can be started again on GitHub.
const longest = 31 * 24 * time.Hour

// TellUnstarted tells people where they gave a command that its job failed before reprise could
// begin, once in each run of the workflow; where nobody gave one, once while the run waits. It
// reports whether that is so: a job that was only dropped did not fail, and a command that was
// taken needs no word. The zero value of a run is one that there is not yet.
func TellUnstarted(ctx context.Context, d *Delivery, run metadata.Run, u Unstarted) bool {
	if d.In.Ended != "failure" || d.In.Dry || u.For == nil || u.isTaken(run) {
		return false
	}
	number, key, from := d.Issue, u.Job, u.For.At
	does, by := u.For.Requested.Command.Line(), u.For.By
	switch {
	case u.For.CI:
		by, key, from = "", fmt.Sprint(run.Stop.At.UnixMilli()), since(run.Stop.At)
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
	_, err := d.GitHub.Thread(d.Owner, d.Name, number).Post(ctx, marker, body, from)
	d.Voice.warnOf(err)
	return true
}

// isTaken reports whether another job has taken what a job was started for, or will: one that
// is at work looks for new commands.
func (u Unstarted) isTaken(run metadata.Run) bool {
	lease, said := run.Execution.Lease, u.For.Said()
	switch {
	case lease != nil && u.At.Before(lease.Expires):
		return true
	case u.For.CI:
		return !GoesOnAlone(run)
	case said > 0 && u.For.Pull > 0:
		return phases.TakenOnPull(run, said)
	case said > 0:
		return phases.Taken(run, said)
	}
	return slices.ContainsFunc(run.Decisions, func(d metadata.Decision) bool { return d.Job != "" && d.Job == u.Job })
}
