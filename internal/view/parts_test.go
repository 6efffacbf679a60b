package view_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
)

// Parts stand below their phase, count with it, and lie between what it needs and
// itself in the picture.
func TestParts(t *testing.T) {
	p := progresstest.Plays(t, "en")["begun"]
	progresstest.Split(p, "implementation")
	s := view.StateOf(p.Course)
	at := slices.IndexFunc(s.Rows, func(r view.Row) bool { return r.Rec.Name == "implementation" })
	for i, want := range []struct{ part, title string }{{"", "Implementation"}, {"t1", "Implementation t1: Read it"}, {"t2", "Implementation t2: \"]; click p1 <b>"}} {
		if r := s.Rows[at+i]; r.Part != want.part || r.Title != want.title || r.Number != s.Rows[at].Number {
			t.Errorf("row %d is %+v, want %+v", at+i, r, want)
		}
	}
	if all, done := s.All, s.Done; all != len(p.Plan.Phases) || done != 0 {
		t.Errorf("%d of %d phases are done, want 0 of %d", done, all, len(p.Plan.Phases))
	}
	p.Run.Phase("implementation.t1").Status = metadata.PhaseCompleted
	if view.StateOf(p.Course).Done != 0 {
		t.Error("a part counts as a phase")
	}
	picture := view.Mermaid(p.Course)
	for _, want := range []string{
		"  p6[\"✓ Implementation t1- Read it\"]:::done\n", "  p7[\"5 Implementation t2- --- click p1 -b-\"]:::pending\n",
		"  p4 --> p6\n", "  p6 --> p7\n", "  p7 --> p5\n",
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("there is no %q in\n%s", want, picture)
		}
	}
	if strings.Contains(picture, "  p4 --> p5\n") || strings.Contains(picture, "  p6 --> p5\n") {
		t.Errorf("an arrow goes past the parts:\n%s", picture)
	}
}
