package terminal

import "time"

// beatEvery is how long a plain log stays silent while something is at work.
const beatEvery = time.Minute

// pulse tells in a plain log that the step under way is still at work: services that
// run jobs, and people, take silence for the end.
type pulse struct {
	doing *news // the step under way; nil for none
	since time.Time
	timer *time.Timer
}

// follow takes note of news. It is called with the view locked.
func (v *PlainView) follow(n news) {
	switch n.Event {
	case "begin":
		v.pulse.doing, v.pulse.since = &n, time.Now()
	case "activity":
		if v.pulse.doing == nil {
			return
		}
		v.pulse.doing.Activity = n.Activity
		if !v.O.Verbose {
			return // nothing is printed, so it is as silent as before
		}
	default:
		v.rest()
		return
	}
	if v.pulse.timer == nil {
		v.pulse.timer = time.AfterFunc(beatEvery, v.beat)
	} else {
		v.pulse.timer.Reset(beatEvery)
	}
}

// rest ends the telling, until the next step. It is called with the view locked.
func (v *PlainView) rest() {
	if v.pulse.timer != nil {
		v.pulse.timer.Stop()
	}
	v.pulse.doing = nil
}

// beat prints a line about the step under way.
func (v *PlainView) beat() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.pulse.doing == nil {
		return // it ended just now
	}
	n := *v.pulse.doing
	took := time.Since(v.pulse.since)
	n.Event, n.Time, n.DurationMS = "at work", n.Time.Add(took), took.Milliseconds()
	for _, l := range plainLines(n, columnsOf(v.O.Plan), v.P.Palette, false) {
		v.P.Line("%s", l)
	}
	v.pulse.timer.Reset(beatEvery)
}
