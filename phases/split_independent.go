package phases

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// IndependentParts gives how many of the tasks that a phase has found could be done at the same
// time: of none waits one for another, and no two may change the same file. Those with the fewest
// others in their way are chosen first. Of more tasks than a phase can be split into, only the first count.
func IndependentParts(run metadata.Run, found string) int {
	var tasks, chosen []metadata.Task
	for _, t := range run.Tasks {
		if t.Phase == found && len(tasks) < mostParts {
			tasks = append(tasks, t)
		}
	}
	waits := waiting(tasks)
	clashes := func(t metadata.Task, all []metadata.Task) (n int) {
		for _, other := range all {
			if waits[t.ID][other.ID] || waits[other.ID][t.ID] || PartsOverlap(t.Files, other.Files) {
				n++
			}
		}
		return n
	}
	for _, t := range slices.SortedStableFunc(slices.Values(tasks), func(a, b metadata.Task) int { return clashes(a, tasks) - clashes(b, tasks) }) {
		if clashes(t, chosen) == 0 {
			chosen = append(chosen, t)
		}
	}
	return len(chosen)
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
