package program

import "context"

// Begun is a command that runs while something else is done.
type Begun struct {
	stop context.CancelFunc
	done chan struct{}
	out  []byte
	err  error
}

// Begin is Do for a caller who does something else meanwhile. The result has to be ended.
func (c Call) Begin(ctx context.Context) *Begun {
	ctx, stop := context.WithCancel(ctx)
	b := &Begun{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.out, b.err = c.Do(ctx)
	}()
	return b
}

// Wait gives what Do gives.
func (b *Begun) Wait() ([]byte, error) {
	<-b.done
	return b.out, b.err
}

// End ends the command, if it is not over.
func (b *Begun) End() {
	b.stop()
	<-b.done
}
