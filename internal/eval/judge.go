package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"cuelang.org/go/cue"
	cuejson "cuelang.org/go/encoding/json"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// judge runs the commands of cases, and holds what became of a run against what was
// expected.
type judge struct {
	checks    agents.Options
	env       environ.Env
	how, home string
	note      string // why there is no sandbox; "" if there is one
}

// newJudge gives a judge whose commands run in the sandbox, as checks of a run do, with a home in a folder. It is for code
// that no agent has written; with the folder of such a judge as base, for any other: what lies there is in its home.
func newJudge(env environ.Env, how, home, base string) (*judge, error) {
	helper, err := workspace.SandboxHelper()
	if err != nil {
		return nil, err
	}
	box := workspace.SandboxOf(&pipelines.Pipeline{})
	box.Helper, box.State, box.Base = helper, home, base
	opts, note, err := agents.Options{Environ: env.Environ}.Contain(sandbox.Containment(how), box)
	if base == "" {
		opts = opts.Unchanged()
	}
	return &judge{opts, env, how, home, note}, exit.AsUsage(err)
}

// outcome is how a command of a case ended.
type outcome struct {
	in string // the field that has the command
	at int    // its place there
	metadata.CheckResult
}

// run runs the commands in a tree that has the hidden files. What the setup could not
// make ready is not looked at.
func (j *judge) run(ctx context.Context, c Case, tree string) (all []outcome, err error) {
	for _, list := range c.lists() {
		for i, command := range list.of {
			r, err := j.checks.Check(ctx, tree, pipelines.Check{Name: command.Name, Run: command.Run, Timeout: cmp.Or(command.Timeout, pipelines.Duration(10*time.Minute))})
			if err != nil {
				return all, err
			}
			all = append(all, outcome{list.name, i, r})
			if !r.Pass && list.name == "setup" {
				return all, nil
			}
		}
	}
	return all, nil
}

// addHidden puts the hidden files into a tree.
func (c Case) addHidden(tree string) error {
	if c.Hidden == "" {
		return nil
	}
	if err := unpack(c.Hidden, tree); err != nil {
		return fmt.Errorf("the hidden files cannot be put in: %w", err)
	}
	return nil
}

// before says what is wrong with a case before the work: its setup or what has to pass fails, or a check
// passes, which then proves nothing.
func (j *judge) before(ctx context.Context, c Case, tree string) error {
	if err := c.addHidden(tree); err != nil {
		c.doc.Wrong([]any{"hidden"}, "%v", err)
		return c.doc.Mistakes()
	}
	all, err := j.run(ctx, c, tree)
	if err != nil {
		return err
	}
	for _, r := range all {
		switch at := []any{r.in, r.at}; {
		case r.in == "checks" && r.Pass:
			c.doc.Wrong(at, "%s passes before the work, so it proves nothing; if it has to pass before and after, write it under still", r.Name)
		case r.in != "checks" && !r.Pass:
			c.doc.Wrong(at, "%s ended with %d before any work%s: %s", r.Name, r.ExitCode, text.If(r.in == "setup", ", so that nothing can be judged"), agents.LastWords(r.Output))
		}
	}
	return c.doc.Mistakes()
}

// after says what is missing in what became of a run; nothing if the case is solved.
func (j *judge) after(ctx context.Context, c Case, facts facts, repo, commit string) ([]string, error) {
	data, err := json.Marshal(facts)
	if err != nil {
		return nil, err
	}
	misses, err := unmet(c.Expect, data)
	if err != nil {
		return nil, fmt.Errorf("what case %s expects: %w", c.Name, err)
	}
	for i := range misses {
		misses[i] = "expect: " + misses[i]
	}
	for name := range facts.Files {
		if pipelines.MatchesPath(name, c.Keeps) {
			misses = append(misses, "keeps: "+name+" was changed")
		}
	}
	slices.Sort(misses)
	if len(c.Checks)+len(c.Still) == 0 {
		return misses, nil
	}
	tree := filepath.Join(filepath.Dir(repo), "judged")
	// They lie among what is removed with the run.
	defer func() { _, _ = folders.RemoveAll(tree), folders.RemoveAll(tree+"-homes") }()
	g, err := emptyRepository(ctx, j.env.Environ, tree)
	if err == nil {
		err = Case{Repo: repo, Commit: commit}.fetch(ctx, g)
	}
	if err != nil {
		return nil, err
	}
	if err := c.addHidden(tree); err != nil { // such as below what the work has made a link
		return append(misses, err.Error()), nil
	}
	own, err := newJudge(j.env, j.how, tree+"-homes", j.home) // no trial finds what the work of another has left
	if err != nil {
		return nil, err
	}
	leave, err := own.checks.Stay(ctx)
	if err != nil {
		return nil, err
	}
	all, err := own.run(ctx, c, tree)
	leave()
	for _, r := range all {
		if !r.Pass {
			misses = append(misses, fmt.Sprintf("%s: ended with %d: %s", r.Name, r.ExitCode, agents.LastWords(r.Output)))
		}
	}
	return misses, err
}

// unmet says, sorted, what keeps the facts, a JSON object, from being among the values that the CUE text
// describes.
func unmet(text string, facts []byte) ([]string, error) {
	ctx := source.NewContext()
	want := ctx.CompileString(text, cue.Filename("expect"))
	expr, err := cuejson.Extract("facts", facts)
	if err := errors.Join(want.Validate(), err); err != nil {
		return nil, err
	}
	found := misses(want, ctx.BuildExpr(expr), "")
	slices.Sort(found)
	return found, nil
}

// misses goes down as far as both have fields, so that each miss is one of its own.
func misses(want, got cue.Value, path string) (found []string) {
	if want.Subsume(got, cue.Final()) == nil {
		return nil
	}
	whole := text.Join(": ", path, fmt.Sprintf("got %s, expected %s", written(got), written(want)))
	fields, err := want.Fields()
	if err != nil || got.IncompleteKind() != cue.StructKind {
		return []string{whole}
	}
	for fields.Next() {
		at := fieldPath(path, fields.Selector().Unquoted())
		if there := got.LookupPath(cue.MakePath(cue.Str(fields.Selector().Unquoted()))); there.Exists() {
			found = append(found, misses(fields.Value(), there, at)...)
		} else {
			found = append(found, text.Join(": ", at, "there is none, expected "+written(fields.Value())))
		}
	}
	if len(found) == 0 { // what fields demand of each other
		found = []string{whole}
	}
	return found
}

func fieldPath(path, name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		return path + "[" + strconv.Quote(name) + "]"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// written is a value on one line.
func written(v cue.Value) string {
	return strings.Join(strings.FieldsFunc(fmt.Sprint(v), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// facts are what can be expected of a run; schema.cue has what they mean.
type facts struct {
	Status   string                     `json:"status"`
	Code     metadata.Code              `json:"code"`
	Phase    string                     `json:"phase"`
	Verdicts map[string]metadata.Ruling `json:"verdicts"`
	Report   map[string]json.RawMessage `json:"report"`
	Diff     struct {
		Files   int `json:"files"`
		Added   int `json:"added"`
		Deleted int `json:"deleted"`
	} `json:"diff"`
	Files map[string]lines `json:"files"`
	Cost  struct {
		USD      float64 `json:"usd"`
		Unpriced int     `json:"unpriced_calls,omitempty"` // that are not in it
		Tokens   int64   `json:"tokens"`
	} `json:"cost"`
	Attempts  int `json:"attempts"`
	Revises   int `json:"revises"`
	Rollbacks int `json:"rollbacks"`
	Questions int `json:"questions"`
	Findings  struct {
		Blockers    int            `json:"blockers"`
		Suggestions int            `json:"suggestions"`
		Files       map[string]int `json:"files"`
	} `json:"findings"`
	Seconds float64 `json:"seconds"` // of agents and checks
}

// dollars is what the calls have cost.
func (f facts) dollars() view.Dollars {
	return view.Dollars{USD: f.Cost.USD, Unpriced: f.Cost.Unpriced}
}

// lines are how much of a file was changed.
type lines struct {
	Added   int `json:"added"`
	Deleted int `json:"deleted"`
}

// factsOf reads what became of a run.
func factsOf(ctx context.Context, r *workspace.Recorded) (facts, error) {
	f := facts{Verdicts: map[string]metadata.Ruling{}, Report: map[string]json.RawMessage{}, Files: map[string]lines{}}
	f.Findings.Files = map[string]int{}
	s, spent := view.Result(phases.On(r.Plan, r.Run)), phases.SpentOf(r.Run)
	f.Status, f.Code, f.Phase = s.Status, s.Code, s.Phase
	f.Cost.USD, f.Cost.Unpriced, f.Cost.Tokens = r.Run.Cost.USD, view.DollarsOf(r.Run).Unpriced, spent.Tokens
	f.Attempts, f.Revises, f.Rollbacks = s.Totals.Attempts, s.Totals.Revises, s.Totals.Rollbacks
	f.Questions, f.Seconds = len(phases.Questions(r.Run)), float64(s.Totals.DurationMS)/1000
	for _, p := range r.Run.Phases {
		if p.Report != nil {
			f.Report[p.Name] = p.Report
		}
		if p.Verdict == nil {
			continue
		}
		f.Verdicts[p.Name] = p.Verdict.Verdict
		for _, one := range p.Verdict.Findings {
			if one.Counts() == metadata.Blocker {
				f.Findings.Blockers++
			} else {
				f.Findings.Suggestions++
			}
			if one.File != "" {
				f.Findings.Files[one.File]++
			}
		}
	}
	change, err := r.Changed(ctx)
	if err != nil {
		return f, fmt.Errorf("reading what the run changed: %w", err)
	}
	for _, c := range change {
		f.Files[c.Path] = lines{c.Added, c.Deleted}
		f.Diff.Files, f.Diff.Added, f.Diff.Deleted = f.Diff.Files+1, f.Diff.Added+c.Added, f.Diff.Deleted+c.Deleted
	}
	return f, nil
}
