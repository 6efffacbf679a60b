package view_test

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/phases"
)

func TestMermaid(t *testing.T) {
	p := progresstest.Plays(t, "en")["rolledback"]
	progresstest.Golden(t, "graph-plan.mmd", view.Mermaid(phases.Course{Plan: p.Plan}))
	progresstest.Golden(t, "graph-run.mmd", view.Mermaid(p.Course))
	progresstest.Golden(t, "graph-run.txt", view.Drawing(p.Course))
	p.Plan.Phases = p.Plan.Phases[:3]
	for i := range p.Plan.Phases {
		p.Plan.Phases[i].Needs = nil
	}
	if got := view.Mermaid(phases.Course{Plan: p.Plan}); !strings.Contains(got, "p1 --> p2\n  p2 --> p3\n") {
		t.Errorf("phases without needs do not follow each other:\n%s", got)
	}
	p.Plan.Phases[0].Name = "\"];click p1 \"javascript:x\" \n<b>%%{init}%%"
	if got := view.Mermaid(phases.Course{Plan: p.Plan}); !strings.Contains(got, "  p1[\"1 ---click p1 -javascript-x- -b----init---\"]\n") {
		t.Errorf("a hostile name got through:\n%s", got)
	}
}
