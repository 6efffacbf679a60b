package phases

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// The most that is kept of what one report finds.
const (
	mostTasks     = 100
	mostTaskFiles = 100
)

// tasks takes the tasks that a report has found into a record. They take the
// place of what the phase found before.
func tasks(run *metadata.Run, p *pipelines.Phase, report json.RawMessage) {
	found := requestIn(p, report).Tasks
	if found == nil {
		return
	}
	run.Tasks = slices.DeleteFunc(run.Tasks, func(t metadata.Task) bool { return t.Phase == p.Name })
	taken := idsOf(run.Tasks)
	for _, t := range found[:min(len(found), mostTasks)] {
		if metadata.CheckID(t.ID) != nil || taken[t.ID] || strings.TrimSpace(t.Title) == "" {
			continue
		}
		taken[t.ID] = true
		files := slices.DeleteFunc(t.Files, func(f string) bool { return metadata.CheckPath(f) != nil })
		run.Tasks = append(run.Tasks, metadata.Task{
			ID: t.ID, Phase: p.Name, Title: Truncate(t.Title, 200), Goal: Truncate(t.Goal, 2000), Files: files[:min(len(files), mostTaskFiles)], Needs: t.Needs,
		})
	}
	dropUnknownNeeds(run)
}

// TaskCircle gives the ids of tasks of a report that need each other in a circle, from one
// of them round to itself; nil if there is none.
func TaskCircle(p *pipelines.Phase, report json.RawMessage) []string {
	tasks := requestIn(p, report).Tasks
	tasks = tasks[:min(len(tasks), mostTasks)]
	needs := map[string][]string{}
	for _, t := range tasks {
		needs[t.ID] = append(needs[t.ID], t.Needs...)
	}
	done := map[string]bool{}
	var follow func(way []string) []string
	follow = func(way []string) []string {
		last := way[len(way)-1]
		if first := slices.Index(way, last); first < len(way)-1 {
			return way[first:]
		}
		if done[last] {
			return nil
		}
		for _, need := range needs[last] {
			if circle := follow(append(slices.Clip(way), need)); circle != nil {
				return circle
			}
		}
		done[last] = true
		return nil
	}
	for _, t := range tasks {
		if circle := follow([]string{t.ID}); circle != nil {
			return circle
		}
	}
	return nil
}

// dropTasks drops the tasks found by phases whose work is void, and the issues
// that these have asked for.
func dropTasks(run *metadata.Run, void func(phase string) bool) {
	forgetChildren(run, void)
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
