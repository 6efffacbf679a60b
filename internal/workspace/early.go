package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// early is what a run is defined by if it is a new one. That of an issue in a file is found
// while branch and tree are opened, as neither needs the other; should the run turn out to
// have begun elsewhere, nobody asks for it. What is wrong with it is told after what is wrong
// with those.
type early struct {
	issue      issue.Issue
	removed    []clean.Removal // what the issue hid
	definition Definition
	err        error

	done chan struct{} // closed once the above is there
	stop context.CancelFunc
}

// defineEarly begins to define a new run. The result has to be ended.
func (w *opening) defineEarly(ctx context.Context) *early {
	ctx, stop := context.WithCancel(ctx)
	e := &early{issue: w.Issue, done: make(chan struct{}), stop: stop}
	go func() {
		defer close(e.done)
		e.issue.Mask(w.env)
		e.removed = e.issue.Clean()
		e.definition, e.err = w.backend.Define(ctx, w.Source, e.issue, w.o.Choice)
	}()
	return e
}

// end sees to it that nothing of it goes on. Nil has nothing that could.
func (e *early) end() {
	if e != nil {
		e.stop()
		<-e.done
	}
}

// absent reports whether nothing has that name.
func absent(name string) bool {
	_, err := os.Lstat(name)
	return errors.Is(err, fs.ErrNotExist)
}
