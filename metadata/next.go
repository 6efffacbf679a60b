package metadata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// CheckNext says whether next may follow old in the life of one run: what a run is about stays, history only grows,
// cost never falls, and phases change their status only along the ways there are.
func CheckNext(old, next Run) error {
	c := succession{&checker{}, &old, &next}
	c.fields("", reflect.ValueOf(&old).Elem(), reflect.ValueOf(&next).Elem())
	c.grown()
	rollbacks := max(len(next.RollbackHistory)-len(old.RollbackHistory), 0)
	for i := range old.Phases {
		// One that was skipped without having begun is in no attempt, as Check sees to.
		if p := old.Phases[i]; p.Status != PhasePending && p.Status != PhaseSkipped && next.Phase(p.Name) == nil {
			c.root().bad("phases."+p.Name, "is gone; a phase that has begun and is not needed any more is skipped")
		}
	}
	for i := range next.Phases {
		q := &next.Phases[i]
		p := old.Phase(q.Name)
		if p == nil { // a rule has inserted it
			p = &Phase{Name: q.Name, Status: PhasePending}
		}
		c.move(p, q, rollbacks)
	}
	return JoinMistakes(c.mistakes)
}

// CheckLater is CheckNext for records of commits. Those in which a step has begun, which come between, are in none.
func CheckLater(old, next Run) error {
	old = old.Clone()
	old.Revision = max(old.Revision, next.Revision-1)
	for _, p := range next.Phases {
		if was := old.Phase(p.Name); was != nil && was.Status == PhasePending && p.Status == PhaseCompleted {
			was.Status = PhaseInProgress
		}
	}
	return CheckNext(old, next)
}

// Follow is CheckNext for who is about to save next.
func Follow(old, next Run) error {
	if err := CheckNext(old, next); err != nil {
		return fmt.Errorf("the next record would not follow on this one, nothing was saved: %w", err)
	}
	return nil
}

// succession checks a record against the one before it.
type succession struct {
	*checker
	old, next *Run
}

// fields checks each field of a struct by its tag "next": one that is "same" stays for the life of a run, and a number
// that "grows" never falls.
func (c succession) fields(prefix string, old, next reflect.Value) {
	for i := range old.NumField() {
		f, a, b := old.Type().Field(i), old.Field(i), next.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		name = prefix + name
		switch rule := f.Tag.Get("next"); {
		case rule == "same" && fmt.Sprint(a) != fmt.Sprint(b):
			c.root().bad(name, "changed from %q to %q; it stays the same for the life of a run", fmt.Sprint(a), fmt.Sprint(b))
		case rule == "grows" && a.CanInt():
			atLeast(c.root(), name, a.Int(), b.Int())
		case rule == "grows":
			atLeast(c.root(), name, a.Float(), b.Float())
		case rule == "inside":
			c.fields(name+".", a, b)
		}
	}
}

// grown checks what only grows.
func (c succession) grown() {
	old, next, at := c.old, c.next, c.root()
	if next.Revision != old.Revision+1 {
		at.bad("revision", "%d does not follow %d", next.Revision, old.Revision)
	}
	if old.BaseCommit != next.BaseCommit && !merged(old, next) {
		at.bad("base_commit", "changed from %q to %q; it stays the same until the base is merged", old.BaseCommit, next.BaseCommit)
	}
	if !old.CreatedAt.Equal(next.CreatedAt) {
		at.bad("created_at", "changed from %v to %v; it stays the same for the life of a run", old.CreatedAt, next.CreatedAt)
	}
	if a, b := old.Execution.Lease, next.Execution.Lease; a != nil && b != nil {
		atLeast(at, "run.lease.fence", a.Fence, b.Fence)
	}

	kept(c.checker, "rollback_history", old.RollbackHistory, next.RollbackHistory, alike)
	kept(c.checker, "decisions", old.Decisions, next.Decisions, alike)
	kept(c.checker, "questions", old.Questions, next.Questions, func(a, b Question) bool {
		if a.Open() { // the answer may have come
			b.Answer, b.By, b.AnsweredAt = a.Answer, a.By, nil
		}
		return alike(a, b)
	})
	kept(c.checker, "merges", old.Merges, next.Merges, alike)
	kept(c.checker, "approvals", old.Approvals, next.Approvals, alike)
	c.opened()
	kept(c.checker, "attempts", old.Attempts, next.Attempts, func(a, b Attempt) bool {
		ended := a.Status == Started && a.N == b.N && a.Phase == b.Phase && a.Step == b.Step && a.Generation == b.Generation &&
			a.Round == b.Round && a.StartedAt.Equal(b.StartedAt)
		return ended || alike(a, b)
	})
}

// move checks the way of one phase. Rollbacks is how many were added.
func (c succession) move(p, q *Phase, rollbacks int) {
	at := place{c.checker, "phases." + p.Name, -1}
	// It is reviewed again, or checked with what a merge has brought.
	reopened := (p.Edited() || merged(c.old, c.next)) && p.Status == PhaseCompleted && q.Status == PhaseInProgress
	if p.Status != q.Status && !reopened && !canMove(p.Status, q.Status, rollbacks > 0) && !c.elsewhere(p, q) {
		if canMove(p.Status, q.Status, true) {
			at.bad("status", "goes from %s to %s without a new entry in rollback_history", p.Status, q.Status)
		} else {
			at.bad("status", "cannot go from %s to %s", p.Status, q.Status)
		}
	}
	atLeast(at, "generation", p.Generation, q.Generation)
	if q.Status == p.Status { // what begins anew has no allowance of its own
		atLeast(at, "allowance_from", p.AllowanceFrom, q.AllowanceFrom)
	}
	if q.Generation-p.Generation > rollbacks {
		at.bad("generation", "grows from %d to %d with %d new entries in rollback_history", p.Generation, q.Generation, rollbacks)
	}
}

// elsewhere reports whether a phase has begun and ended within one record, in which its
// attempts say so: another machine has done it.
func (c succession) elsewhere(p, q *Phase) bool {
	worked := slices.ContainsFunc(c.next.Attempts[min(len(c.old.Attempts), len(c.next.Attempts)):], func(a Attempt) bool { return a.Phase == p.Name })
	return worked && p.Status == PhasePending && canMove(PhaseInProgress, q.Status, false)
}

// canMove is the table of the ways between two different statuses.
func canMove(from, to PhaseStatus, rollback bool) bool {
	switch from {
	case PhasePending:
		return to == PhaseInProgress || to == PhaseSkipped
	case PhaseInProgress:
		return to == PhaseCompleted || to == PhaseFailed || to == PhaseSkipped || rollback && to == PhasePending
	case PhaseFailed:
		return to == PhaseInProgress || to == PhaseSkipped || rollback && to == PhasePending
	case PhaseSkipped:
		return to == PhasePending || rollback && to == PhaseInProgress
	default:
		return rollback && to != PhaseFailed
	}
}

func atLeast[N int | int64 | float64](at place, field string, old, next N) {
	if next < old {
		at.bad(field, "falls from %v to %v", old, next)
	}
}

// kept checks that next begins with the elements of old.
func kept[E any](c *checker, list string, old, next []E, same func(a, b E) bool) {
	if len(next) < len(old) {
		c.root().bad(list, "has %d entries where there were %d; history only grows", len(next), len(old))
	}
	for i := range min(len(old), len(next)) {
		if !same(old[i], next[i]) {
			c.element(list, i).bad("", "was changed; what has happened stays as it was recorded")
		}
	}
}

// alike reports whether two entries read the same in a file.
func alike[E any](a, b E) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// merged reports whether a run has the base as of another commit than before, because that was merged.
func merged(old, next *Run) bool {
	n := len(next.Merges)
	return n > len(old.Merges) && next.Merges[n-1].Commit == next.BaseCommit
}

// opened checks that issues which were opened stay in the record: else they would be opened once more.
func (c succession) opened() {
	at := c.root()
	for _, was := range c.old.Children {
		if was.Opened() && !slices.ContainsFunc(c.next.Children, func(is Child) bool { return is.ID == was.ID && is.Number == was.Number }) {
			at.bad("children", "issue %d, %q, is gone; it was opened", was.Number, was.ID)
		}
	}
}
