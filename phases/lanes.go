package phases

import (
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// InLanes reports whether the parts of a run are done in lanes: with more than one job, and
// as long as work of a part lies in one.
func InLanes(run metadata.Run, jobs int) bool {
	return jobs > 1 || slices.ContainsFunc(run.Phases, func(p metadata.Phase) bool { return p.Lane != nil })
}

// NextForLane gives a step of a part that may begin beside those parts that are at work; false
// if there is none. Work that is done goes to the branch before more begins, one part
// after the other; that takes none of the jobs.
func NextForLane(c Course, atWork []Decision, jobs int) (Decision, bool) {
	integrating := slices.ContainsFunc(atWork, func(d Decision) bool { return d.Do == DoIntegrate })
	calls := len(atWork)
	if integrating {
		calls--
	}
	limit, _ := LimitReached(c.Run)
	isAtWork := func(phase string) bool {
		return slices.ContainsFunc(atWork, func(at Decision) bool { return at.Phase == phase })
	}
	all := slices.DeleteFunc(Due(c), func(d Decision) bool {
		rec := c.Run.Phase(d.Phase)
		return d.Final() || rec == nil || !PhasesBeside(c.Plan, rec) || d.Do == DoIntegrate && rec.Lane == nil || isAtWork(d.Phase)
	})
	for _, d := range all {
		if d.Do == DoIntegrate && !integrating {
			return d, true
		}
	}
	for _, d := range all {
		begins := d.Do != DoIntegrate && calls < jobs && (limit == "" || !d.Calls()) && fits(c, d.Phase, atWork)
		if begins && (len(atWork) > 0 || hasOthers(c, d, all)) {
			return d, true
		}
	}
	return Decision{}, false
}

// hasOthers reports whether something may begin beside a decision: a phase for which there
// is nothing is done on the branch, as if phases were done one after the other.
func hasOthers(c Course, d Decision, all []Decision) bool {
	rec := c.Run.Phase(d.Phase)
	return rec.Task != "" || rec.Lane != nil || slices.ContainsFunc(all, func(other Decision) bool {
		return other.Phase != d.Phase && fits(c, other.Phase, []Decision{d})
	})
}

// fits reports whether a part that has not begun may begin beside those that have: none of them says that it touches
// the same files. One that does not say which it touches may touch any.
func fits(c Course, part string, atWork []Decision) bool {
	rec := c.Run.Phase(part)
	if rec.Lane != nil {
		return true
	}
	halted := Halts(c)
	for i := range c.Run.Phases {
		other := &c.Run.Phases[i]
		is := func(d Decision) bool { return d.Phase == other.Name }
		begun := slices.ContainsFunc(atWork, is) || other.Lane != nil && !slices.ContainsFunc(halted, is)
		if other.Name != part && begun && clash(c, rec, other) {
			return false
		}
	}
	return true
}

// WhyLaneWaits says what a part that has not begun waits for besides a free job: parts that it needs, or that touch
// the same files and are not in yet. It says nothing of a part whose phase is not next.
func WhyLaneWaits(c Course, rec *metadata.Phase) metadata.Reason {
	next := slices.ContainsFunc(Due(c), func(d Decision) bool { return partBeside(rec, c.Run.Phase(d.Phase)) })
	if rec.Task == "" || rec.Status != metadata.PhasePending || !next {
		return ""
	}
	var needs, share []string
	for _, other := range PartsOf(&c.Run, WholeOf(rec)) {
		switch {
		case other.Name == rec.Name || other.Status == metadata.PhaseCompleted:
		case PartNeeds(&c.Run, rec, other.Name):
			needs = append(needs, other.Name)
		case other.Lane != nil && clash(c, rec, other):
			share = append(share, other.Name)
		}
	}
	switch {
	case len(needs) > 0:
		return metadata.Because("part_needs", "parts", needs)
	case len(share) > 0:
		return metadata.Because("part_shares", "parts", share)
	}
	return ""
}

// clash reports whether two phases or parts may change the same files.
func clash(c Course, a, b *metadata.Phase) bool {
	for _, rec := range []*metadata.Phase{a, b} {
		if p := c.Plan.Phase(rec.Name); rec.Task == "" && p != nil && p.Access != pipelines.AccessTree {
			return false
		}
	}
	return partsOverlap(files(&c.Run, a), files(&c.Run, b))
}

func files(run *metadata.Run, rec *metadata.Phase) []string {
	if t := TaskOf(run, rec); t != nil {
		return t.Files
	}
	return nil
}

// BudgetShare is what one call may spend while others are at work. A field that is zero is no limit.
type BudgetShare struct {
	USD     float64
	Tokens  int64
	Seconds int
}

// least is the part of a limit below which a call waits until others are over, instead
// of being cut off as soon as it has begun.
const least = 50

// ShareOf divides what is left of the budget, after what calls at work may spend, by the
// jobs that are free: one or more. It gives the record as the call is to see it, in which
// its share is all that there is. It is false if too little is left beside the others.
func ShareOf(run metadata.Run, held []BudgetShare, free int) (metadata.Run, BudgetShare, bool) {
	seen, share, enough := portion(run, held, free)
	if !enough && len(held) == 0 {
		seen, share, _ = portion(run, nil, 1)
	}
	return seen, share, enough || len(held) == 0
}

// portion is ShareOf where nobody gets more than an equal part.
func portion(run metadata.Run, held []BudgetShare, free int) (metadata.Run, BudgetShare, bool) {
	var others, share BudgetShare
	for _, h := range held {
		others.USD, others.Tokens, others.Seconds = others.USD+h.USD, others.Tokens+h.Tokens, others.Seconds+h.Seconds
	}
	run = run.Clone()
	b, spent, enough := &run.Budget, SpentOf(run), true
	if limit := max(b.USD, b.IssueUSD); limit > 0 {
		share.USD = (RemainingUSD(run) - others.USD) / float64(free)
		enough = enough && share.USD >= limit/least
		b.USD, b.Since.USD, b.IssueUSD = share.USD, spent.USD, 0
	}
	if limit := b.Tokens; limit > 0 {
		share.Tokens = (limit - (spent.Tokens - b.Since.Tokens) - others.Tokens) / int64(free)
		enough = enough && share.Tokens >= max(limit/least, 1)
		b.Tokens, b.Since.Tokens = share.Tokens, spent.Tokens
	}
	if limit := b.Seconds; limit > 0 {
		share.Seconds = (limit - (spent.Seconds - b.Since.Seconds) - others.Seconds) / free
		enough = enough && share.Seconds >= max(limit/least, 1)
		b.Seconds, b.Since.Seconds = share.Seconds, spent.Seconds
	}
	return run, share, enough
}

// Halts gives the parts of a phase, and in a pipeline with parallel: true the phases, that do not go on until
// somebody does something about them, in the order of the record, each with the reason.
func Halts(c Course) []Decision {
	return slices.DeleteFunc(Due(c), func(d Decision) bool {
		rec := c.Run.Phase(d.Phase)
		return !d.Final() || rec == nil || !PhasesBeside(c.Plan, rec)
	})
}

// haltsAlone reports whether a part that ended like that leaves it to the others to
// go on. What failed for a reason outside of the work, such as a service that does
// not answer, would fail for them, too; and while all parts are done on one branch,
// so would their checks if those of this part do.
func haltsAlone(rec *metadata.Phase, d Decision) bool {
	if rec.Lane != nil && d.Code == metadata.CheckFailed {
		return true
	}
	return (rec.Lane != nil || !rec.ChecksFail()) && slices.Contains([]metadata.Code{
		metadata.AwaitingPerson, metadata.ReviewFailed, metadata.Stuck, metadata.Conflicts, metadata.NoProgress, metadata.OutputInvalid,
		metadata.ChangeRefused, metadata.SecretFound,
	}, d.Code)
}

// halted reports whether a part is one of those that do not go on.
func halted(c Course, phase string) bool {
	return slices.ContainsFunc(Halts(c), func(d Decision) bool { return d.Phase == phase })
}

// TimeTogether gives how long agents and checks of a run have been at work, where what was done at the same time
// counts once, and how long all of it would have taken one after another.
func TimeTogether(run metadata.Run) (took, alone time.Duration) {
	var all []metadata.Attempt
	for _, a := range run.Attempts {
		if a.EndedAt != nil && a.EndedAt.After(a.StartedAt) {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b metadata.Attempt) int { return a.StartedAt.Compare(b.StartedAt) })
	var until time.Time // somebody was at work up to then
	for _, a := range all {
		alone += a.EndedAt.Sub(a.StartedAt)
		if from := later(a.StartedAt, until); a.EndedAt.After(from) {
			took += a.EndedAt.Sub(from)
		}
		until = later(until, *a.EndedAt)
	}
	if took >= alone {
		return 0, 0
	}
	return took, alone
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// mostInWave is how many parts a wave has at most; no phase is split into more.
const mostInWave = 20

// PartRefs is where the machines of a run push what they have done: below it, each has a ref
// with the name of its part. No branch is made, so that nothing of it starts CI.
func PartRefs(issue string) string { return "refs/reprise/parts/issue-" + issue + "/" }

// TasksOwner has the lease on a run whose parts are left to tasks, on any machine.
const TasksOwner = "tasks"

// LeftToTasks reports whether the parts of a run are left to tasks, until somebody joins what those have done.
func LeftToTasks(run metadata.Run) bool {
	return run.Execution.Lease != nil && run.Execution.Lease.Owner == TasksOwner
}

// PartsOfWave gives the parts that can begin now beside each other, in the order of the record. It is nil if that is one part,
// if work of parts lies in lanes on this machine, or if too little of the budget is left for so many.
func PartsOfWave(c Course) (parts []string) {
	if c.Run.Status != metadata.Running {
		return nil
	}
	var begin []Decision
	for len(begin) < mostInWave {
		d, ok := NextForLane(c, begin, mostInWave)
		if !ok {
			break
		}
		if c.Run.Phase(d.Phase).Status != metadata.PhasePending {
			return nil // what has begun ends where it is
		}
		if begin = append(begin, d); c.Run.Phase(d.Phase).Task != "" {
			parts = append(parts, d.Phase)
		}
	}
	if _, enough := ShareOfPart(c.Run, len(parts)); len(parts) < 2 || !enough {
		return nil
	}
	return parts
}

// ShareOfPart gives the record of a run as one of n machines is to see it: what it may spend is
// an equal share of what is left. False says that this is too little to begin with.
func ShareOfPart(run metadata.Run, n int) (metadata.Run, bool) {
	n = max(n, 1)
	seen, _, enough := portion(run, nil, n)
	if spent := SpentOf(run).Attempts; run.Budget.Attempts > 0 {
		left := (run.Budget.Attempts - (spent - run.Budget.Since.Attempts)) / n
		seen.Budget.Attempts, seen.Budget.Since.Attempts, enough = left, spent, enough && left >= 1
	}
	return seen, enough
}

// NextForPart gives the next step of a part on the machine that does this part alone; false if there is none.
func NextForPart(c Course, part string) (Decision, bool) {
	limit, _ := LimitReached(c.Run)
	for _, d := range Due(c) {
		if d.Phase == part && !d.Final() && d.Do != DoIntegrate && (limit == "" || !d.Calls()) {
			return d, true
		}
	}
	return Decision{}, false
}
