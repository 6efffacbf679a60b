package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// questions are what agents ask people, with how to answer. A question that
// nobody can answer any more, as its phase was taken back or left out, is not
// among them.
func (c commenter) questions(open []metadata.Question) string {
	items := []string{bold(c.more.asks(inline(open[0].Phase, 60), len(open)))}
	for _, q := range open {
		items = append(items, "\n"+c.question(q))
	}
	return c.within(30_000, items)
}

// question is one that is open.
func (c commenter) question(q metadata.Question) string {
	lines := []string{"❓ " + bold(inline(q.ID, 20)) + " " + inline(q.Text, 1500)}
	for _, o := range q.Options {
		lines = append(lines, "- "+inline(o, 200))
	}
	return strings.Join(lines, "\n") + "\n\n" + c.Tell.AnswerWith + " " + code("/answer "+q.ID)
}

// answered are the questions that have an answer, behind a fold.
func (c commenter) answered() string {
	var done []string
	for _, q := range c.run.Questions {
		if !q.Open() {
			done = append(done, "- "+joined(" · ", bold(inline(q.ID, 20)), inline(q.Text, 300), code(brief(q.By, 60)), "→ "+inline(q.Answer, 300)))
		}
	}
	if len(done) == 0 {
		return ""
	}
	return details(fmt.Sprintf("%s · %d", c.Questions, len(done)), c.within(6_000, done), false)
}

// tasks are the parts of the work that phases have found.
func (c commenter) tasks() string {
	var items []string
	for _, t := range c.run.Tasks {
		items = append(items, "- "+joined(" · ", bold(inline(t.ID, 60)), inline(t.Title, 200), inline(strings.Join(t.Needs, ", "), 200)))
	}
	if len(items) == 0 {
		return ""
	}
	return details(fmt.Sprintf("%s · %d", c.Tell.Tasks, len(items)), c.within(4_000, items), false)
}

// children are the issues that phases have asked for, with what became of each.
func (c commenter) children() string {
	next := phases.ToOpen(c.plan, c.run)
	full := opened(c.run)+len(next) >= phases.MostChildren
	var items []string
	for _, x := range c.run.Children {
		state := c.Tell.ChildWaits
		switch soon := slices.ContainsFunc(next, func(n metadata.Child) bool { return n.ID == x.ID }); {
		case x.Opened():
			state = cmp.Or(link(fmt.Sprint(x.Number), x.URL), fmt.Sprint(x.Number))
		case soon:
			state = c.Tell.ChildNext
		case full:
			state = c.Tell.ChildLeft(phases.MostChildren)
		}
		items = append(items, "- "+joined(" · ", inline(x.Title, 200), inline(x.Phase, 60), state))
	}
	if len(items) == 0 {
		return ""
	}
	return details(fmt.Sprintf("%s · %d", c.Tell.Children, len(items)), c.within(4_000, items), false)
}

// opened counts the issues of a run that are open.
func opened(run metadata.Run) int {
	n := 0
	for _, c := range run.Children {
		if c.Opened() {
			n++
		}
	}
	return n
}
