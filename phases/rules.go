package phases

import (
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// MayStandUnreviewed reports whether a rule may complete a phase as it stands,
// without a review. It may not if there are objections to the work: then a
// review has to decide.
func MayStandUnreviewed(p *pipelines.Phase, rec *metadata.Phase) bool {
	failed := rec.Verdict != nil && rec.Verdict.Verdict == metadata.Fail
	return rec.Status == metadata.PhaseInProgress && rec.CurrentStep == metadata.Review &&
		rec.RollbackContext == nil && !failed && len(rec.Violations) == 0 && !checksDue(p, rec) && !rec.ChecksFail()
}

// Unclear gives the record after a rule, by its place in the plan, that could
// not be evaluated: a person decides whether the run goes on without it, unless
// it would only have saved a review.
func Unclear(plan *pipelines.Pipeline, run metadata.Run, rule int, err error, at time.Time) metadata.Run {
	r, run := plan.Rules[rule], run.Clone()
	why := metadata.Because("rule_unclear", "rule", ruleName(plan, rule), "error", OneLine(err.Error()))
	run.Decisions = append(run.Decisions, metadata.Decision{At: at, Step: "rule", Phase: r.After, Why: why})
	if rec := run.Phase(r.After); r.Then.Skip == "" && rec.Status == metadata.PhaseCompleted {
		demand(rec, "maintain", why)
	}
	return run
}

// Fire gives the record after a rule, by its place in the plan, took effect.
// For a rule that takes the run back, it also gives the plan of that rollback.
// The record notes the facts that the rule is about.
func Fire(plan *pipelines.Pipeline, run metadata.Run, rule int, known []byte, at time.Time) (metadata.Run, *RollbackPlan) {
	r, run := plan.Rules[rule], run.Clone()
	why := ruleName(plan, rule)
	if saw := AboutFacts(r.When, known); len(saw) > 0 {
		why = metadata.Because("rule_saw", "rule", why, "facts", saw)
	}
	rec := run.Phase(r.After)
	run.Decisions = append(run.Decisions, metadata.Decision{At: at, Step: "rule", Phase: r.After, Why: why})
	switch then := r.Then; {
	case then.Skip != "":
		complete(rec, at)
	case then.Insert != "":
		insert(plan, &run, r.After, then.Insert)
	case then.Drop != nil:
		for _, name := range then.Drop {
			for _, d := range withParts(&run, name) {
				if d.Status == metadata.PhasePending {
					d.Status, d.Dropped = metadata.PhaseSkipped, r.After
				}
			}
		}
	case then.Approve != "":
		demand(rec, then.Approve, metadata.Because("approval_by_rule"))
	case then.Use != nil:
		use(following(run.Phases, r.After), then.Use)
	case then.Split != "":
		if PartsInto(&run, r.After, string(then.Split)) == 0 {
			run.Decisions[len(run.Decisions)-1].Why = metadata.Because("split_none", "rule", why, "phase", string(then.Split))
		}
	case then.Rollback != nil:
		return rollBackAlone(plan, run, wayBack(r.After, requestOf(then.Rollback), at))
	}
	return run, nil
}

// withParts gives the record of a phase, if there is one, and those of its parts.
func withParts(run *metadata.Run, name string) []*metadata.Phase {
	out := PartsOf(run, name)
	if rec := run.Phase(name); rec != nil {
		out = append(out, rec)
	}
	return out
}

// insert puts a phase behind another one and what was inserted there before,
// unless it is there already. It is done by whoever does what follows it. One
// that was left out since it was inserted comes back.
func insert(plan *pipelines.Pipeline, run *metadata.Run, after, name string) {
	if rec := run.Phase(name); rec != nil {
		if rec.Status == metadata.PhaseSkipped {
			comeBack(run, rec)
		}
		return
	}
	i := slices.IndexFunc(run.Phases, func(p metadata.Phase) bool { return p.Name == after }) + 1
	for i < len(run.Phases) && plan.IsSpare(run.Phases[i].Name) {
		i++
	}
	rec := metadata.Phase{Name: name, Status: metadata.PhasePending}
	if i < len(run.Phases) && run.Phases[i].Use != nil {
		same := *run.Phases[i].Use
		rec.Use = &same
	}
	run.Phases = slices.Insert(run.Phases, i, rec)
}

// comeBack resets a phase that was left out to one that has not begun. Its
// attempts stay in the history, and none of them counts against it any more.
func comeBack(run *metadata.Run, rec *metadata.Phase) {
	tried := slices.ContainsFunc(run.Attempts, func(a metadata.Attempt) bool { return a.Phase == rec.Name })
	*rec = metadata.Phase{
		Name: rec.Name, Task: rec.Task, Status: metadata.PhasePending, Generation: rec.Generation, Base: rec.Base, Upstream: rec.Upstream, Use: rec.Use,
		RollbackContext: rec.RollbackContext, AllowanceFrom: rec.AllowanceFrom,
	}
	if tried {
		rec.AllowanceFrom = len(run.Attempts)
	}
}

// use changes which agent or tier does some phases; what it does not name stays
// as it is.
func use(all []*metadata.Phase, with *pipelines.RuleUse) {
	for _, rec := range all {
		u := metadata.Use{}
		if rec.Use != nil {
			u = *rec.Use
		}
		if with.Agent != "" {
			u.Agent = with.Agent
		}
		if with.Tier != "" {
			u.Tier = with.Tier
		}
		rec.Use = &u
	}
}

// ruleName names a rule by its number, as people count, and by what it does.
func ruleName(plan *pipelines.Pipeline, rule int) metadata.Reason {
	return metadata.Because("rule", "n", rule+1, "does", thenText(plan.Rules[rule].Then))
}

// thenText says what a rule does; it does one thing.
func thenText(t pipelines.Then) metadata.Reason {
	switch {
	case t.Skip != "":
		return metadata.Because("does_skip")
	case t.Insert != "":
		return metadata.Because("does_insert", "phase", t.Insert)
	case t.Drop != nil:
		return metadata.Because("does_drop", "phases", t.Drop)
	case t.Split != "":
		return metadata.Because("does_split", "phase", string(t.Split))
	case t.Approve != "":
		return metadata.Because("does_approve", "role", t.Approve)
	case t.Rollback != nil:
		return metadata.Because("does_rollback", "phase", t.Rollback.To)
	}
	return metadata.Because("does_use", "with", strings.TrimSpace(t.Use.Agent+" "+t.Use.Tier))
}
