package phases

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// IndependentParts gives how many of the tasks that a phase has found could be done at the same
// time: the most of them of which none waits for another and no two may change the same file.
// Of more tasks than a phase can be split into, only the first count.
func IndependentParts(run metadata.Run, found string) int {
	var tasks []metadata.Task
	for _, t := range run.Tasks {
		if t.Phase == found && len(tasks) < mostParts {
			tasks = append(tasks, t)
		}
	}
	waits := waiting(tasks)
	return mostBeside(tasks, func(a, b metadata.Task) bool {
		return waits[a.ID][b.ID] || waits[b.ID][a.ID] || PartsOverlap(a.Files, b.Files)
	})
}

// waiting gives for the id of each task those of the tasks that it waits for: the ones that it
// needs, and that they need.
func waiting(tasks []metadata.Task) map[string]map[string]bool {
	waits := map[string]map[string]bool{}
	for _, t := range ordered(tasks) {
		all := map[string]bool{}
		for _, need := range t.Needs {
			all[need] = true
			for further := range waits[need] {
				all[further] = true
			}
		}
		waits[t.ID] = all
	}
	return waits
}

// most gives how many tasks there are at most of which no two clash.
func mostBeside(tasks []metadata.Task, clash func(a, b metadata.Task) bool) int {
	at, clashes := -1, 0 // with the most others
	for i, a := range tasks {
		n := 0
		for j, b := range tasks {
			if i != j && clash(a, b) {
				n++
			}
		}
		if n > clashes {
			at, clashes = i, n
		}
	}
	if at < 0 {
		return len(tasks)
	}
	one := tasks[at]
	others := slices.Delete(slices.Clone(tasks), at, at+1)
	beside := slices.DeleteFunc(slices.Clone(others), func(t metadata.Task) bool { return clash(one, t) })
	return max(1+mostBeside(beside, clash), mostBeside(others, clash))
}

// PartsOverlap reports whether one list has a path of the other, or one above or below it. A list
// without paths stands for all there are.
func PartsOverlap(a, b []string) bool {
	for _, p := range a {
		for _, q := range b {
			p, q := strings.TrimSuffix(p, "/")+"/", strings.TrimSuffix(q, "/")+"/"
			if strings.HasPrefix(p, q) || strings.HasPrefix(q, p) {
				return true
			}
		}
	}
	return len(a) == 0 || len(b) == 0
}
