package phases

import (
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// AheadOf gives the attempt that wrote what a phase builds on, if that was not accepted yet when
// the phase began; nil for all others.
func AheadOf(run *metadata.Run, rec *metadata.Phase) *metadata.Attempt {
	if rec.Lane == nil || rec.Lane.Ahead < 1 || rec.Lane.Ahead > len(run.Attempts) {
		return nil
	}
	return &run.Attempts[rec.Lane.Ahead-1]
}

// giveUp gives up work that was begun before what it builds on was accepted, once that is
// not as it was. Work upon what was accepted since is work like any other.
func giveUp(run *metadata.Run, at time.Time) {
	for i := range run.Phases {
		rec := &run.Phases[i]
		upon := AheadOf(run, rec)
		if upon == nil {
			continue
		}
		before := run.Phase(upon.Phase)
		stands := before != nil && before.Written == upon.N && before.Generation == upon.Generation
		if stands && before.Status == metadata.PhaseCompleted {
			rec.Lane.Ahead = 0
			continue
		}
		if stands && before.Status == metadata.PhaseInProgress && (before.CurrentStep == metadata.Review || before.CurrentStep == metadata.Integrate) {
			continue
		}
		run.Decisions = append(run.Decisions, metadata.Decision{
			At: at, Step: metadata.GivenUp, Phase: rec.Name, Why: metadata.Because("early_given_up", "phase", upon.Phase), Attempt: AttemptOf(run, rec.Name).N,
		})
		forgetChildren(run, func(phase string) bool { return phase == rec.Name })
		was := *rec
		resetToPending(rec, false)
		if was.Base != was.Lane.Base { // what is left there of earlier work has to be reviewed
			rec.Base, rec.Upstream = was.Base, was.Upstream
		}
		run.CurrentPhase = upon.Phase
	}
}
