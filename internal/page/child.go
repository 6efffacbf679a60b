package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// ChildIssue is an issue that reprise opens below the one it works on: for what
// a run left to do, or because a phase asked for it. The body begins with the
// marker, by which it is found again.
type ChildIssue struct {
	Marker, Title, Body string
	Labels              []string
	Omitted             int // tasks for which there was no room
}

// StartLabel is the label that starts a run, unless the action is told another.
const StartLabel = "reprise"

// NewChildIssue gives the issue that a phase asks for, with the labels of the run's
// issue, but never the one that starts a run.
func NewChildIssue(run metadata.Run, child metadata.Child, trigger string) ChildIssue {
	w := newWriter(nil, run, Notices{})
	i := ChildIssue{
		Marker: MarkerOf("child", run.IssueNumber+"/"+child.ID), Labels: withoutLabel(run.Issue.Labels, trigger),
		Title: cmp.Or(plainTitle(child.Title), ShortTitle(w.Say("tell.followUp", "title", PullTitle(run)))),
	}
	i.Body = w.body([]string{
		i.Marker + "\n" + w.Say("tell.childBody", "issue", w.parent(), "phase", clean.Inline(child.Phase, 60)), clean.Sanitize(child.Body, nil, 20_000, w.Say("tell.bodyCut")),
	})
	return i
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
