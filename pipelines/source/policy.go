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
// that the workflow names. The same text counts once.
func (s Sources) policies() (found []file, err error) {
	add := func(f file) {
		if !slices.ContainsFunc(found, func(o file) bool { return o.Text == f.Text }) {
			found = append(found, f)
		}
	}
	for _, folder := range []fs.FS{s.Repo, s.Trusted} {
		if folder == nil {
			continue
		}
		entries, err := fs.ReadDir(folder, ".")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("find the policy of the repository: %w", err)
		}
		for _, e := range entries {
			where := path.Join(repoPath, e.Name())
			switch {
			case e.Name() == policyName && !e.Type().IsRegular():
				return nil, pipelines.Mistakes{{File: where, Message: noFile}}
			case e.Name() == policyName:
				f, err := folder.Open(e.Name())
				if err != nil {
					return nil, fmt.Errorf("read the policy: %w", err)
				}
				policy, err := read(f, where)
				if err != nil {
					return nil, err
				}
				add(policy)
			case strings.TrimSuffix(e.Name(), path.Ext(e.Name())) == "policy":
				return nil, pipelines.Mistakes{{File: where, Message: "a policy is written in CUE; name it " + policyName}}
			}
		}
	}
	if s.Policy == "" {
		return found, nil
	}
	named, err := readPath(s.Policy)
	if errors.Is(err, fs.ErrNotExist) || err == nil && path.Ext(s.Policy) != ".cue" {
		err = pipelines.Mistakes{{File: s.Policy, Message: "the workflow names this file as policy; expected one in CUE that is there in the job"}}
	}
	if err == nil {
		add(named)
	}
	return found, err
}

// ToVet lists the pipelines to check where none is named: all, but for the built-in ones where there are others and a
// policy, which those need not meet as long as nobody takes them.
func (s Sources) ToVet() ([]string, error) {
	names, err := s.Names()
	if err != nil {
		return nil, err
	}
	own, _, err := s.files(repoFolder)
	if policies, wrong := s.policies(); err == nil && len(own) > 0 && (len(policies) > 0 || wrong != nil) {
		names = namesOf(own)
	}
	return names, err
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

// hold notes each demand of the policies that a finished plan does not meet, at its place in whole, where that has it.
func (c *checker) hold(ctx *cue.Context, policies []file, plan *pipelines.Pipeline, whole *Node) error {
	if len(policies) == 0 {
		return nil
	}
	said := explicit(plan)
	data, err := json.Marshal(said)
	if err != nil {
		return fmt.Errorf("the plan for its policy: %w", err)
	}
	finished, err := jsonValue(ctx, data)
	if err != nil {
		return fmt.Errorf("the plan for its policy: %w", err)
	}
	for _, f := range policies {
		demands, wrong := newLibrary(ctx, nil).value(f) // which imports CUE's own packages alone
		switch {
		case len(wrong) > 0:
			c.Found = append(c.Found, wrong...)
			continue
		case demands.IncompleteKind()&cue.StructKind == 0 && demands.IncompleteKind() != cue.BottomKind: // whose mistakes show below
			c.Found = append(c.Found, pipelines.Mistake{File: f.Name, Line: 1, Column: 1, Message: "expected what pipelines have to have, such as budget: usd: <=10"})
			continue
		}
		j := judgment{MistakeList: &c.MistakeList, policy: f.Name, said: said, whole: whole, paths: map[string]bool{}, told: map[string]int{}, more: map[int]int{}}
		both := demands.Unify(finished)
		j.added(both, said, nil)
		errs := cueerrors.Errors(both.Validate(cue.Concrete(true)))
		slices.SortStableFunc(errs, func(a, b cueerrors.Error) int { // what has a place in the policy says more
			return cmp.Compare(j.place(b).Line(), 0) - cmp.Compare(j.place(a).Line(), 0)
		})
		for _, e := range errs {
			if len(j.told) > 0 && strings.Contains(e.Error(), "in empty disjunction") { // each of them is told by itself
				continue
			}
			j.note(e.Path(), messageOf(e), j.place(e))
		}
		for at, n := range j.more {
			c.Found[at].Message += fmt.Sprintf("; and %d more like this", n)
		}
	}
	return nil
}

// noSetting is wrong with a policy, and with no pipeline.
const noSetting = "there is no such setting"

// judgment is one policy held against a plan.
type judgment struct {
	*MistakeList
	policy string // its file
	said   settings
	whole  *Node
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
	path = slices.Clone(path)
	for i, name := range path {
		if said, err := strconv.Unquote(name); err == nil {
			path[i] = said
		}
	}
	where := strings.Join(path, ".")
	if j.paths[where] {
		return
	}
	j.paths[where] = true
	key, closed := at.String(), message == "field not allowed"
	if closed {
		message += " where the policy has no ... at the end of the object"
	}
	if name := strings.TrimSuffix(strings.TrimPrefix(message, `reference "`), `" not found`); slices.Contains(j.said.known, name) {
		message += fmt.Sprintf("; write %s: _ beside it", name) // CUE has to know that there is one
	}
	if !at.IsValid() && !closed {
		key = message + where
	}
	if of, known := j.told[key]; known {
		j.more[of]++
		return
	}
	m := pipelines.Mistake{File: j.policy, Path: where, Message: message}
	by := j.policy
	if at.IsValid() {
		m.Line, m.Column = at.Line(), at.Column()
		by = fmt.Sprintf("%s:%d:%d", j.policy, m.Line, m.Column)
	}
	keys := make([]any, len(path))
	for i, name := range path {
		keys[i] = name
		if n, err := strconv.Atoi(name); err == nil {
			keys[i] = n
		}
	}
	if strings.HasPrefix(where, "_") || strings.HasPrefix(where, "#") {
		keys = nil // the pipeline has no such place
	}
	if strings.HasPrefix(message, "reference ") || strings.HasPrefix(message, noSetting) { // the policy is wrong
		j.Found = append(j.Found, m)
	} else {
		j.Add(j.whole, keys, "%.300s, as %s demands", message, by)
	}
	j.told[key] = len(j.Found) - 1
}

// added notes what a policy would have to fill in: a setting that there is not, one that the plan lacks and that is
// not usually so, and an entry that is missing.
func (j *judgment) added(both cue.Value, said any, path []string) {
	below := func(name string) []string { return append(slices.Clip(path), name) }
	switch said := said.(type) {
	case settings:
		it, err := both.Fields(cue.Optional(true))
		for err == nil && it.Next() {
			name, v := it.Selector().Unquoted(), it.Value()
			of, has := said.values[name]
			switch {
			case has:
				j.added(v, of, below(name))
			case !slices.Contains(said.known, name):
				j.note(below(name), noSetting+", "+pipelines.MustBeOneOf(name, said.known), v.Pos())
			case !it.IsOptional() && !isNothing(v):
				j.note(below(name), "missing", v.Pos())
			}
		}
	case map[string]any:
		it, err := both.Fields()
		for err == nil && it.Next() {
			name := it.Selector().Unquoted()
			if of, has := said[name]; has {
				j.added(it.Value(), of, below(name))
			} else {
				j.note(below(name), "missing", it.Value().Pos())
			}
		}
	case []any:
		it, err := both.List()
		for i := 0; err == nil && it.Next() && i < len(said); i++ {
			j.added(it.Value(), said[i], below(strconv.Itoa(i)))
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

// settings are the fields of an object that always has the same: those that say something, and the names of all.
type settings struct {
	values map[string]any
	known  []string
}

// MarshalJSON writes those that say something.
func (s settings) MarshalJSON() ([]byte, error) { return json.Marshal(s.values) }

// set gives a field a value.
func (s *settings) set(name string, value any) {
	s.values[name] = value
	if !slices.Contains(s.known, name) {
		s.known = append(s.known, name)
	}
}

// noLimit is what a budget says to a policy where 0 would pass for little.
const noLimit = "unlimited"

// explicit gives a plan as policies are held against it: as it is frozen, but with the steps of a phase below steps,
// and with every default that lets more happen than nothing would.
func explicit(plan *pipelines.Pipeline) settings {
	out := spelled(reflect.ValueOf(*plan)).(settings)
	budget := spelled(reflect.ValueOf(plan.Budget)).(settings)
	budget.set("seconds", int(time.Duration(plan.Budget.Time).Seconds())) // which can be compared
	for _, name := range budget.known {
		if v := budget.values[name]; v == nil || v == 0 {
			budget.set(name, noLimit)
		}
	}
	out.set("budget", budget)
	agents := map[string]any{}
	for name, a := range plan.Agents {
		a.Access = cmp.Or(a.Access, pipelines.AccessTree)
		agents[name] = spelled(reflect.ValueOf(a))
	}
	out.set("agents", agents)
	var reached []pipelines.Network
	for _, s := range plan.Setup {
		reached = append(reached, s.Network)
	}
	for name, list := range map[string][]pipelines.Phase{"phases": plan.Phases, "spare": plan.Spare} {
		all := []any{}
		for _, ph := range list {
			ph.Review.Access = cmp.Or(ph.Review.Access, pipelines.AccessRead)
			of := spelled(reflect.ValueOf(ph)).(settings)
			steps := settings{values: map[string]any{}}
			for step, s := range map[string]pipelines.Step{"execute": ph.Execute, "review": ph.Review, "revise": ph.Revise} {
				steps.set(step, of.values[step])
				reached = append(reached, s.Network)
			}
			for _, c := range ph.Checks {
				reached = append(reached, c.Network)
			}
			of.set("steps", steps)
			of.set("review", !ph.NoReview)
			all = append(all, of)
		}
		out.set(name, all)
	}
	out.set("network", widest(reached))
	ci := spelled(reflect.ValueOf(plan.CI)).(settings)
	wait, fixes := plan.CI.Most()
	ci.set("wait", text.Time(wait))
	ci.set("fixes", fixes)
	if plan.CI.Required == nil {
		ci.set("required", "all")
	}
	out.set("ci", ci)
	out.set("jobs", max(1, plan.Jobs))
	out.set("update", cmp.Or(plan.Update, "before-ready"))
	out.set("finish", cmp.Or(plan.Finish, "remove"))
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
		out := settings{values: map[string]any{}}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if name == "" { // an embedded one
				of := spelled(v.Field(i)).(settings)
				maps.Copy(out.values, of.values)
				out.known = append(out.known, of.known...)
				continue
			}
			out.known = append(out.known, name)
			if _, network := v.Field(i).Interface().(pipelines.Network); network || !v.Field(i).IsZero() {
				out.values[name] = spelled(v.Field(i))
			}
		}
		return out
	}
	return v.Interface()
}
