package process

import (
	"context"
	"testing"
	"time"
)

// Of the 5 s that a run has once it is told to stop, a program gets no more than 2; for any other
// reason it gets all of its grace.
func TestGrace(t *testing.T) {
	for _, tt := range []struct {
		own, want time.Duration
		why       Cause
	}{
		{time.Hour, 2 * time.Second, Cancelled},
		{100 * time.Millisecond, 100 * time.Millisecond, Cancelled},
		{time.Hour, time.Hour, TimedOut},
		{time.Hour, time.Hour, WentIdle},
		{time.Hour, time.Hour, Lingered},
		{time.Hour, time.Hour, Stopped},
	} {
		if got := (Program{Grace: tt.own}).grace(tt.why); got != tt.want {
			t.Errorf("of a grace of %v, %v after %v", tt.own, got, tt.why)
		}
	}
}

// A program that does not listen is ended soon after its caller is told to stop, whatever its grace.
func TestDeafToTheEnd(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	p := program("/bin/sh", "-c", `trap "" TERM; echo ready; i=0; while [ $((i += 1)) -lt 300 ]; do sleep 1; done`)
	p.Grace, p.Whole = time.Hour, time.Hour
	p.Line = func(line []byte) Reaction {
		if string(line) == "ready" {
			stop()
		}
		return GoOn
	}
	ended := make(chan Ending, 1)
	go func() {
		e, err := p.Run(ctx)
		if err != nil {
			t.Error(err)
		}
		ended <- e
	}()
	select {
	case e := <-ended:
		if e.Cause != Cancelled || e.Code() == 0 {
			t.Errorf("it ended with %+v", e)
		}
	case <-time.After(2 * time.Minute): // also on a machine that is busy
		t.Fatal("it is still there, as if it had all of its grace")
	}
}
