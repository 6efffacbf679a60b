package bot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/holder"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// tellGone tells people that the job which had the run is gone, if the record still has the run at work in the name of one
// of the same run of the workflow. Nothing is committed: the next job takes the run over. It needs no checkout.
func tellGone(ctx context.Context, b *bot) jobEnd {
	plan, run, err := b.voice.known(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return jobEnd{decision: denied, Denial: page.Denial{Code: exit.ForgeReason(err), Why: exit.Why(err)}}
	}
	if err != nil || run.Status != metadata.Running || !holder.SameRun(b.me, run.Execution.Lease) {
		if b.neverBegan(run) {
			return b.tellUnstarted(ctx, run)
		}
		return jobEnd{decision: ignored, Denial: page.Denial{Code: metadata.NoTrigger, Why: metadata.Because("nothing_ended")}}
	}
	run = phases.Interrupt(run, b.env.Now())
	run.Stop.Why = metadata.Because("job_gone")
	b.voice.about = subject{plan: plan, run: run, began: true}
	b.voice.flush(run)
	d := newDelivery(b.place, b.voice)
	d.TellStop(ctx, plan, &run)
	d.FindPull(ctx, &run)
	d.KeepDraft(ctx, plan, run)
	return jobEnd{decision: replied, Denial: page.Denial{Code: metadata.RunCancelled, Why: run.Stop.Why}}
}

// neverBegan reports whether the job that is told of failed before reprise took what that was
// started for, and no other job takes it. One that was only dropped did not fail.
func (b *bot) neverBegan(run metadata.Run) bool {
	other, lease := b.t.Other, run.Execution.Lease
	switch {
	case b.in.Ended != "failure" || other == nil || b.in.Dry, lease != nil && b.env.Now().Before(lease.Expires):
		return false
	case other.CI:
		return goesOnAlone(run)
	case other.Comment != nil && other.Pull > 0:
		return !phases.TakenOnPull(run, other.Comment.ID)
	case other.Comment != nil:
		return !phases.Taken(run, other.Comment.ID)
	}
	return !slices.ContainsFunc(run.Decisions, func(d metadata.Decision) bool { return d.Job != "" && d.Job == holder.JobOf(b.me) })
}

// longest is how long after its first start the job of a workflow can be started again on GitHub.
const longest = 31 * 24 * time.Hour

// tellUnstarted tells people where they gave a command that its job ended before reprise could
// begin, once in each run of the workflow; where nobody gave one, once while the run waits.
func (b *bot) tellUnstarted(ctx context.Context, run metadata.Run) jobEnd {
	other, thread, key, since := b.t.Other, b.thread, holder.JobOf(b.me), b.t.Other.At
	does, by := other.Requested.Command.Line(), other.By
	switch {
	case other.CI:
		by, key, since = "", fmt.Sprint(run.Stop.At.UnixMilli()), run.Stop.At.Add(-page.ClockSkew)
	case other.Pull > 0:
		thread = b.gh.Thread(b.owner, b.name, other.Pull)
	case since.IsZero():
		since = b.env.Now().Add(-longest)
	}
	if other.Review != nil {
		does = ""
	}
	b.voice.speak(run.Language)
	marker, language := page.UnstartedMarker(b.id(), key), b.voice.language()
	who := newDelivery(b.place, b.voice).Mentioned(run, by)
	_, err := thread.Post(ctx, marker, page.Unstarted(marker, language, who, does, b.voice.linksTo(run, nil).Job), since)
	b.voice.warnOf(err)
	return jobEnd{decision: replied, text: prompts.Words(language).Comment.Unstarted}
}
