package phases

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// The most that is kept of what one report finds, and the most tasks into which
// a phase is split.
const (
	mostTasksFound = 100
	mostTaskFiles  = 100
	mostParts      = 20
)

// task is a task as an agent writes it.
type task struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	Goal  string   `json:"goal"`
	Files []string `json:"files"`
	Needs []string `json:"needs"`
}

// reported gives the tasks of a report; nil if it has none, or means something
// else by the word.
func reported(p *pipelines.Phase, report json.RawMessage) []task {
	var r struct{ Tasks []task }
	if !p.Reports("tasks") || json.Unmarshal(report, &r) != nil {
		return nil
	}
	return r.Tasks
}

// TakeParts takes the tasks that a report has found into a record. They take the
// place of what the phase found before, save what is being done already.
func TakeParts(run *metadata.Run, p *pipelines.Phase, report json.RawMessage) {
	found := reported(p, report)
	if found == nil {
		return
	}
	begun := map[string]bool{}
	for _, rec := range run.Phases {
		begun[rec.Task] = begun[rec.Task] || rec.Status != metadata.PhasePending
	}
	run.Tasks = slices.DeleteFunc(run.Tasks, func(t metadata.Task) bool { return t.Phase == p.Name && !begun[t.ID] })
	taken := idsOf(run.Tasks)
	for _, t := range found[:min(len(found), mostTasksFound)] {
		if metadata.CheckID(t.ID) != nil || taken[t.ID] || strings.TrimSpace(t.Title) == "" {
			continue
		}
		taken[t.ID] = true
		files := slices.DeleteFunc(t.Files, func(f string) bool { return metadata.CheckPath(f) != nil })
		run.Tasks = append(run.Tasks, metadata.Task{
			ID: t.ID, Phase: p.Name, Title: CutText(t.Title, 200), Goal: CutText(t.Goal, 2000), Files: files[:min(len(files), mostTaskFiles)], Needs: t.Needs,
		})
	}
	dropUnknownNeeds(run)
	undo(run, func(t *metadata.Task) bool { return t == nil })
}

// DropParts drops the tasks that phases with void work have found. No part does them:
// see Undo.
func DropParts(run *metadata.Run, void func(phase string) bool) {
	run.Tasks = slices.DeleteFunc(run.Tasks, func(t metadata.Task) bool { return void(t.Phase) })
	dropUnknownNeeds(run)
}

// dropUnknownNeeds drops the needs of tasks that name no other task.
func dropUnknownNeeds(run *metadata.Run) {
	there := idsOf(run.Tasks)
	for i := range run.Tasks {
		t := &run.Tasks[i]
		t.Needs = slices.DeleteFunc(slices.Clone(t.Needs), func(n string) bool { return !there[n] || n == t.ID })
	}
}

func idsOf(tasks []metadata.Task) map[string]bool {
	ids := map[string]bool{}
	for _, t := range tasks {
		ids[t.ID] = true
	}
	return ids
}
