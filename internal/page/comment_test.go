package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts/clean"
)

var sampleLinks = Links{
	Job: "https://github.com/octo/hello/actions/runs/5", Branch: "https://github.com/octo/hello/tree/reprise/issue-7",
	Files: "https://github.com/octo/hello/blob/reprise/issue-7/",
}

func TestComment(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		for name, p := range progresstest.Plays(t, language) {
			t.Run(language+"/"+name, func(t *testing.T) {
				progresstest.Golden(t, "comment-"+name+"."+language+".md", Comment(p.Plan, p.Run, sampleLinks))
			})
		}
	}
}

func TestCommentWithoutLinks(t *testing.T) {
	p := progresstest.Plays(t, "en")["middle"]
	got := Comment(p.Plan, p.Run, Links{Job: "javascript:alert(1)", Branch: "not a link"})
	for _, bad := range []string{"](", "javascript"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q is in\n%s", bad, got)
		}
	}
	if want := "`.reprise/issue-7/02_design/design.md`"; !strings.Contains(got, want) {
		t.Errorf("%s is not in\n%s", want, got)
	}
}

// The page of a run is among the artifacts of a job only when that has ended.
func TestLinkToTheReport(t *testing.T) {
	plays := progresstest.Plays(t, "en")
	is := Repository{Owner: "octo", Name: "hello", Job: 5, Uploads: true}
	const link = "[Report](https://github.com/octo/hello/actions/runs/5#artifacts)"
	for name, want := range map[string]bool{"completed": true, "failed": true, "middle": false} {
		run := plays[name].Run
		if got := Comment(plays[name].Plan, run, is.Links(run)); strings.Contains(got, link) != want {
			t.Errorf("%s: a link to the report is %v, want %v:\n%.600s", name, !want, want, got)
		}
	}
	is.Uploads = false
	if run := plays["completed"].Run; is.Links(run).Report != "" {
		t.Errorf("a job that keeps nothing links to %s", is.Links(run).Report)
	}
}

// How long a run still takes is said of one that goes on.
func TestCommentTellsWhatIsLeft(t *testing.T) {
	plays := progresstest.Plays(t, "en")
	for d, want := range map[time.Duration]string{
		29 * time.Second: "⬜ about 1 min left\n", 12*time.Minute + 20*time.Second: "⬜ about 12 min left\n", 125 * time.Minute: "⬜ about 2 h 5 min left\n", 0: "⬜\n",
	} {
		if got := LiveComment(plays["middle"].Plan, plays["middle"].Run, Notices{Remaining: d}); !strings.Contains(got, want) {
			t.Errorf("%s: %q is not in\n%.300s", d, want, got)
		}
	}
	if got := LiveComment(plays["paused"].Plan, plays["paused"].Run, Notices{Remaining: time.Hour}); strings.Contains(got, "left\n") {
		t.Errorf("a run that waits says how long it takes:\n%.300s", got)
	}
}

// TestCommentIsCut holds a run with far too much to say against the limit.
func TestCommentIsCut(t *testing.T) {
	p := progresstest.Plays(t, "en")["rolledback"]
	p.Passing("implementation")
	rec := p.Run.Phase("implementation")
	long := strings.Repeat("😀 long ", 500)
	for i := range 500 {
		f := progresstest.NoPaging()
		f.ID, f.Problem, f.Solution = fmt.Sprintf("F%d", i), long, long
		rec.Verdict = &metadata.Verdict{Findings: append(view.OpenFindings(rec.Verdict), f)}
	}
	entry := p.Run.RollbackHistory[0]
	entry.Reason = long
	for range 1000 {
		p.Run.RollbackHistory = append(p.Run.RollbackHistory, entry)
	}
	got := Comment(p.Plan, p.Run, sampleLinks)
	progresstest.CheckComment(t, 0, got)
	if n := clean.Units(got); n < 20_000 {
		t.Errorf("only %d units are used", n)
	}
	for _, want := range []string{"### 🔄 Phase 5 of 10: Implementation", "1. ▫️ Evaluation", "are left out, as a comment has no room", "Rollbacks · 1001", `"rollbacks":1001`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%.3000s", want, got)
		}
	}
}
