package page

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// ChildIssue is an issue that reprise opens below the one it works on. Its body begins with the marker, by which it is
// found again.
type ChildIssue struct {
	Marker, Title, Body string
	Labels              []string
}

// StartLabel is the label that starts a run, unless the action is told another.
const StartLabel = "reprise"

// NewChildIssue gives the issue that a phase asks for, with the labels of the run's
// issue, but never the one that starts a run.
func NewChildIssue(run metadata.Run, child metadata.Child, trigger string) ChildIssue {
	w := newWriter(phases.On(nil, run), Notices{})
	i := ChildIssue{
		Marker: MarkerOf("child", run.IssueNumber+"/"+child.ID), Labels: withoutLabel(run.Issue.Labels, trigger),
		Title: cmp.Or(plainTitle(child.Title), ShortTitle(w.Say("tell.followUp", "title", PullTitle(run)))),
	}
	i.Body = w.body(
		i.Marker+"\n"+w.Say("tell.childBody", "issue", w.parent(), "phase", clean.Inline(child.Phase, 60)), clean.Sanitize(child.Body, nil, 20_000, w.Say("tell.bodyCut")),
	)
	return i
}

// withoutLabel leaves one label out.
func withoutLabel(labels []string, trigger string) []string {
	return slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return strings.EqualFold(l, strings.TrimSpace(trigger)) })
}

// task is work that a phase left to do.
type task struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

// maxTasks is how many tasks a follow-up issue names.
const maxTasks = 5

// NewFollowUp gives the issue to open for what a run left to do; nil if that is
// nothing. It gets the labels given, but never the one that starts a run.
func NewFollowUp(run metadata.Run, labels []string, trigger string) *ChildIssue {
	phase, tasks := tasksOf(run)
	if len(tasks) == 0 {
		return nil
	}
	w := newWriter(phases.On(nil, run), Notices{})
	f := ChildIssue{
		Marker: MarkerOf("followup", run.IssueNumber), Title: ShortTitle(w.Say("tell.followUp", "title", PullTitle(run))),
		Labels: withoutLabel(labels, trigger),
	}
	blocks := []string{f.Marker + "\n" + w.Say("tell.followUpBody", "issue", w.parent(), "phase", clean.Inline(phase, 60))}
	for _, t := range tasks[:min(len(tasks), maxTasks)] {
		blocks = append(blocks, clean.Item("[ ] **"+clean.Inline(t.Title, 200)+"**", clean.Truncate(t.Body, 4000)))
	}
	if left := len(tasks) - maxTasks; left > 0 {
		blocks = append(blocks, w.Say("tell.leftOut", "n", left))
	}
	f.Body = w.body(blocks...)
	return &f
}

// tasksOf finds what a run left to do: the field remaining in the report of the last completed phase that has tasks there.
// Those without words are left out, and those whose title was there before.
func tasksOf(run metadata.Run) (phase string, tasks []task) {
	for _, rec := range slices.Backward(run.Phases) {
		var report struct {
			Remaining []task `json:"remaining"`
		}
		if rec.Status != metadata.PhaseCompleted || json.Unmarshal(rec.Report, &report) != nil {
			continue // a report of another shape has no tasks
		}
		seen := map[string]bool{"": true}
		for _, t := range report.Remaining {
			if strings.TrimSpace(t.Title) == "" {
				t.Title = text.FirstLine(t.Body)
			}
			if key := strings.ToLower(text.OneLine(t.Title)); !seen[key] {
				seen[key], tasks = true, append(tasks, t)
			}
		}
		if len(tasks) > 0 {
			return rec.Name, tasks
		}
	}
	return "", nil
}

// maxTitle is the most that GitHub takes for the title of an issue or a pull
// request, in UTF-16 units.
const maxTitle = 256

// PullTitle gives the title of a run's pull request: that of the issue,
// without what GitHub would act on.
func PullTitle(run metadata.Run) string {
	if title := plainTitle(run.IssueTitle); title != "" {
		return title
	}
	return "issue " + text.Flat(run.IssueNumber)
}

// plainTitle makes text from outside fit for a title and the subject of a commit: what would become a mention, a reference
// or a link is inline code, and no workflow is skipped.
func plainTitle(text string) string {
	text, _ = clean.Quoted(text)
	parts := strings.Fields(strings.ReplaceAll(text, "`", "'"))
	for i, p := range parts {
		if clean.Mentions(p) {
			parts[i] = "`" + p + "`"
		}
	}
	return ShortTitle(strings.TrimLeft(phases.NoSkips(strings.Join(parts, " ")), "/ "))
}

// ShortTitle cuts a title to what GitHub takes.
func ShortTitle(title string) string {
	if clean.Units(title) <= maxTitle {
		return title
	}
	room := maxTitle - len("...")
	end := strings.IndexFunc(title, func(r rune) bool {
		room -= clean.Units(string(r))
		return room < 0 // at the latest at the last one
	})
	return title[:end] + "..."
}
