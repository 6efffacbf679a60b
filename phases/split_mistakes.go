package phases

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// mostWrong is how many mistakes of a report are told.
const mostWrong = 20

// SplitMistakes says what is wrong with the tasks of a report. Where a rule may split
// a phase into them, each has to be fit for that.
func SplitMistakes(plan *pipelines.Pipeline, p *pipelines.Phase, report json.RawMessage) []metadata.Reason {
	found := reported(p, report)
	var wrong []metadata.Reason
	if left := circle(found[:min(len(found), mostTasksFound)]); len(left) > 0 {
		wrong = append(wrong, metadata.Because("tasks_in_circle", "tasks", left))
	}
	for _, r := range plan.Rules {
		if r.After == p.Name && r.Then.Split != "" {
			wrong = append(wrong, unfit(string(r.Then.Split), found)...)
			break
		}
	}
	return wrong[:min(len(wrong), mostWrong)]
}

// unfit says why a phase cannot be split into tasks.
func unfit(phase string, found []task) (wrong []metadata.Reason) {
	if len(found) > mostParts {
		wrong = append(wrong, metadata.Because("tasks_too_many", "n", len(found), "most", mostParts))
		found = found[:mostParts]
	}
	ids := map[string]bool{}
	for _, t := range found {
		switch {
		case !isPartName(phase, t.ID):
			wrong = append(wrong, metadata.Because("task_id_unfit", "id", inOneLine(t.ID), "most", mostName-len(phase)-1))
		case ids[t.ID]:
			wrong = append(wrong, metadata.Because("task_id_twice", "id", t.ID))
		case strings.TrimSpace(t.Title) == "" || strings.TrimSpace(t.Goal) == "":
			wrong = append(wrong, metadata.Because("task_empty", "id", t.ID))
		}
		ids[t.ID] = true
	}
	for _, t := range found {
		for _, need := range t.Needs {
			if !ids[need] {
				wrong = append(wrong, metadata.Because("task_need_unknown", "id", inOneLine(t.ID), "need", inOneLine(need)))
			}
		}
		for _, f := range t.Files {
			if metadata.CheckPath(f) != nil {
				wrong = append(wrong, metadata.Because("task_file_outside", "id", inOneLine(t.ID), "file", inOneLine(f)))
			}
		}
	}
	return wrong
}

// shown is the beginning of what an agent wrote, in one line.
func inOneLine(text string) string { return TruncateText(ValidText(text)) }

// circle gives the ids of tasks of which none can be the first: they need each other, or those
// that do.
func circle(tasks []task) []string {
	needs := map[string][]string{}
	for _, t := range tasks {
		needs[t.ID] = append(needs[t.ID], t.Needs...)
	}
	for left := -1; left != len(needs); {
		left = len(needs)
		maps.DeleteFunc(needs, func(_ string, all []string) bool {
			return !slices.ContainsFunc(all, func(id string) bool { return needs[id] != nil })
		})
	}
	return slices.Sorted(maps.Keys(needs))
}
