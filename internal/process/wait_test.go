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
