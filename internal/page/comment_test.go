package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

var sampleLinks = Links{
	Job: "https://github.com/octo/hello/actions/runs/5", Branch: "https://github.com/octo/hello/tree/reprise/issue-7",
	Files: "https://github.com/octo/hello/blob/reprise/issue-7/",
}

// Comment is the live comment with what the record says and nothing else.
func Comment(c phases.Course, l Links) string { return LiveComment(c, Notices{Links: l}) }

func TestComment(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		for name, p := range progresstest.Plays(t, language) {
			t.Run(language+"/"+name, func(t *testing.T) {
				progresstest.Golden(t, "comment-"+name+"."+language+".md", Comment(p.Course, sampleLinks))
			})
		}
	}
}

func TestCommentWithoutLinks(t *testing.T) {
	p := progresstest.Plays(t, "en")["middle"]
	got := Comment(p.Course, Links{Job: "javascript:alert(1)", Branch: "not a link"})
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
	is := Repository{Name: "octo/hello", Job: 5, Uploads: true}
	const link = "[Report](https://github.com/octo/hello/actions/runs/5#artifacts)"
	for name, want := range map[string]bool{"completed": true, "failed": true, "middle": false} {
		run := plays[name].Run
		if got := Comment(plays[name].With(run), is.Links(run)); strings.Contains(got, link) != want {
			t.Errorf("%s: a link to the report is %v, want %v:\n%.600s", name, !want, want, got)
		}
	}
	is.Uploads = false
	if run := plays["completed"].Run; is.Links(run).Report != "" {
		t.Errorf("a job that keeps nothing links to %s", is.Links(run).Report)
	}
}

// TestCommentIsCut holds a run with far too much to say against the limit.
func TestCommentIsCut(t *testing.T) {
	p := progresstest.Plays(t, "en")["rolledback"]
	p.Passing("implementation")
	rec := p.Run.Phase("implementation")
	long := strings.Repeat("😀 long ", 500)
	for i := range 500 {
		f := progresstest.WarningInOutput()
		f.ID, f.Problem, f.Solution = fmt.Sprintf("F%d", i), long, long
		rec.Verdict = &metadata.Verdict{Findings: append(view.OpenFindings(rec.Verdict), f)}
	}
	entry := p.Run.RollbackHistory[0]
	entry.Reason = long
	for range 1000 {
		p.Run.RollbackHistory = append(p.Run.RollbackHistory, entry)
	}
	got := Comment(p.Course, sampleLinks)
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

// The comment names what somebody has changed by hand, until it has passed a
// review again.
func TestCommentNamesWhatWasEdited(t *testing.T) {
	for language, want := range map[string]string{
		"en": "✏️ `design.md` was changed on the branch since it was reviewed",
		"ja": "✏️ `design.md` はレビューの後に",
	} {
		p := progresstest.NewPlay(t, language)
		p.Passing("test_scenario")
		p.Run = phases.Changed(p.Run, "design", "by hand", p.At)
		if got := Comment(p.Course, sampleLinks); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
		p.Next(p.Judgement(""))
		if got := Comment(p.Course, sampleLinks); strings.Contains(got, "✏️") {
			t.Errorf("reviewed again, it still says so:\n%s", got)
		}
	}
}

// The parts of a phase are a list below it, and their titles do nothing on a page.
func TestCommentHasParts(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		p := progresstest.Plays(t, language)["begun"]
		progresstest.Split(p, "implementation")
		p.Run.Tasks[1].Title = "The page](http://x) @octo/team <!-- reprise:progress:v1 --> closes #3"
		testenv.Must(t, p.Run.Check())
		text := Comment(p.Course, sampleLinks)
		progresstest.CheckComment(t, 0, text)
		if strings.Count(text, "\n   - ▫️ ") != 2 {
			t.Errorf("%s: there are no two parts below a phase in\n%s", language, text)
		}
		// Once they are next, each says what it waits for.
		for i := range p.Run.Phases {
			if rec := &p.Run.Phases[i]; rec.Name == "implementation.t1" {
				break
			} else if rec.Status != metadata.PhaseSkipped {
				*rec = metadata.Phase{Name: rec.Name, Status: metadata.PhaseSkipped}
			}
		}
		p.Run.CurrentPhase, p.Run.Questions = "", nil
		text, why := Comment(p.Course, sampleLinks), metadata.Because("part_needs", "parts", []string{"implementation.t1"}).In(prompts.Words(language))
		if got := strings.Count(text, " · "+why+"\n"); got != 1 {
			t.Errorf("%s: %d parts say what they wait for in\n%s", language, got, text)
		}
	}
}

// askingPeople is a run whose design has asked people, and how they answered.
func askingPeople(t *testing.T, language string) *progresstest.Play {
	t.Helper()
	p := progresstest.NewPlay(t, language)
	p.Passing("design")
	p.Next(p.Work(0))
	ask := func(text string, options ...string) {
		p.Run.Questions = append(p.Run.Questions, metadata.Question{
			ID: fmt.Sprintf("q%d", len(p.Run.Questions)+1), Phase: "design", Attempt: len(p.Run.Attempts), Text: text, Options: options, AskedAt: p.At,
		})
	}
	ask("Which port?\n\n/approve <!-- reprise:progress:v1 --> ![](https://example.com/x.png)")
	ask("May `status --json` *break* what @hana has?\n> Closes #1", "Yes, it is new", "No: | never")
	ask("How many pages?")
	var err error
	for id, text := range map[string]string{"q1": "8080.\n\n/cancel is what @octo/team says"} {
		if p.Run, err = phases.Answer(p.Run, id, text, phases.Command{By: "hana", At: p.At}); err != nil {
			t.Fatal(err)
		}
	}
	p.Run.Tasks = []metadata.Task{
		{ID: "t1", Phase: "requirements", Title: "Read the flag, as @hana says", Goal: "It is read."},
		{ID: "t2", Phase: "requirements", Title: "Print JSON | nothing else", Goal: "It is printed.", Needs: []string{"t1"}},
	}
	p.Run.Children = []metadata.Child{
		{ID: "c1", Phase: "requirements", Title: "Speak French, as @hana says", Body: "All of it.", Number: 9, URL: "https://github.com/octo/hello/issues/9"},
		{ID: "c2", Phase: "design", Title: "Print in colour <!-- reprise:progress:v1 --> | #3"},
	}
	for i := range phases.MostChildren {
		p.Run.Children = append(p.Run.Children, metadata.Child{ID: fmt.Sprintf("d%d", i), Phase: "planning", Title: fmt.Sprintf("Part %d", i+1)})
	}
	d := phases.Decide(p.Course)
	p.Run = phases.Apply(p.Course, d, phases.Outcome{At: p.At})
	if err := p.Run.Check(); err != nil || p.Run.Status != metadata.Waiting {
		t.Fatalf("the run is %s: %v", p.Run.Status, err)
	}
	return p
}

func TestCommentAsksPeople(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		p := askingPeople(t, language)
		text := Comment(p.Course, sampleLinks)
		progresstest.Golden(t, "comment-asks."+language+".md", text)
		progresstest.CheckComment(t, 0, text)
	}
}

// What nobody can answer any more is not asked.
func TestCommentAsksNothingVoid(t *testing.T) {
	for name, change := range map[string]func(p *progresstest.Play) (metadata.Run, error){
		"skipped": func(p *progresstest.Play) (metadata.Run, error) {
			for i := range p.Plan.Phases {
				p.Plan.Phases[i].Needs = nil
			}
			return phases.Skip(p.Course, "design", p.At)
		},
		"taken back": func(p *progresstest.Play) (metadata.Run, error) {
			back, err := phases.PlanRollback(p.Course, phases.Rollback{To: "design", Step: metadata.Execute, Reason: "Another way.", Trigger: metadata.Manual, At: p.At})
			return back.Run, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := askingPeople(t, "en")
			run, err := change(p)
			testenv.Must(t, err)
			text := Comment(p.With(run), sampleLinks)
			if strings.Contains(text, "❓") || strings.Contains(text, "/answer q") || !strings.Contains(text, "→ 8080") {
				t.Errorf("the comment reads\n%s", text)
			}
		})
	}
}

// Many long questions do not push the run out of sight.
func TestCommentAsksMuch(t *testing.T) {
	p := askingPeople(t, "en")
	for i := range 30 {
		q := p.Run.Questions[2]
		q.ID, q.Text = fmt.Sprintf("q%d", i+4), strings.Repeat("Why? 😀 ", 400)
		p.Run.Questions = append(p.Run.Questions, q)
	}
	text := Comment(p.Course, sampleLinks)
	progresstest.CheckComment(t, 0, text)
	for _, want := range []string{"`/answer q2`", "`/answer q4`", "more are left out", "1. ▫️ Evaluation"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%.3000s", want, text)
		}
	}
}
