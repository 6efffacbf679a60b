package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// A plain log says that a step is still at work, and nothing once it is over.
func TestPulse(t *testing.T) {
	p := progresstest.NewPlay(t, "en")
	var out bytes.Buffer
	v := &logView{p: text.Printer{W: &out}, o: Options{Plan: p.Plan}}
	defer v.Close()
	v.beat() // nothing is at work
	d := phases.Decision{Do: phases.DoExecute, Phase: "design", Agent: "writer"}
	v.Report(engine.Event{At: progresstest.Nine, Run: p.Run, Decision: &d})
	v.Report(engine.Event{At: progresstest.Nine, Run: p.Run, Of: d, Activity: &engine.Activity{Text: "Read main.go"}})
	v.mu.Lock()
	v.doing[0].since = v.doing[0].since.Add(-3 * time.Minute)
	v.mu.Unlock()
	out.Reset()
	v.beat()
	if got := out.String(); !strings.HasPrefix(got, "09:03:0") || !strings.Contains(got, "design") || !strings.Contains(got, "… at work for 3m0") || !strings.HasSuffix(got, "Read main.go\n") {
		t.Errorf("it says %q", got)
	}
	v.Report(engine.Event{At: progresstest.Nine, Run: p.Run, Of: d, Done: &phases.Outcome{}})
	out.Reset()
	if v.beat(); out.Len() > 0 {
		t.Errorf("after the step it says %q", out.String())
	}
}

// Of several steps under way a plain log says that each is at work, also after another
// has ended.
func TestPulseOfSeveral(t *testing.T) {
	p := progresstest.NewPlay(t, "en")
	var out bytes.Buffer
	v := &logView{p: text.Printer{W: &out}, o: Options{Plan: p.Plan}}
	defer v.Close()
	of := func(phase string) phases.Decision {
		return phases.Decision{Do: phases.DoExecute, Phase: phase, Agent: "writer"}
	}
	beat := func() string {
		out.Reset()
		v.beat()
		return out.String()
	}
	for _, phase := range []string{"planning", "design", "implementation"} {
		d := of(phase)
		v.Report(engine.Event{At: progresstest.Nine, Run: p.Run, Decision: &d})
	}
	v.Report(engine.Event{At: progresstest.Nine, Run: p.Run, Of: of("planning"), Activity: &engine.Activity{Text: "Read main.go"}})
	v.Report(engine.Event{At: progresstest.Nine, Run: p.Run, Of: of("design"), Done: &phases.Outcome{}})
	got := beat()
	if lines := strings.Split(got, "\n"); len(lines) != 3 || !strings.Contains(lines[0], "planning") || !strings.HasSuffix(lines[0], "Read main.go") || !strings.Contains(lines[1], "implementation") {
		t.Errorf("while two are at work it says %q", got)
	}
	v.Report(engine.Event{At: progresstest.Nine, Run: p.Run, Of: of("planning"), Done: &phases.Outcome{}})
	if got := beat(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "implementation") {
		t.Errorf("while one is at work it says %q", got)
	}
	stopped := p.Run.Clone()
	stopped.Status = metadata.Interrupted
	v.Report(engine.Event{At: progresstest.Nine, Run: stopped, Of: of("design"), Done: &phases.Outcome{}})
	if got := beat(); got != "" {
		t.Errorf("after the run it says %q", got)
	}
}

// The live view calls the person once, when the run goes no further.
func TestRing(t *testing.T) {
	p := progresstest.Plays(t, "en")["stuck"]
	var out bytes.Buffer
	v := &liveView{canvas: Canvas{&out, nil, 0}, screen: screenAfter(p, 0, Options{Plan: p.Plan})}
	for i, e := range p.Events {
		v.Report(e)
		v.draw(false)
		if last := i == len(p.Events)-1; strings.Contains(out.String(), "\a") && !last {
			t.Fatalf("it rings at event %d of %d", i, len(p.Events))
		}
	}
	v.draw(true)
	want := "\a" + ansi.Notify("reprise: #7 "+text.Words(p.Run.Status)+": "+p.Run.IssueTitle)
	if n := strings.Count(out.String(), want); n != 1 {
		t.Errorf("it rings %d times: %q", n, out.String()[max(0, out.Len()-300):])
	}
	out.Reset()
	if v.canvas.Ring(metadata.Run{IssueTitle: "a\x1b]0;b\a"}); strings.Count(out.String(), "\x1b") != 1 || strings.Count(out.String(), "\a") != 2 {
		t.Errorf("a title rings by itself: %q", out.String())
	}
}
