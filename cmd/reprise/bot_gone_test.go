//go:build slow || e2e

package main

import (
	"testing"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// A job that is gone at any of its steps after people have given commands,
// and the job that comes after it: for the same command, for an older one whose
// job was late, or for a newer one. The run goes on to its end, each command was
// obeyed once, and there is one comment and one pull request.
func TestGoneJobIsFollowed(t *testing.T) {
	followed(t, 11)
}

// followed ends a job at every nth of its steps.
func followed(t *testing.T, every int) {
	t.Parallel()
	for i, next := range []string{"the same", "an older", "a newer"} {
		t.Run(next, func(t *testing.T) {
			t.Parallel()
			s := newArena(t)
			for at := 1 + i; ; at += every {
				gone, err := s.follow(t, next, at)
				if err != nil {
					t.Fatalf("step %d: %v", at, err)
				}
				if !gone {
					t.Logf("%d steps", at)
					return
				}
			}
		})
	}
}

// follow plays one case, and reports whether the first job came to the step at
// which it is gone.
func (s *arena) follow(t *testing.T, next string, at int) (gone bool, err error) {
	// The forge knows five minutes after a job is gone that it is over. A run here takes up to seven, and
	// a newer command looks back no more than ten.
	const later, newer = 12 * time.Minute, 9 * time.Minute
	first := assignment{After: time.Second, fate: fate{Seed: 3, Kill: at}}
	job := assignment{After: later, fate: fate{Seed: 4}}
	all := []incident{
		{By: "ada", Text: "/run", Jobs: []assignment{first}},
		{By: "max", Text: "/rollback plan think again", After: 40 * time.Second},
		{By: "ada", Text: "/retry", After: time.Millisecond}, // which is refused
	}
	switch next {
	case "the same":
		all[1].Jobs = []assignment{job}
	case "an older":
		all[0].Jobs = append(all[0].Jobs, job)
	case "a newer":
		all = append(all, incident{By: "max", Text: "/rollback build look again", After: newer, Jobs: []assignment{{After: time.Second, fate: job.fate}}})
	}
	err = s.stage(t, all, func(w *meeting) {
		w.happens(all)
		gone = w.machines[1].isGone()
		if w.last == nil || w.last.Status != metadata.Completed {
			w.fault(nil, "the run has not come to its end")
			return
		}
		w.signed()
	})
	return gone, err
}

// signed holds that people see on each command what became of it.
func (w *meeting) signed() {
	for _, d := range w.last.Decisions {
		want := "eyes rocket"
		if d.Why.Code() == "refused" {
			want = "eyes confused"
		}
		if got := w.signs(d.Comment); d.Comment > 0 && got != want {
			w.fault(nil, "comment %d (/%s) has the signs %q, want %q", d.Comment, d.Step, got, want)
		}
	}
}
