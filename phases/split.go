package phases

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// partsInto gives a phase that has not begun a part for each task that another phase has found, each behind those
// that it needs, and returns how many. A single task is no reason to split.
func partsInto(run *metadata.Run, after, phase string) int {
	prune(run)
	var tasks []metadata.Task
	for _, t := range run.Tasks {
		if t.Phase == after && isPartName(phase, t.ID) {
			tasks = append(tasks, t)
		}
	}
	whole := run.Phase(phase)
	if whole == nil || whole.Status != metadata.PhasePending || len(tasks) < 2 {
		return 0
	}
	var parts metadata.Phases
	for _, t := range ordered(tasks) {
		part := metadata.Phase{Name: name(phase, t.ID), Task: t.ID, Status: metadata.PhasePending, Use: whole.Use}
		switch was := run.Phase(part.Name); {
		case was != nil && was.Task != "":
			part = *was
		case was != nil:
			part.Generation, part.AllowanceFrom = was.Generation, was.AllowanceFrom
		}
		parts = append(parts, part)
	}
	there := func(p metadata.Phase) bool {
		return slices.ContainsFunc(parts, func(part metadata.Phase) bool { return part.Name == p.Name })
	}
	run.Phases = slices.DeleteFunc(run.Phases, there)
	at := slices.IndexFunc(run.Phases, func(p metadata.Phase) bool { return p.Name == phase })
	run.Phases = slices.Insert(run.Phases, at, parts...)
	return len(parts)
}

// ordered gives tasks so that each follows those that it needs, and else in the order in which they were found.
func ordered(tasks []metadata.Task) []metadata.Task {
	left, out := slices.Clone(tasks), []metadata.Task{}
	for len(left) > 0 {
		open := idsOf(left)
		i := slices.IndexFunc(left, func(t metadata.Task) bool {
			return !slices.ContainsFunc(t.Needs, func(id string) bool { return open[id] })
		})
		i = max(i, 0) // a record from before circles were refused may have one
		out, left = append(out, left[i]), slices.Delete(left, i, i+1)
	}
	return out
}

// undoParts takes back that phases were split into the tasks that some phases have found.
func undoParts(run *metadata.Run, found func(phase string) bool) {
	undo(run, func(t *metadata.Task) bool { return t != nil && found(t.Phase) })
	prune(run)
}

// undo ends the parts that do certain tasks; nil stands for one that is not there any more.
func undo(run *metadata.Run, certain func(t *metadata.Task) bool) {
	for i := range run.Phases {
		if rec := &run.Phases[i]; rec.Task != "" && certain(TaskOf(run, rec)) {
			*rec = metadata.Phase{Name: rec.Name, Status: metadata.PhaseSkipped, Generation: rec.Generation, AllowanceFrom: rec.AllowanceFrom}
		}
	}
}

// prune takes out the parts that are gone and that the history does not name.
func prune(run *metadata.Run) {
	run.Phases = slices.DeleteFunc(run.Phases, func(rec metadata.Phase) bool { return partGone(&rec) && !namedSplit(*run, rec.Name) })
}

// namesPart reports whether the history of a run speaks of a phase, or of a part of the same phase.
func namesPart(run metadata.Run, rec *metadata.Phase) bool {
	whole := rec.Name
	if rec.Task != "" {
		whole = WholeOf(rec)
	}
	return slices.ContainsFunc(run.Phases, func(p metadata.Phase) bool {
		return (p.Name == whole || OwnsPart(whole, &p)) && namedSplit(run, p.Name)
	})
}

// namedSplit reports whether the history of a run speaks of a phase.
func namedSplit(run metadata.Run, phase string) bool {
	return slices.ContainsFunc(run.Attempts, func(a metadata.Attempt) bool { return a.Phase == phase }) ||
		slices.ContainsFunc(run.RollbackHistory, func(r metadata.Rollback) bool { return r.ToPhase == phase || r.FromPhase == phase }) ||
		slices.ContainsFunc(run.Decisions, func(d metadata.Decision) bool { return d.Phase == phase })
}

// OwnsPart reports whether a record is, or was, one of a part of a phase.
func OwnsPart(phase string, rec *metadata.Phase) bool { return strings.HasPrefix(rec.Name, phase+".") }

// mostName is the most bytes that the name of a phase or of a part may have.
const mostName = 64

// name is that of the part of a phase that does a task.
func name(phase, task string) string { return phase + "." + task }

// isPartName reports whether the id of a task can stand in the name of a part, which becomes that of a folder.
func isPartName(phase, task string) bool {
	part := name(phase, task)
	return metadata.CheckID(task) == nil && metadata.CheckID(part) == nil && metadata.CheckNewPath(part) == nil && metadata.CheckBranch(part) == nil
}

// WholeOf gives the name of the phase of which a record is a part; "" if it is none.
func WholeOf(rec *metadata.Phase) string {
	if rec.Task == "" {
		return ""
	}
	return strings.TrimSuffix(rec.Name, "."+rec.Task)
}

// partGone reports whether a record is that of a part that does no task any more. The history names it.
func partGone(rec *metadata.Phase) bool { return rec.Task == "" && strings.Contains(rec.Name, ".") }

// PartsOf gives those parts of a phase that were not left out, in their order. They point into run.
func PartsOf(run *metadata.Run, phase string) (out []*metadata.Phase) {
	for i := range run.Phases {
		if rec := &run.Phases[i]; WholeOf(rec) == phase && rec.Task != "" && rec.Status != metadata.PhaseSkipped {
			out = append(out, rec)
		}
	}
	return out
}

// partsBegun reports whether a part of a phase has begun.
func partsBegun(run *metadata.Run, phase string) bool {
	return slices.ContainsFunc(PartsOf(run, phase), func(rec *metadata.Phase) bool { return rec.Status != metadata.PhasePending })
}

// TaskOf gives the task that a part does; nil for a record that is none.
func TaskOf(run *metadata.Run, rec *metadata.Phase) *metadata.Task {
	for i := range run.Tasks {
		if rec.Task != "" && run.Tasks[i].ID == rec.Task {
			return &run.Tasks[i]
		}
	}
	return nil
}

// PartNeeds reports whether a part needs another one right before it.
func PartNeeds(run *metadata.Run, rec *metadata.Phase, other string) bool {
	t := TaskOf(run, rec)
	return t != nil && slices.ContainsFunc(t.Needs, func(id string) bool { return name(WholeOf(rec), id) == other })
}

// partBeside reports whether two records are those of parts of the same phase.
func partBeside(rec, other *metadata.Phase) bool {
	return rec.Task != "" && other != nil && other.Task != "" && WholeOf(rec) == WholeOf(other)
}

// firstPart gives the part of a phase that began first, and has a commit that it started from; nil if none has begun.
func firstPart(run *metadata.Run, phase string) *metadata.Phase {
	for _, a := range run.Attempts {
		if rec := run.Phase(a.Phase); rec != nil && WholeOf(rec) == phase && rec.Base != "" {
			return rec
		}
	}
	return nil
}

// The most that is kept of what one report finds, and the most tasks into which a phase is split.
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

// reported gives the tasks of a report; nil if it has none, or means something else by the word.
func reported(p *pipelines.Phase, report json.RawMessage) []task {
	var r struct{ Tasks []task }
	if !p.Reports("tasks") || json.Unmarshal(report, &r) != nil {
		return nil
	}
	return r.Tasks
}

// takeParts takes the tasks that a report has found into a record.
func takeParts(run *metadata.Run, p *pipelines.Phase, report json.RawMessage) {
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

// dropParts drops the tasks that phases with void work have found. No part does them: see Undo.
func dropParts(run *metadata.Run, void func(phase string) bool) {
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

// mostWrong is how many mistakes of a report are told.
const mostWrong = 20

// SplitMistakes says what is wrong with the tasks of a report.
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

// inOneLine is the beginning of what an agent wrote, in one line.
func inOneLine(text string) string { return TruncateText(ValidText(text)) }

// circle gives the ids of tasks of which none can be the first: they need each other, or those that do.
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
