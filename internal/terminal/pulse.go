package terminal

import (
	"slices"
	"time"
)

// beatEvery is how long a plain log stays silent while something is at work.
const beatEvery = time.Minute

// pulse tells in a plain log that the steps under way are still at work: services that
// run jobs, and people, take silence for the end.
type pulse struct {
	doing []*working // in the order in which they began, one for each phase at most
	timer *time.Timer
}

// working is a step under way.
type working struct {
	news
	since time.Time
}

// follow takes note of news. It is called with the view locked.
func (v *PlainView) follow(n news) {
	of := func(w *working) bool { return w.Phase == n.Phase }
	switch n.Event {
	case "begin":
		v.pulse.doing = append(slices.DeleteFunc(v.pulse.doing, of), &working{n, time.Now()})
	case "activity":
		i := slices.IndexFunc(v.pulse.doing, of)
		if i < 0 {
			return
		}
		v.pulse.doing[i].Activity = n.Activity
		if !v.O.Verbose {
			return // nothing is printed, so it is as silent as before
		}
	case "stop":
		v.pulse.doing = nil
	default:
		v.pulse.doing = slices.DeleteFunc(v.pulse.doing, of)
	}
	switch {
	case len(v.pulse.doing) == 0:
		v.rest()
	case v.pulse.timer == nil:
		v.pulse.timer = time.AfterFunc(beatEvery, v.beat)
	default:
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

// beat prints a line about each step under way.
func (v *PlainView) beat() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range v.pulse.doing {
		n, took := w.news, time.Since(w.since)
		n.Event, n.Time, n.DurationMS = "at work", n.Time.Add(took), took.Milliseconds()
		v.print(plainLines(n, columnsOf(v.O.Plan), v.P.Palette, false))
	}
	if len(v.pulse.doing) > 0 { // else the last one ended just now
		v.pulse.timer.Reset(beatEvery)
	}
}
