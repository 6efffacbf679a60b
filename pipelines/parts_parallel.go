package pipelines

import "slices"

// usualJobs is how many phases or parts are at work at the same time if a pipeline that
// may have several does not say how many.
const usualJobs = 4

// JobsFor gives how many phases or parts are at work at the same time, of what a pipeline says
// of that; 0: one. Several says that it may have more than one at once.
func JobsFor(jobs int, several bool) int {
	if jobs == 0 && several {
		return usualJobs
	}
	return jobs
}

// NeedsAmong gives those phases that one needs which are kept and, in place of each that is not,
// the kept ones that this one needs. Of gives what a phase needs right before it.
func NeedsAmong(phase string, keep []string, of func(phase string) []string) (out []string) {
	for _, need := range of(phase) {
		found := []string{need}
		if !slices.Contains(keep, need) {
			found = NeedsAmong(need, keep, of)
		}
		for _, name := range found {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
