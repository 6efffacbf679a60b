package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// judge runs the commands of cases, and holds what became of a run against what was
// expected.
type judge struct {
	checks  agents.Options
	environ []string
	note    string // why there is no sandbox; "" if there is one
}

// newJudge gives a judge whose commands run in the sandbox, as checks of a run do. Their
// home, with the caches of compilers, is kept in a folder for all of this judge.
func newJudge(env environ.Env, how, home string) (*judge, error) {
	helper, err := workspace.SandboxHelper()
	if err != nil {
		return nil, err
	}
	box := workspace.SandboxOf(&pipelines.Pipeline{})
	box.Helper, box.State = helper, home
	opts, note, err := agents.Options{Environ: env.Environ}.Contain(sandbox.Containment(how), box)
	return &judge{opts, env.Environ, note}, exit.AsUsage(err)
}

// outcome is how the commands of a case ended.
type outcome struct {
	Setup  []metadata.CheckResult
	Checks []metadata.CheckResult
	Still  []metadata.CheckResult
}

// run runs the commands in a tree that has the hidden files. What the setup could not
// make ready is not looked at.
func (j *judge) run(ctx context.Context, c Case, tree string) (outcome, error) {
	var o outcome
	for _, list := range []struct {
		of   []ShellCommand
		into *[]metadata.CheckResult
	}{{c.Setup, &o.Setup}, {c.Checks, &o.Checks}, {c.Still, &o.Still}} {
		for _, command := range list.of {
			r, err := j.checks.Check(ctx, tree, command.check())
			if err != nil {
				return o, err
			}
			*list.into = append(*list.into, r)
			if !r.Pass && list.into == &o.Setup {
				return o, nil
			}
		}
	}
	return o, nil
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

// failed are the results that did not pass.
func failed(all []metadata.CheckResult) []metadata.CheckResult {
	return slices.DeleteFunc(slices.Clone(all), func(r metadata.CheckResult) bool { return r.Pass })
}

// before says what is wrong with a case before the work: its setup or what has to pass fails, or a check
// passes, which then proves nothing.
func (j *judge) before(ctx context.Context, c Case, tree string) error {
	if err := c.addHidden(tree); err != nil {
		c.doc.Wrong([]any{"hidden"}, "%v", err)
		return c.doc.Mistakes()
	}
	o, err := j.run(ctx, c, tree)
	if err != nil {
		return err
	}
	for i, r := range o.Setup {
		if !r.Pass {
			c.doc.Wrong([]any{"setup", i}, "%s ended with %d before any work, so that nothing can be judged: %s", r.Name, r.ExitCode, agents.LastWords(r.Output))
		}
	}
	for i, r := range o.Checks {
		if r.Pass {
			c.doc.Wrong([]any{"checks", i}, "%s passes before the work, so it proves nothing; if it has to pass before and after, write it under still", r.Name)
		}
	}
	for i, r := range o.Still {
		if !r.Pass {
			c.doc.Wrong([]any{"still", i}, "%s ended with %d before any work: %s", r.Name, r.ExitCode, agents.LastWords(r.Output))
		}
	}
	return c.doc.Mistakes()
}

// after says what is missing in what became of a run; nothing if the case is solved.
func (j *judge) after(ctx context.Context, c Case, facts Facts, repo, commit string) ([]string, error) {
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
	defer func() { _ = folders.RemoveAll(tree) }() // it lies among what is removed with the run
	if err := errors.Join(folders.RemoveAll(tree), os.MkdirAll(tree, 0o755)); err != nil {
		return nil, err
	}
	g := repository{dir: tree, environ: j.environ}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", repo, commit},
		{"reset", "--quiet", "--hard", "FETCH_HEAD"},
	} {
		if _, err := g.git(ctx, args...); err != nil {
			return nil, err
		}
	}
	if err := c.addHidden(tree); err != nil { // such as below what the work has made a link
		return append(misses, err.Error()), nil
	}
	o, err := j.run(ctx, c, tree)
	for _, r := range slices.Concat(failed(o.Setup), failed(o.Checks), failed(o.Still)) {
		misses = append(misses, fmt.Sprintf("%s: ended with %d: %s", r.Name, r.ExitCode, agents.LastWords(r.Output)))
	}
	return misses, err
}
