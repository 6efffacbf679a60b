package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"cuelang.org/go/cue"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
)

// policyName is the file with the policy of a repository, beside its settings.
const policyName = "policy.cue"

// policies reads the policies that every pipeline has to meet: that of the checkout, of the default branch, and one
// that the workflow names.
func (s Sources) policies() (found []file, err error) {
	if s.unheld {
		return nil, nil
	}
	for _, repo := range []fs.FS{s.Repo, s.Trusted} {
		entries, err := entriesOf(repo, ".")
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if nameOf(e.Name()) != "policy" {
				continue
			}
			f, err := readIn(repo, e.Name(), e)
			if e.Name() != policyName {
				err = pipelines.Mistakes{{File: f.Name, Message: "a policy is written in CUE; name it " + policyName}}
			}
			if err != nil {
				return nil, err
			}
			found = append(found, f)
		}
	}
	if s.Policy != "" {
		named, err := readPath(s.Policy)
		if errors.Is(err, fs.ErrNotExist) || err == nil && path.Ext(s.Policy) != ".cue" {
			err = pipelines.Mistakes{{File: s.Policy, Message: "the workflow names this file as policy; expected one in CUE that is there in the job"}}
		}
		if err != nil {
			return nil, err
		}
		found = append(found, named)
	}
	return slices.CompactFunc(found, func(a, b file) bool { return a.Text == b.Text }), nil
}

// ToVet lists the pipelines to check where none is named: all, but for the built-in ones where there are others and a
// policy, which those need not meet as long as nobody takes them.
func (s Sources) ToVet() ([]string, error) {
	own, _, err := s.files(repoFolder)
	if policies, wrong := s.policies(); err == nil && len(own) > 0 && (len(policies) > 0 || wrong != nil) {
		return namesOf(own), nil
	}
	return s.names()
}

// Hold says what the policies demand of a plan that it does not have, as pipelines.Mistakes.
func (s Sources) Hold(ctx context.Context, plan *pipelines.Pipeline) error {
	found, err := s.policies()
	if err != nil || len(found) == 0 {
		return err
	}
	_, err = s.Evaluator.do(ctx, plan.Source, request{Policies: found, Plan: plan})
	return err
}

// hold gives what was found before and each demand of the policies that a finished plan does not meet, at its place in
// whole, where that has it.
func (c *checker) hold(policies []file, plan *pipelines.Pipeline, whole *node) error {
	ctx, said := NewContext(), explicit(plan)
	data, err := json.Marshal(said)
	finished, wrong := jsonValue(ctx, data)
	if err = cmp.Or(err, wrong); err != nil {
		return fmt.Errorf("the plan for its policy: %w", err)
	}
	for _, f := range policies {
		demands, wrong := newLibrary(ctx, nil).value(f) // which imports CUE's own packages alone
		kind := demands.IncompleteKind()                // of what contradicts itself, which shows below, it is none
		if len(wrong) == 0 && kind != cue.BottomKind && kind&cue.StructKind == 0 {
			wrong = pipelines.Mistakes{{File: f.Name, Line: 1, Column: 1, Message: "expected what pipelines have to have, such as budget: usd: <=10"}}
		}
		if len(wrong) > 0 {
			c.Found = append(c.Found, wrong...)
			continue
		}
		j := judgment{checker: c, policy: f.Name, said: said, whole: whole, paths: map[string]bool{}, alike: map[string]*alike{}}
		both := demands.Unify(finished)
		j.added(both, said, nil)
		errs := cueerrors.Errors(both.Validate(cue.Concrete(true)))
		slices.SortStableFunc(errs, func(a, b cueerrors.Error) int { // what has a place in the policy says more
			return cmp.Compare(j.place(b).Line(), 0) - cmp.Compare(j.place(a).Line(), 0)
		})
		for _, e := range errs {
			if len(j.alike) == 0 || !strings.Contains(e.Error(), "in empty disjunction") { // each of them is told by itself
				j.note(e.Path(), messageOf(e), j.place(e))
			}
		}
		for _, a := range j.alike {
			if a.more > 0 {
				c.Found[a.at].Message += fmt.Sprintf("; and %d more like this", a.more)
			}
		}
	}
	return c.Found.OrNil()
}

// noSetting is wrong with a policy, and with no pipeline.
const noSetting = "there is no such setting"

// judgment is one policy held against a plan.
type judgment struct {
	*checker
	policy string // its file
	said   settings
	whole  *node
	paths  map[string]bool   // that were noted
	alike  map[string]*alike // by the place of the policy
}

// alike is the mistake in Found that stands for all of its kind, and how many others it stands for.
type alike struct{ at, more int }

// place is where the policy says what an error is about; its line is 0 if that is not known.
func (j *judgment) place(e cueerrors.Error) token.Pos {
	positions := cueerrors.Positions(e)
	if i := slices.IndexFunc(positions, func(p token.Pos) bool { return p.Filename() == j.policy }); i >= 0 {
		return positions[i]
	}
	return token.NoPos
}

// note notes what is wrong at a path of the plan: once, and one for all that one place of the policy is about.
func (j *judgment) note(path []string, message string, at token.Pos) {
	where, key, closed := pathOf(path), at.String(), message == "field not allowed"
	if j.paths[where] {
		return
	}
	j.paths[where] = true
	if !at.IsValid() && !closed {
		key = message + where
	}
	if a := j.alike[key]; a != nil {
		a.more++
		return
	}
	j.alike[key] = &alike{at: len(j.Found)}
	if closed {
		message += " where the policy has no ... at the end of the object"
	}
	name, unknown := strings.CutPrefix(message, `reference "`)
	name = strings.TrimSuffix(name, `" not found`)
	if _, setting := j.said[name]; unknown && setting {
		message += fmt.Sprintf("; write %s: _ beside it", name) // CUE has to know that there is one
	}
	if unknown || strings.HasPrefix(message, noSetting) { // the policy is wrong
		j.Found = append(j.Found, pipelines.Mistake{File: j.policy, Line: at.Line(), Column: at.Column(), Path: where, Message: message})
		return
	}
	var keys []any
	for _, name := range path {
		if strings.HasPrefix(name, "_") || strings.HasPrefix(name, "#") {
			break // the pipeline has no such place
		}
		keys = append(keys, strings.Trim(name, `"`))
		if n, err := strconv.Atoi(name); err == nil {
			keys[len(keys)-1] = n
		}
	}
	by := j.policy
	if at.IsValid() {
		by = fmt.Sprintf("%s:%d:%d", j.policy, at.Line(), at.Column())
	}
	j.add(j.whole, keys, "%.300s, as %s demands", message, by)
}

// added notes what a policy would have to fill in: a setting that there is not, one that the plan lacks and that is
// not usually so, and an entry that is missing.
func (j *judgment) added(both cue.Value, said any, path []string) {
	below := func(name string) []string { return append(slices.Clip(path), name) }
	if said, is := said.([]any); is {
		it, err := both.List()
		for i := 0; err == nil && it.Next() && i < len(said); i++ {
			j.added(it.Value(), said[i], below(strconv.Itoa(i)))
		}
		return
	}
	entries, fixed := said.(settings)
	if others, is := said.(map[string]any); is {
		entries = others
	}
	if entries == nil { // it is one value
		return
	}
	it, err := both.Fields(cue.Optional(fixed))
	for err == nil && it.Next() {
		name, v := it.Selector().Unquoted(), it.Value()
		of, known := entries[name]
		switch {
		case of != nil:
			j.added(v, of, below(name))
		case fixed && !known:
			j.note(below(name), noSetting+", "+pipelines.MustBeOneOf(name, slices.Collect(maps.Keys(entries))), v.Pos())
		case !fixed || !it.IsOptional() && !isNothing(v):
			j.note(below(name), "missing", v.Pos())
		}
	}
}

// isNothing reports whether a value is what a setting has that nobody has written: false, 0, something empty, or an
// object of such.
func isNothing(v cue.Value) bool {
	if it, err := v.Fields(); err == nil {
		for it.Next() {
			if !isNothing(it.Value()) {
				return false
			}
		}
		return true
	}
	data, err := v.MarshalJSON()
	return err == nil && slices.Contains([]string{"null", "false", "0", `""`, "[]"}, string(data))
}

// settings are the fields of an object that always has the same; nil are those that say nothing.
type settings map[string]any

// MarshalJSON writes those that say something.
func (s settings) MarshalJSON() ([]byte, error) {
	said := maps.Clone(s)
	maps.DeleteFunc(said, func(_ string, v any) bool { return v == nil })
	return json.Marshal(map[string]any(said))
}

// explicit gives a plan as policies are held against it: as it is frozen, but with the steps of a phase below steps,
// and with every default that lets more happen than nothing would.
func explicit(plan *pipelines.Pipeline) settings {
	out, agents, reached := settingsOf(*plan), map[string]any{}, pipelines.Network{Closed: true}
	reach := func(n pipelines.Network) { // all that some step or command reaches of the outside
		reached.Closed = reached.Closed && n.Closed
		reached.Allow = append(reached.Allow, n.Allow...)
	}
	budget := settingsOf(plan.Budget)
	budget["seconds"] = int(time.Duration(plan.Budget.Time).Seconds()) // which can be compared
	for name, v := range budget {
		if v == nil || v == 0 {
			budget[name] = "unlimited" // where 0 would pass for little
		}
	}
	for name, a := range plan.Agents {
		a.Access = cmp.Or(a.Access, pipelines.AccessTree)
		agents[name] = settingsOf(a)
	}
	for _, s := range plan.Setup {
		reach(s.Network)
	}
	for name, list := range map[string][]pipelines.Phase{"phases": plan.Phases, "spare": plan.Spare} {
		all := []any{}
		for _, ph := range list {
			ph.Review.Access = cmp.Or(ph.Review.Access, pipelines.AccessRead)
			of := settingsOf(ph)
			of["steps"] = settings{"execute": of["execute"], "review": of["review"], "revise": of["revise"]}
			of["review"] = !ph.NoReview
			all = append(all, of)
			for _, s := range []pipelines.Step{ph.Execute, ph.Review, ph.Revise} {
				reach(s.Network)
			}
			for _, c := range ph.Checks {
				reach(c.Network)
			}
		}
		out[name] = all
	}
	if !reached.Closed {
		reached = pipelines.Network{}
	}
	slices.Sort(reached.Allow)
	reached.Allow = slices.Compact(reached.Allow)
	ci := settingsOf(plan.CI)
	wait, fixes := plan.CI.Most()
	ci["wait"], ci["fixes"] = text.Time(wait), fixes
	if plan.CI.Required == nil {
		ci["required"] = "all"
	}
	out["budget"], out["agents"], out["network"], out["ci"] = budget, agents, reached, ci
	out["jobs"] = max(1, plan.Jobs)
	out["update"] = cmp.Or(plan.Update, "before-ready")
	out["finish"] = cmp.Or(plan.Finish, "remove")
	return out
}

// settingsOf gives the fields of a structure under their names in JSON.
func settingsOf(structure any) settings { return spelled(reflect.ValueOf(structure)).(settings) }

// spelled gives a value as its JSON has it, with the names of fields that are left out.
func spelled(v reflect.Value) any {
	if _, own := v.Interface().(json.Marshaler); own {
		return v.Interface()
	}
	switch v.Kind() {
	case reflect.Pointer:
		return spelled(v.Elem())
	case reflect.Slice:
		out := []any{}
		for _, item := range v.Seq2() {
			out = append(out, spelled(item))
		}
		return out
	case reflect.Map:
		out := map[string]any{}
		for key, value := range v.Seq2() {
			out[key.String()] = spelled(value)
		}
		return out
	case reflect.Struct:
		out := settings{}
		for field, value := range v.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			_, network := value.Interface().(pipelines.Network)
			switch {
			case field.Anonymous:
				maps.Copy(out, spelled(value).(settings))
			case network || !value.IsZero():
				out[name] = spelled(value)
			default:
				out[name] = nil
			}
		}
		return out
	}
	return v.Interface()
}
