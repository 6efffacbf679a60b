package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// saveEvery is how often the cost of a call under way is saved.
const saveEvery = 2 * time.Second

// observer follows a call of an agent while it works.
type observer struct {
	LeakGuard
	store  Saver
	report Reporter
	now    func() time.Time
	today  float64      // US dollars that may still be spent on this day; 0: there is no limit
	run    metadata.Run // with what is known of the open attempt; it is ours alone
	of     phases.Decision
	saved  time.Time // when that was last saved
	end    context.CancelCauseFunc
}

// attempt is the open attempt.
func (o *observer) attempt() *metadata.Attempt { return &o.run.Attempts[len(o.run.Attempts)-1] }

// notify takes a sign of life: it ends the call when a limit is reached, saves
// the session, and from time to time the cost, so that a kill does not lose
// them, and reports.
func (o *observer) notify(a Activity) {
	if phases.LimitReachedIn(o.run, a.Usage) != "" || o.today > 0 && a.Usage.USD >= o.today {
		o.end(errBudget)
	}
	a.Session = withoutSecret(o.LeakGuard, a.Session)
	open := o.attempt()
	isNew := a.Session != "" && !open.Confirmed
	if a.Session != "" {
		open.Session, open.Confirmed = a.Session, true
	}
	open.Usage = a.Usage
	if now := o.now(); isNew || now.Sub(o.saved) > saveEvery {
		o.saved = now
		o.run.Revision++
		if err := o.store.Save(o.run); err != nil {
			o.end(fmt.Errorf("saving the session: %w", err))
		}
	}
	a.Text = o.Mask(a.Text)
	o.report.Report(Event{At: o.now(), Run: o.run, Of: o.of, Activity: &a})
}

// withoutSecret gives a name that an agent made up, unless there is a secret in it: a
// record with one is not committed, so that no start could go on.
func withoutSecret(g LeakGuard, name string) string {
	if g.Mask(name) != name {
		return ""
	}
	return name
}
