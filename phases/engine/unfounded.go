package engine

import (
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// unfounded says why a verdict rests on nothing, in this call and in those that it goes on
// from; "" if it does not. A reviewer that is to run what it judges has to have run something.
// Any other has to have used a tool: no prompt has the artifact in it, only its path. One
// with access none has no tools, as its pipeline wants it, and judges by its prompt alone.
func (e *Engine) unfounded(w *work) metadata.Reason {
	r := w.call.result
	var why metadata.Reason
	switch {
	case r.RanNothing:
		why = metadata.Because("review_ran_nothing")
	case r.ToolCalls >= 0 && r.ToolCalls <= len(r.Denials) && phases.AccessOf(e.Plan, w.d) != pipelines.AccessNone:
		why = metadata.Because("review_opened_nothing", "file", w.artifact())
	}
	if why == "" || w.onlyCorrects() {
		return ""
	}
	return why
}

// onlyCorrects reports whether a review goes on from one that was no use and did look at what
// it judges. Of a call that was cut off nobody knows whether it had looked yet.
func (w *work) onlyCorrects() bool {
	if w.d.Resume == 0 {
		return false
	}
	session := w.run.Attempts[w.d.Resume-1].Session
	for _, a := range slices.Backward(w.tries) {
		if a.Session == session && a.Code == metadata.OutputInvalid {
			return !slices.ContainsFunc(a.Why.Each(), func(r metadata.Reason) bool {
				return r.Code() == "review_ran_nothing" || r.Code() == "review_opened_nothing"
			})
		}
	}
	return false
}
