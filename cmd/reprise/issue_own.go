package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// ownIssue is an issue that reprise opens below the one it works on: for what
// a run left to do, or because a phase asked for it. The body begins with the
// marker, by which it is found again.
type ownIssue struct {
	Marker, Title, Body string
	Labels              []string
	Left                int // tasks for which there was no room
}

// startLabel is the label that starts a run, unless the action is told another.
const startLabel = "reprise"

// childOf gives the issue that a phase asks for, with the labels of the run's
// issue, but never the one that starts a run.
func childOf(run metadata.Run, child metadata.Child, trigger string) ownIssue {
	c := newCommenter(nil, run, told{})
	i := ownIssue{
		Marker: markerOf("child", run.IssueNumber+"/"+child.ID), Labels: withoutLabel(run.Issue.Labels, trigger),
		Title: cmp.Or(plainTitle(child.Title), shortTitle(c.Tell.FollowUp(pullTitle(run)))),
	}
	i.Body = c.body([]string{
		i.Marker + "\n" + c.Tell.ChildBody(c.parent(), inline(child.Phase, 60)), tame(child.Body, nil, 20_000, c.Tell.BodyCut),
	})
	return i
}

// parent names the issue of the run, as a link where that is possible.
func (c commenter) parent() string {
	text := inline(joined(" ", c.run.IssueNumber, c.run.IssueTitle), 200)
	return cmp.Or(link(text, c.run.IssueURL), code(c.run.IssueNumber))
}

// withoutLabel gives each label once, and one of them not at all.
func withoutLabel(labels []string, trigger string) []string {
	var out []string
	for _, l := range labels {
		l = strings.TrimSpace(l)
		same := func(other string) bool { return strings.EqualFold(l, other) }
		if l != "" && !same(strings.TrimSpace(trigger)) && !slices.ContainsFunc(out, same) {
			out = append(out, l)
		}
	}
	return out
}

// wouldOpen gives the issues that a run would open on GitHub as it stands.
func (w *workspace) wouldOpen(run metadata.Run, trigger string) []ownIssue {
	var all []ownIssue
	for _, child := range phases.ToOpen(w.plan, run) {
		all = append(all, childOf(run, child, trigger))
	}
	if left := followUpOf(run, run.Issue.Labels, trigger); left != nil && run.Status == metadata.Completed {
		all = append(all, *left)
	}
	return all
}

// openIssue opens an issue of our own, or finds it, and puts it below the one
// that the run works on. There is an issue if it has a number, also with an
// error: then only its place is missing.
func (b *bot) openIssue(ctx context.Context, i ownIssue) (github.Issue, error) {
	made, err := b.gh.OpenIssue(ctx, b.owner, b.name, i.Marker, github.NewIssue{Title: i.Title, Body: i.Body, Labels: i.Labels})
	if err != nil {
		return github.Issue{}, err
	}
	return made, b.gh.AddSubIssue(ctx, b.owner, b.name, b.t.number, made.ID)
}

// keepChildren opens the issues that a run asks for, and commits of each that
// it is there before anything else happens: a rollback must not take one for
// open that is not, or the other way round. One that cannot be opened is a
// warning; the next job tries again.
func (b *bot) keepChildren(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	for _, child := range phases.ToOpen(b.w.plan, run) {
		if ctx.Err() != nil || slices.Contains(b.triedChildren, child.ID) {
			continue
		}
		b.triedChildren = append(b.triedChildren, child.ID)
		made, err := b.openIssue(ctx, childOf(run, child, b.in.label))
		if err != nil {
			b.warn(err)
		}
		if made.Number == 0 {
			continue
		}
		next := phases.Opened(run, child.ID, made.Number, made.URL, b.env.now())
		if err := b.engine.Amend(ctx, next, fmt.Sprintf("issue %d is open", made.Number)); err != nil {
			return run, err
		}
		run, b.w.run = next, next
	}
	return run, nil
}
