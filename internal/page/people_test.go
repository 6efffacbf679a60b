package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

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
	d := phases.Decide(p.Plan, p.Run)
	p.Run = phases.Apply(p.Plan, p.Run, d, phases.Outcome{At: p.At})
	if err := p.Run.Check(); err != nil || p.Run.Status != metadata.Waiting {
		t.Fatalf("the run is %s: %v", p.Run.Status, err)
	}
	return p
}

func TestCommentAsksPeople(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		p := askingPeople(t, language)
		text := Comment(p.Plan, p.Run, sampleLinks)
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
			return phases.Skip(p.Plan, p.Run, "design", p.At)
		},
		"taken back": func(p *progresstest.Play) (metadata.Run, error) {
			back, err := phases.PlanRollback(p.Plan, p.Run, phases.Rollback{To: "design", Step: metadata.Execute, Reason: "Another way.", Trigger: metadata.Manual, At: p.At})
			return back.Run, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := askingPeople(t, "en")
			run, err := change(p)
			if err != nil {
				t.Fatal(err)
			}
			text := Comment(p.Plan, run, sampleLinks)
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
	text := Comment(p.Plan, p.Run, sampleLinks)
	progresstest.CheckComment(t, 0, text)
	for _, want := range []string{"`/answer q2`", "`/answer q4`", "more are left out", "1. ▫️ Evaluation"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%.3000s", want, text)
		}
	}
}
