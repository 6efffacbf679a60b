//go:build slow || e2e

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/metadata"
)

// Somebody who wants a run to stop does not wait for the answers to others,
// which go out at the pace that a forge bears: neither while a step is under
// way, nor between two, when fifteen commands have just been refused. All of
// them are answered in the end, together.
func TestCancelIsNotKeptWaiting(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{"in the same step": time.Second, "in the next step": 75 * time.Second} {
		t.Run(name, func(t *testing.T) {
			s := newArena(t)
			all := []incident{{By: "ada", Text: "/run", Jobs: []assignment{{After: time.Second, fate: fate{Seed: 1}}}}}
			for i := range 15 {
				all = append(all, incident{By: "ada", Text: "/rollback nowhere x", After: time.Duration(1-min(i, 1)) * 15 * time.Second})
			}
			all = append(all, incident{By: "max", Text: "/cancel enough", After: after})
			err := s.stage(t, all, func(w *meeting) {
				w.thinks = time.Minute
				w.happens(all)
				w.inTime(30 * time.Second)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// inTime holds that a run was cancelled soon after somebody asked for it, and
// that the refused commands have one answer.
func (w *meeting) inTime(most time.Duration) {
	for _, d := range w.last.Decisions {
		if took := d.At.Sub(w.said[d.Comment].at); d.Step == "cancel" && took > most {
			w.fault(nil, "it was obeyed after %s", took)
		}
	}
	if w.last.Status != metadata.Cancelled {
		w.fault(nil, "the run is %s", w.last.Status)
	}
	if log := w.machines[1].log(); strings.Contains(log, "is asked again") || !strings.Contains(log, "the next comment or sign goes there in 10s") {
		w.fault(nil, "the log does not say what is waited for:\n%s", log)
	}
	answers := 0
	for _, c := range w.forge.Comments(w.repo, hubIssue) {
		if len(command.AnswersTo(c.Body)) > 0 {
			answers++
			if n := strings.Count(c.Body, "`/rollback`"); n != 1 {
				w.fault(nil, "an answer names the same command %d times:\n%s", n, c.Body)
			}
		}
	}
	if answers != 1 {
		w.fault(nil, "there are %d answers", answers)
	}
	for id, s := range w.said {
		if s.text == "/rollback nowhere x" && w.signs(id) != "eyes confused" {
			w.fault(nil, "comment %d has the signs %q", id, w.signs(id))
		}
	}
}
