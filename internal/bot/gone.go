package bot

import (
	"context"
	"errors"
	"io/fs"

	"github.com/reprise-ci/reprise/internal/delivery"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// tellGone tells people that the job which had the run is gone, if the record still has the run at work in the name of one
// of the same run of the workflow. Nothing is committed: the next job takes the run over. It needs no checkout.
func tellGone(ctx context.Context, b *bot) jobEnd {
	plan, run, err := b.voice.known(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b.undecided(err)
	}
	if err != nil || run.Status != metadata.Running || !sameRunLease(b.me, run.Execution.Lease) {
		if delivery.TellUnstarted(ctx, newDelivery(b.place, b.voice), run, delivery.Unstarted{For: b.t.Other, Job: jobOf(b.me), At: b.env.Now()}) {
			return jobEnd{decision: replied}
		}
		return b.ignore(metadata.NotACommand, metadata.Because("nothing_ended"))
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
