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
			if strings.TrimSuffix(e.Name(), path.Ext(e.Name())) != "policy" {
				continue
			}
			if e.Name() != policyName {
				return nil, pipelines.Mistakes{{File: path.Join(repoPath, e.Name()), Message: "a policy is written in CUE; name it " + policyName}}
			}
			f, err := readIn(repo, e.Name(), e)
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
	if len(policies) == 0 {
		return nil
	}
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
		j := judgment{checker: c, policy: f.Name, said: said, whole: whole, paths: map[string]bool{}, told: map[string]int{}, more: map[int]int{}}
		both := demands.Unify(finished)
		j.added(both, said, nil)
		errs := cueerrors.Errors(both.Validate(cue.Concrete(true)))
		slices.SortStableFunc(errs, func(a, b cueerrors.Error) int { // what has a place in the policy says more
			return cmp.Compare(j.place(b).Line(), 0) - cmp.Compare(j.place(a).Line(), 0)
		})
		for _, e := range errs {
			if len(j.told) == 0 || !strings.Contains(e.Error(), "in empty disjunction") { // each of them is told by itself
				j.note(e.Path(), messageOf(e), j.place(e))
			}
		}
		for at, n := range j.more {
			c.Found[at].Message += fmt.Sprintf("; and %d more like this", n)
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
	paths  map[string]bool // that were noted
	told   map[string]int  // the mistake in Found that stands for all of one place of the policy
	more   map[int]int     // how many others it stands for
}

// place is where the policy says what an error is about; its line is 0 if that is not known.
func (j *judgment) place(e cueerrors.Error) token.Pos {
	for _, p := range cueerrors.Positions(e) {
		if p.Filename() == j.policy {
			return p
		}
	}
	return token.NoPos
}

// note notes what is wrong at a path of the plan: once, and one for all that one place of the policy is about.
func (j *judgment) note(path []string, message string, at token.Pos) {
	where := pathOf(path)
	if j.paths[where] {
		return
	}
	j.paths[where] = true
	key, closed := at.String(), message == "field not allowed"
	if !at.IsValid() && !closed {
		key = message + where
	}
	if of, known := j.told[key]; known {
		j.more[of]++
		return
	}
	j.told[key] = len(j.Found)
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
		name = strings.Trim(name, `"`)
		if n, err := strconv.Atoi(name); err == nil {
			keys = append(keys, n)
		} else {
			keys = append(keys, name)
		}
	}
	by := j.policy
	if at.IsValid() {
		by = fmt.Sprintf("%s:%d:%d", j.policy, at.Line(), at.Column())
	}
	j.Add(j.whole, keys, "%.300s, as %s demands", message, by)
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
	if !fixed {
		entries, _ = said.(map[string]any)
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
	out := settingsOf(*plan)
	budget := settingsOf(plan.Budget)
	budget["seconds"] = int(time.Duration(plan.Budget.Time).Seconds()) // which can be compared
	for name, v := range budget {
		if v == nil || v == 0 {
			budget[name] = "unlimited" // where 0 would pass for little
		}
	}
	agents := map[string]any{}
	for name, a := range plan.Agents {
		a.Access = cmp.Or(a.Access, pipelines.AccessTree)
		agents[name] = settingsOf(a)
	}
	var reached []pipelines.Network
	for _, s := range plan.Setup {
		reached = append(reached, s.Network)
	}
	for name, list := range map[string][]pipelines.Phase{"phases": plan.Phases, "spare": plan.Spare} {
		all := []any{}
		for _, ph := range list {
			ph.Review.Access = cmp.Or(ph.Review.Access, pipelines.AccessRead)
			of := settingsOf(ph)
			of["steps"] = settings{"execute": of["execute"], "review": of["review"], "revise": of["revise"]}
			of["review"] = !ph.NoReview
			all = append(all, of)
			reached = append(reached, ph.Execute.Network, ph.Review.Network, ph.Revise.Network)
			for _, c := range ph.Checks {
				reached = append(reached, c.Network)
			}
		}
		out[name] = all
	}
	ci := settingsOf(plan.CI)
	wait, fixes := plan.CI.Most()
	ci["wait"], ci["fixes"] = text.Time(wait), fixes
	if plan.CI.Required == nil {
		ci["required"] = "all"
	}
	out["budget"], out["agents"], out["network"], out["ci"] = budget, agents, widest(reached), ci
	out["jobs"] = max(1, plan.Jobs)
	out["update"] = cmp.Or(plan.Update, "before-ready")
	out["finish"] = cmp.Or(plan.Finish, "remove")
	return out
}

// widest is what some of the networks reach, of the outside.
func widest(all []pipelines.Network) pipelines.Network {
	out := pipelines.Network{Closed: true}
	for _, n := range all {
		if !n.Closed {
			return pipelines.Network{}
		}
		out.Allow = append(out.Allow, n.Allow...)
	}
	slices.Sort(out.Allow)
	out.Allow = slices.Compact(out.Allow)
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
		for i := range v.Len() {
			out = append(out, spelled(v.Index(i)))
		}
		return out
	case reflect.Map:
		out := map[string]any{}
		for it := v.MapRange(); it.Next(); {
			out[it.Key().String()] = spelled(it.Value())
		}
		return out
	case reflect.Struct:
		out := settings{}
		for i := range v.NumField() {
			field := v.Field(i)
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			_, network := field.Interface().(pipelines.Network)
			switch {
			case name == "": // an embedded one
				maps.Copy(out, spelled(field).(settings))
			case network || !field.IsZero():
				out[name] = spelled(field)
			default:
				out[name] = nil
			}
		}
		return out
	}
	return v.Interface()
}
