package page

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts/clean"
)

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
	w := newWriter(nil, run, Notices{})
	f := ChildIssue{
		Marker: MarkerOf("followup", run.IssueNumber), Title: ShortTitle(w.Say("tell.followUp", "title", PullTitle(run))),
		Labels: withoutLabel(labels, trigger), Omitted: max(len(tasks)-maxTasks, 0),
	}
	blocks := []string{f.Marker + "\n" + w.Say("tell.followUpBody", "issue", w.parent(), "phase", clean.Inline(phase, 60))}
	for _, t := range tasks[:min(len(tasks), maxTasks)] {
		blocks = append(blocks, clean.Item("[ ] **"+clean.Inline(t.Title, 200)+"**", clean.Truncate(t.Body, 4000)))
	}
	if f.Omitted > 0 {
		blocks = append(blocks, w.Say("tell.leftOut", "n", f.Omitted))
	}
	f.Body = w.body(blocks)
	return &f
}

// tasksOf finds what a run left to do: the field remaining, a list of titles
// and bodies, in the report of the last completed phase that has one with
// anything in it. Tasks without words are left out, and so are those whose
// title was there before.
func tasksOf(run metadata.Run) (phase string, tasks []task) {
	for _, rec := range slices.Backward(run.Phases) {
		var report struct {
			Remaining []task `json:"remaining"`
		}
		if rec.Status != metadata.PhaseCompleted || json.Unmarshal(rec.Report, &report) != nil {
			continue // a report of another shape has no tasks
		}
		if tasks := distinct(report.Remaining); len(tasks) > 0 {
			return rec.Name, tasks
		}
	}
	return "", nil
}

func distinct(tasks []task) []task {
	var out []task
	seen := map[string]bool{}
	for _, t := range tasks {
		if strings.TrimSpace(t.Title) == "" {
			t.Title = text.FirstLine(t.Body)
		}
		key := strings.ToLower(strings.Join(strings.Fields(t.Title), " "))
		if key == "" || seen[key] {
			continue
		}
		seen[key] = true
		out = append(out, t)
	}
	return out
}
