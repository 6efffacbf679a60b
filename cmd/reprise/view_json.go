package main

import (
	"encoding/json"
	"io"
	"sync"

	"github.com/reprise-ci/reprise/phases"
)

// jsonView prints one JSON object per line, see news.
type jsonView struct {
	mu sync.Mutex
	w  io.Writer
	o  viewOptions
}

// Report prints the news of e.
func (v *jsonView) Report(e phases.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, n := range newsOf(v.o.Plan, e) {
		if n.Event == "activity" && !v.o.Verbose {
			continue
		}
		if line, err := json.Marshal(n); err == nil { // what cannot be told or written never stops the work
			_, _ = v.w.Write(append(inertJSON(line), '\n'))
		}
	}
}

// Close does nothing: every line is out already.
func (v *jsonView) Close() {}
