package state

import "time"

// Clock tells the time and numbers what is new. It begins in March 2026, and a second
// passes with every change.
type Clock struct {
	now    time.Time
	clock  func() time.Time // nil: now
	lastID int64
}

// SetClock makes it tell the time by another clock.
func (c *Clock) SetClock(clock func() time.Time) { c.clock = clock }

// Time is what time it is.
func (c *Clock) Time() time.Time {
	if c.clock != nil {
		return c.clock().UTC().Truncate(time.Second)
	}
	return c.now
}

// Tick is the time of a change.
func (c *Clock) Tick() time.Time {
	c.now = c.now.Add(time.Second)
	return c.Time()
}

// NewID gives a number that nothing else has, and that is greater than all before.
func (c *Clock) NewID() int64 {
	c.lastID++
	return c.lastID
}
