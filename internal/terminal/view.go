// Package terminal is what people and programs read in a terminal or a log: the
// progress of a run while it works, and reports on where it stands, what happened
// and what its pipeline is.
package terminal

import (
	"io"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// View shows people how a run goes. Report may be called from several
// goroutines. Close leaves the terminal as it was found, and may be called
// again.
type View interface {
	engine.Reporter
	Close()
}

// Options says how to show a run.
type Options struct {
	Live    bool                // keep a picture up to date; w must be a terminal, and the format "text"
	Color   bool                // see text.WantsColor
	Verbose bool                // also tell what agents do in between
	Format  string              // "text", or "json" for one object per line
	Plan    *pipelines.Pipeline // of the run; nil if it is not known yet
	Width   int                 // of the terminal in cells; 0 if unknown
	// Group begins a group of lines that the page of a job can fold, and ends the one before; ""
	// only ends it. Nil: lines have no groups.
	Group func(title string)
	// Messages is where else the program writes meanwhile. What goes to a terminal is printed
	// above the picture.
	Messages io.Writer
	// Standing is how a run stands to its base; empty: there is nothing to say of it.
	Standing metadata.Reason
	// Worker is the process of this machine that works on the run; 0: none does.
	Worker int
	// Merged tells that the branch of the run is merged or gone.
	Merged bool
	// Near says which open runs of other issues change the same files.
	Near metadata.Reason
}

// NewView gives the view that o asks for. It writes to w and nowhere else.
func NewView(w io.Writer, o Options) View {
	o.Plan = view.Whole(o.Plan)
	if o.Live {
		return newLiveView(w, o)
	}
	return &logView{p: text.Printer{W: w, Palette: text.Palette(o.Color)}, o: o}
}
