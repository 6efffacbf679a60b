package main

import (
	"io"

	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// view shows people how a run goes. Report may be called from several
// goroutines. Close leaves the terminal as it was found, and may be called
// again.
type view interface {
	phases.Reporter
	Close()
}

// viewOptions says how to show a run.
type viewOptions struct {
	Live    bool   // keep a picture up to date; w must be a terminal
	Color   bool   // see wantsColor
	Verbose bool   // also tell what agents do in between
	Format  string // "text", or "json" for one object per line
	Plan    *pipelines.Pipeline
	Width   int // of the terminal in cells; 0 if unknown
}

// newView gives the view that o asks for. It writes to w and nowhere else.
func newView(w io.Writer, o viewOptions) view {
	switch o.Plan = whole(o.Plan); {
	case o.Format == "json":
		return &jsonView{w: w, o: o}
	case o.Live:
		return newLiveView(w, o)
	}
	return &plainView{p: printer{w, palette(o.Color)}, o: o}
}

// wantsColor reports whether output is coloured, by the habits that terminal
// programs share: never with NO_COLOR or on a dumb terminal, else on a
// terminal or where CLICOLOR_FORCE asks for it.
func wantsColor(getenv func(string) string, terminal bool) bool {
	switch {
	case getenv("NO_COLOR") != "":
		return false
	case getenv("CLICOLOR_FORCE") != "" && getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	return terminal && getenv("TERM") != "dumb"
}
