package state

import "time"

// Limit is one on how much may be done within a time. The zero value is none.
type Limit struct {
	Most   int
	Window time.Duration
	times  []time.Time
}

// Take counts one more, unless that would be too many: then it says how long to wait.
func (l *Limit) Take(now time.Time) (wait time.Duration) {
	if l.Most == 0 {
		return 0
	}
	for len(l.times) > 0 && now.Sub(l.times[0]) >= l.Window {
		l.times = l.times[1:]
	}
	if len(l.times) >= l.Most {
		return l.Window - now.Sub(l.times[0])
	}
	l.times = append(l.times, now)
	return 0
}
