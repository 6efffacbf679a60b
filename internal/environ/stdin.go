package environ

import (
	"context"
	"os"
)

// Interruptible is a file whose reader does not wait any longer once the
// program was told to stop.
type Interruptible struct {
	*os.File
	Ctx context.Context
}

// Read reads from the file, or fails with the cause for which the program
// stops. What the file gives after that is lost.
func (f Interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	own := make([]byte, len(p)) // p is the caller's again when it returns
	go func() {
		n, err := f.File.Read(own)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, own[:r.n]), r.err
	case <-f.Ctx.Done():
		return 0, context.Cause(f.Ctx)
	}
}
