package phases

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// MayStandUnreviewed reports whether a rule may complete a phase as it stands, without a review.
func MayStandUnreviewed(p *pipelines.Phase, rec *metadata.Phase) bool {
	failed := rec.Verdict != nil && rec.Verdict.Verdict == metadata.Fail
	return rec.Status == metadata.PhaseInProgress && rec.CurrentStep == metadata.Review &&
		rec.RollbackContext == nil && !failed && len(rec.Violations) == 0 && !checksDue(p, rec) && !rec.ChecksFail()
}

// Unclear gives the record after a rule, by its place in the plan, that could not be evaluated: a person decides
// whether the run goes on without it, unless it would only have saved a review.
func Unclear(c Course, rule int, err error, at time.Time) metadata.Run {
	r, next := c.Plan.Rules[rule], c.Run.Clone()
	why := metadata.Because("rule_unclear", "rule", ruleName(c.Plan, rule), "error", OneLine(err.Error()))
	note(&next, at, "rule", r.After, why)
	if rec := next.Phase(r.After); r.Then.Skip == "" && rec.Status == metadata.PhaseCompleted {
		demand(rec, "maintain", why)
	}
	return next
}

// Fire gives the record after a rule, by its place in the plan, took effect.
func Fire(c Course, rule int, known []byte, at time.Time) (metadata.Run, *RollbackPlan) {
	r, next := c.Plan.Rules[rule], c.Run.Clone()
	why := ruleName(c.Plan, rule)
	if saw := AboutFacts(r.When, known); len(saw) > 0 {
		why = metadata.Because("rule_saw", "rule", why, "facts", saw)
	}
	rec := next.Phase(r.After)
	note(&next, at, "rule", r.After, why)
	switch then := r.Then; {
	case then.Skip != "":
		complete(rec, at)
	case then.Insert != "":
		insert(c.Plan, &next, r.After, then.Insert)
	case then.Drop != nil:
		for _, name := range then.Drop {
			for _, d := range withParts(&next, name) {
				if d.Status == metadata.PhasePending {
					d.Status, d.Dropped = metadata.PhaseSkipped, r.After
				}
			}
		}
	case then.Approve != "":
		demand(rec, then.Approve, metadata.Because("approval_by_rule"))
	case then.Use != nil:
		use(following(next.Phases, r.After), then.Use)
	case then.Split != "":
		if partsInto(&next, r.After, string(then.Split)) == 0 {
			next.Decisions[len(next.Decisions)-1].Why = metadata.Because("split_none", "rule", why, "phase", string(then.Split))
		}
	case then.Rollback != nil:
		return rollBackAlone(c.With(next), wayBack(r.After, requestOf(then.Rollback), at))
	}
	return next, nil
}

// withParts gives the record of a phase, if there is one, and those of its parts.
func withParts(run *metadata.Run, name string) []*metadata.Phase {
	out := PartsOf(run, name)
	if rec := run.Phase(name); rec != nil {
		out = append(out, rec)
	}
	return out
}

// insert puts a phase behind another one and what was inserted there before, unless it is there already.
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
	if i < len(run.Phases) {
		rec.Use = run.Phases[i].Use
	}
	run.Phases = slices.Insert(run.Phases, i, rec)
}

// comeBack resets a phase that was left out to one that has not begun.
func comeBack(run *metadata.Run, rec *metadata.Phase) {
	*rec = notBegun(*rec)
	if slices.ContainsFunc(run.Attempts, func(a metadata.Attempt) bool { return a.Phase == rec.Name }) {
		rec.AllowanceFrom = len(run.Attempts)
	}
}

// use changes which agent or tier does some phases; what it does not name stays as it is.
func use(all []*metadata.Phase, with *pipelines.RuleUse) {
	for _, rec := range all {
		u := metadata.Use{}
		if rec.Use != nil {
			u = *rec.Use
		}
		u.Agent, u.Tier = cmp.Or(with.Agent, u.Agent), cmp.Or(with.Tier, u.Tier)
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

// FactsAfter gives what the rules after a phase know about it.
func FactsAfter(run metadata.Run, phase string, is prompts.Issue) ([]byte, error) {
	f := of(run.Phase(phase))
	maps.Copy(f, whole(run, is))
	if n := independentParts(run, phase); n > 0 {
		f["independent_tasks"] = n
	}
	return json.Marshal(f)
}

// FactsBefore gives what is known before a phase begins: of the issue, of the phases before it
// that are done or left out, and further facts about the branch.
func FactsBefore(run metadata.Run, phase string, is prompts.Issue, facts map[string]any) ([]byte, error) {
	done := map[string]any{}
	for i := range run.Phases {
		rec := &run.Phases[i]
		if rec.Name == phase {
			break
		}
		switch rec.Status {
		case metadata.PhaseCompleted:
			f := of(rec)
			f["status"] = rec.Status
			done[rec.Name] = f
		case metadata.PhaseSkipped:
			done[rec.Name] = map[string]any{"status": rec.Status}
		}
	}
	f := whole(run, is)
	maps.Copy(f, facts)
	f["phases"] = done
	return json.Marshal(f)
}

// InTree says of path patterns whether a path of the branch is what each names.
func InTree(paths, patterns []string) map[string]bool {
	tree := map[string]bool{}
	for _, pattern := range patterns {
		tree[pattern] = slices.ContainsFunc(paths, func(p string) bool { return pipelines.MatchesPath(p, []string{pattern}) })
	}
	return tree
}

// whole gives what is known of a run and its issue.
func whole(run metadata.Run, is prompts.Issue) map[string]any {
	return map[string]any{
		"cost":  map[string]any{"usd": metadata.Rounded(run.Cost.USD), "tokens": run.Cost.InputTokens + run.Cost.OutputTokens},
		"issue": map[string]any{"labels": append([]string{}, is.Labels...), "title": is.Title, "author": is.Author},
	}
}

// of gives what is known of a phase.
func of(rec *metadata.Phase) map[string]any {
	f := map[string]any{
		"attempt": rec.RetryCount + 1,
		"diff":    map[string]int{"files": 0, "lines": 0, "added": 0, "deleted": 0},
	}
	if rec.Report != nil {
		f["report"] = rec.Report
	}
	if d := rec.Diff; d != nil {
		f["diff"] = map[string]int{"files": d.Files, "lines": d.Lines, "added": d.Added, "deleted": d.Deleted}
	}
	if v := rec.Verdict; v != nil {
		f["verdict"] = v.Verdict
		f["findings"] = map[string]int{"blockers": len(v.OpenBlockers()), "suggestions": len(v.OpenSuggestions())}
	}
	if rec.Checks != nil && rec.Checks.Written == rec.Written {
		checks := map[string]string{}
		for _, c := range rec.Checks.Results {
			checks[c.Name] = "fail"
			if c.Pass {
				checks[c.Name] = "pass"
			}
		}
		f["checks"] = checks
	}
	return f
}

// AboutFacts says which of the facts a rule's condition is about, for people:
// "report.risk is "high", diff.lines is 4".
func AboutFacts(when string, facts []byte) []metadata.Reason {
	var all map[string]any
	if json.Unmarshal(facts, &all) != nil {
		return nil // they are our own
	}
	named := map[string]bool{}
	for _, word := range whenWord().FindAllString(when, -1) {
		named[word] = true
	}
	if tree, ok := all["tree"].(map[string]any); ok {
		for pattern := range tree { // only those that the condition asks about
			named[pattern] = true
		}
	}
	var out []metadata.Reason
	pick(&out, "", all, named)
	return out[:min(len(out), mostFacts)]
}

// mostFacts is how many facts are told of a rule.
const mostFacts = 20

// whenWord is a name in the text of a condition.
var whenWord = text.Pattern(`[\pL\pN_$-]+`)

// pick adds the facts below a path whose names all occur in the condition.
func pick(out *[]metadata.Reason, path string, facts map[string]any, named map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if !named[name] {
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		if deeper, ok := facts[name].(map[string]any); ok {
			pick(out, at, deeper, named)
			continue
		}
		if value, err := json.Marshal(facts[name]); err == nil {
			*out = append(*out, metadata.Because("fact", "name", at, "value", metadata.Said(CutText(string(value), 200))))
		}
	}
}

// SkipStep is what the decisions of a run call it.
const SkipStep = "skip_if"

// SkipDue gives the phase of which it has to be asked whether it is left out before a decision is carried out, and
// what is asked; nil: nothing. A phase that is done in parts is asked about before its first part.
func SkipDue(c Course, d Decision) (phase string, asked *pipelines.SkipIf) {
	rec := c.Run.Phase(d.Phase)
	if rec == nil || d.Final() {
		return "", nil
	}
	if whole := WholeOf(rec); whole != "" {
		rec = c.Run.Phase(whole)
	}
	p := c.Plan.Phase(rec.Name)
	if p == nil || p.SkipIf == nil || rec.Status != metadata.PhasePending || partsBegun(&c.Run, rec.Name) {
		return "", nil
	}
	return rec.Name, p.SkipIf
}

// LeaveOut gives the record of a run that leaves a phase out, with its parts, and why.
func LeaveOut(run metadata.Run, phase string, why metadata.Reason, at time.Time) metadata.Run {
	run = Touch(run, at)
	note(&run, at, SkipStep, phase, why)
	for _, rec := range append(PartsOf(&run, phase), run.Phase(phase)) {
		rec.Status, rec.Dropped, rec.RollbackContext = metadata.PhaseSkipped, phase, nil
	}
	run.CurrentPhase = phase
	return run
}

// WhyLeftOut says why a phase was left out; "" if it was not, or if people or a rule did it.
func WhyLeftOut(run metadata.Run, phase string) (why metadata.Reason) {
	if rec := run.Phase(phase); rec == nil || rec.Status != metadata.PhaseSkipped || rec.Dropped != phase {
		return ""
	}
	for _, d := range run.Decisions {
		if d.Phase == phase && d.Step == SkipStep {
			why = d.Why
		}
	}
	return why
}
