package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// askingPeople is a run whose design has asked people, and how they answered.
func askingPeople(t *testing.T, language string) *play {
	t.Helper()
	p := newPlay(t, language)
	p.passing("design")
	p.next(p.work(0))
	ask := func(text string, options ...string) {
		p.run.Questions = append(p.run.Questions, metadata.Question{
			ID: fmt.Sprintf("q%d", len(p.run.Questions)+1), Phase: "design", Attempt: len(p.run.Attempts), Text: text, Options: options, AskedAt: p.at,
		})
	}
	ask("Which port?\n\n/approve <!-- reprise:progress:v1 --> ![](https://example.com/x.png)")
	ask("May `status --json` *break* what @hana has?\n> Closes #1", "Yes, it is new", "No: | never")
	ask("How many pages?")
	var err error
	for id, text := range map[string]string{"q1": "8080.\n\n/cancel is what @octo/team says"} {
		if p.run, err = phases.Answer(p.run, id, text, phases.Command{By: "hana", At: p.at}); err != nil {
			t.Fatal(err)
		}
	}
	p.run.Tasks = []metadata.Task{
		{ID: "t1", Phase: "requirements", Title: "Read the flag, as @hana says", Goal: "It is read."},
		{ID: "t2", Phase: "requirements", Title: "Print JSON | nothing else", Goal: "It is printed.", Needs: []string{"t1"}},
	}
	p.run.Children = []metadata.Child{
		{ID: "c1", Phase: "requirements", Title: "Speak French, as @hana says", Body: "All of it.", Number: 9, URL: "https://github.com/octo/hello/issues/9"},
		{ID: "c2", Phase: "design", Title: "Print in colour <!-- reprise:progress:v1 --> | #3"},
	}
	for i := range phases.MostChildren {
		p.run.Children = append(p.run.Children, metadata.Child{ID: fmt.Sprintf("d%d", i), Phase: "planning", Title: fmt.Sprintf("Part %d", i+1)})
	}
	d := phases.Decide(p.plan, p.run)
	p.run = phases.Apply(p.plan, p.run, d, phases.Outcome{At: p.at})
	if err := p.run.Check(); err != nil || p.run.Status != metadata.Waiting {
		t.Fatalf("the run is %s: %v", p.run.Status, err)
	}
	return p
}

func TestCommentAsksPeople(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		p := askingPeople(t, language)
		text := comment(p.plan, p.run, sampleLinks)
		golden(t, "comment-asks."+language+".md", text)
		checkComment(t, 0, text)
	}
}

// What nobody can answer any more is not asked.
func TestCommentAsksNothingVoid(t *testing.T) {
	for name, change := range map[string]func(p *play) (metadata.Run, error){
		"skipped": func(p *play) (metadata.Run, error) {
			for i := range p.plan.Phases {
				p.plan.Phases[i].Needs = nil
			}
			return phases.Skip(p.plan, p.run, "design", p.at)
		},
		"taken back": func(p *play) (metadata.Run, error) {
			back, err := phases.Back(p.plan, p.run, phases.Rewind{To: "design", Step: metadata.Execute, Reason: "Another way.", Trigger: metadata.Manual, At: p.at})
			return back.Run, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := askingPeople(t, "en")
			run, err := change(p)
			if err != nil {
				t.Fatal(err)
			}
			text := comment(p.plan, run, sampleLinks)
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
		q := p.run.Questions[2]
		q.ID, q.Text = fmt.Sprintf("q%d", i+4), strings.Repeat("Why? 😀 ", 400)
		p.run.Questions = append(p.run.Questions, q)
	}
	text := comment(p.plan, p.run, sampleLinks)
	checkComment(t, 0, text)
	for _, want := range []string{"`/answer q2`", "`/answer q4`", "more are left out", "- [ ] evaluation"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%.3000s", want, text)
		}
	}
}
