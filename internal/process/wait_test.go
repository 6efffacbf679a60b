package process

import (
	"testing"
	"testing/synctest"
	"time"
)

// A program that talks is not idle, and has no more time than it has.
func TestTalkIsNotIdle(t *testing.T) {
	for _, tt := range []struct {
		every time.Duration
		want  Cause
		after time.Duration
	}{
		{10 * time.Millisecond, TimedOut, 4 * time.Second},
		{2 * time.Second, TimedOut, 4 * time.Second},
		{time.Hour, WentIdle, 3 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			beat, over := newPulse(), make(chan struct{})
			go func() {
				for {
					select {
					case <-over:
						return
					case <-time.After(tt.every):
						beat.last.Store(int64(time.Since(beat.start)))
					}
				}
			}()
			began := time.Now()
			p := Program{Whole: 4 * time.Second, Idle: 3 * time.Second}
			got, _ := p.wait(t.Context(), &child{exited: make(chan struct{})}, nil, beat, nil)
			if took := time.Since(began); got != tt.want || took != tt.after {
				t.Errorf("with a word every %v it ends by %v after %v, want %v after %v", tt.every, got, took, tt.want, tt.after)
			}
			close(over)
		})
	}
}

// A sign of life from elsewhere counts as talk does: as long as it comes, and no longer than
// the program has at all. One of long ago, or none, changes nothing.
func TestWhatIsHeardIsNoSilence(t *testing.T) {
	for _, tt := range []struct {
		every, until time.Duration
		want         Cause
		after        time.Duration
	}{
		{time.Second, time.Hour, TimedOut, 20 * time.Second},
		{time.Second, 9500 * time.Millisecond, WentIdle, 12 * time.Second},
		{time.Hour, time.Hour, WentIdle, 3 * time.Second},
		{4 * time.Second, time.Hour, WentIdle, 3 * time.Second}, // it comes too late
	} {
		synctest.Test(t, func(t *testing.T) {
			var heard time.Time // of the moment, as a program that asks would see it
			began := time.Now()
			p := Program{Whole: 20 * time.Second, Idle: 3 * time.Second, Heard: func() time.Time {
				if n := min(time.Since(began), tt.until) / tt.every; n > 0 {
					heard = began.Add(n * tt.every)
				}
				return heard
			}}
			got, _ := p.wait(t.Context(), &child{exited: make(chan struct{})}, nil, newPulse(), nil)
			if took := time.Since(began); got != tt.want || took != tt.after {
				t.Errorf("heard of every %v until %v, it ends by %v after %v, want %v after %v", tt.every, tt.until, got, took, tt.want, tt.after)
			}
		})
	}
}

// A program that has ended by itself is not said to have been too long, however
// late we come to see it.
func TestEndedInTime(t *testing.T) {
	c := &child{exited: make(chan struct{})}
	for _, cause := range []Cause{TimedOut, WentIdle, Lingered, Cancelled} {
		if got := c.rather(cause); got != cause {
			t.Errorf("at work, %v becomes %v", cause, got)
		}
	}
	close(c.exited)
	for cause, want := range map[Cause]Cause{TimedOut: Exited, WentIdle: Exited, Lingered: Exited, Cancelled: Cancelled} {
		if got := c.rather(cause); got != want {
			t.Errorf("over, %v becomes %v, want %v", cause, got, want)
		}
	}
}

// Silence in which nobody had a turn, as when all processes are stopped for it, counts for nothing.
func TestSilenceOfEverybody(t *testing.T) {
	if short, long := overslept(time.Now().Add(-time.Second)), overslept(time.Now().Add(-time.Hour)); short != 0 || long < time.Hour {
		t.Errorf("a timer that is late by a second has overslept %v, and one that is late by an hour %v", short, long)
	}
}
