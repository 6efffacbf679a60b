package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// task is work that a phase left to do.
type task struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

// maxTasks is how many tasks a follow-up issue names.
const maxTasks = 5

// followUpOf gives the issue to open for what a run left to do; nil if that is
// nothing. It gets the labels given, but never the one that starts a run.
func followUpOf(run metadata.Run, labels []string, trigger string) *ownIssue {
	phase, tasks := tasksOf(run)
	if len(tasks) == 0 {
		return nil
	}
	c := newCommenter(nil, run, told{})
	f := ownIssue{
		Marker: markerOf("followup", run.IssueNumber), Title: shortTitle(c.Tell.FollowUp(pullTitle(run))),
		Labels: withoutLabel(labels, trigger), Left: max(len(tasks)-maxTasks, 0),
	}
	blocks := []string{f.Marker + "\n" + c.Tell.FollowUpBody(c.parent(), inline(phase, 60))}
	for _, t := range tasks[:min(len(tasks), maxTasks)] {
		blocks = append(blocks, item("[ ] **"+inline(t.Title, 200)+"**", brief(t.Body, 4000)))
	}
	if f.Left > 0 {
		blocks = append(blocks, c.Tell.LeftOut(f.Left))
	}
	f.Body = c.body(blocks)
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
			t.Title = firstLine(t.Body)
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

// markerOf is the line by which reprise finds again what it wrote about an
// issue: a comment that people do not see.
func markerOf(kind, issue string) string {
	id := strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>", r) || r <= ' ' {
			return -1
		}
		return r
	}, brief(issue, 100))
	for strings.Contains(id, "--") {
		id = strings.ReplaceAll(id, "--", "-")
	}
	return fmt.Sprintf("<!-- reprise:%s:v1 issue=%s -->", kind, id)
}
