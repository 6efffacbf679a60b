package phases

import (
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// most is how many parts a wave has at most; no phase is split into more.
const mostInWave = 20

// PartRefs is where the machines of a run push what they have done: below it, each has a ref
// with the name of its part. No branch is made, so that nothing of it starts CI.
func PartRefs(issue string) string { return "refs/reprise/parts/issue-" + issue + "/" }

// Of gives the parts that can begin now beside each other, in the order of the record. It
// is nil if that is one part, if work of parts lies in lanes on this machine, or if too
// little of the budget is left for so many. A phase that may be at work beside them, in a
// pipeline with parallel: true, is none of them: it is done where the run is.
func PartsOfWave(plan *pipelines.Pipeline, run metadata.Run) (parts []string) {
	if run.Status != metadata.Running {
		return nil
	}
	var begin []Decision
	for len(begin) < mostInWave {
		d, ok := NextForLane(plan, run, begin, mostInWave)
		if !ok {
			break
		}
		if run.Phase(d.Phase).Status != metadata.PhasePending {
			return nil // what has begun ends where it is
		}
		if begin = append(begin, d); run.Phase(d.Phase).Task != "" {
			parts = append(parts, d.Phase)
		}
	}
	if _, enough := ShareOfPart(run, len(parts)); len(parts) < 2 || !enough {
		return nil
	}
	return parts
}

// ShareOfPart gives the record of a run as one of n machines is to see it: what it may spend is
// an equal share of what is left. False says that this is too little to begin with.
func ShareOfPart(run metadata.Run, n int) (metadata.Run, bool) {
	n = max(n, 1)
	seen, share, _ := ShareOf(run, nil, n)
	_, all, _ := ShareOf(run, nil, 1)
	spent := SpentOf(run)
	left := run.Budget.Attempts - (spent.Attempts - run.Budget.Since.Attempts)
	if run.Budget.Attempts > 0 {
		seen.Budget.Attempts, seen.Budget.Since.Attempts = left/n, spent.Attempts
	}
	limited := run.Budget.Attempts > 0
	// Where a share would be too small to begin with, ShareOf gives all to one.
	whole := n > 1 && (share.USD > 0 && share.USD == all.USD || share.Tokens > 0 && share.Tokens == all.Tokens ||
		share.Seconds > 0 && share.Seconds == all.Seconds)
	return seen, !whole && (!limited || left/n >= 1)
}

// NextForPart gives the next step of a part on the machine that does this part alone; false if
// there is none. The machine does not bring its work together with that of others.
func NextForPart(plan *pipelines.Pipeline, run metadata.Run, part string) (Decision, bool) {
	limit, _ := LimitReached(run)
	for _, d := range Due(plan, run) {
		if d.Phase == part && !d.Final() && d.Do != DoIntegrate && (limit == "" || !d.Calls()) {
			return d, true
		}
	}
	return Decision{}, false
}
