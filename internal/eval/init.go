package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	cuejson "cuelang.org/go/encoding/json"
	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/runs"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/pipelines"
)

// initCommand is reprise eval init.
func initCommand(env environ.Env) *cobra.Command {
	var repo, id string
	c := &cobra.Command{
		Use: "init SUITE --from-run ISSUE", Short: "Make a case of a run that has happened in a repository",
		Long: `Make a case of a run whose branch is in this repository. It begins with the commit that the
run began with, and its hidden files are the tests that the branch changed, as the default
branch has them now or, if they are not there, as the run left them. Look at what was made:
an issue that tells the solution makes an easy case.`,
		Example: "  reprise eval init cases --from-run 7",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || id == "" {
				return exit.Usagef("which run, and for which suite? reprise eval init SUITE --from-run ISSUE")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			run, err := workspace.Look(c.Context(), env, repo, id)
			if err != nil {
				return err
			}
			made, err := caseOf(c.Context(), run, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(env.Stdout, "%s\nBefore you pay for runs, see whether it proves something: reprise eval %s --vet\n", made, text.QuoteShell(args[0]))
			return err
		},
	}
	c.Flags().StringVar(&repo, "repo", ".", "any folder of the git repository")
	c.Flags().StringVar(&id, "from-run", "", "id of the issue of a run")
	return c
}

// caseOf makes a case of a run in a suite, which need not be there, and gives its folder.
func caseOf(ctx context.Context, r *workspace.Recorded, suite string) (string, error) {
	var setup []ShellCommand
	files, err := hiddenOf(ctx, r)
	if err != nil {
		return "", err
	}
	checks := commandsOf(r.Plan)
	if len(checks) == 0 {
		return "", exit.Usagef("the pipeline of the run has no check that runs tests, so that nothing could judge the case")
	}
	suite, err = filepath.Abs(suite)
	if err != nil {
		return "", err
	}
	name := "issue-" + r.Issue.ID
	dir := filepath.Join(suite, strings.Trim(name[:min(40, len(name))], "-"))
	if _, err := os.Stat(dir); err == nil {
		return "", exit.Usagef("%s is there already; remove it, or name another suite", dir)
	}
	repo, err := filepath.Rel(dir, r.Source.Dir)
	if err != nil {
		return "", err
	}
	said := map[string]any{"description": "The run of issue " + r.Issue.ID, "repo": filepath.ToSlash(repo), "commit": r.Run.BaseCommit, "checks": checks}
	for _, s := range r.Plan.Setup {
		setup = append(setup, ShellCommand{Name: s.Name, Run: s.Run})
	}
	if len(setup) > 0 {
		said["setup"] = setup
	}
	if files[caseFile], err = inCUE(said); err != nil {
		return "", err
	}
	files["issue.md"] = r.Issue.Markdown()
	if _, err := os.Stat(filepath.Join(suite, suiteFile)); errors.Is(err, fs.ErrNotExist) {
		files["../"+suiteFile] = []byte("variants: {\n\tfix: {pipeline: \"fix\"}\n\tfeature: {pipeline: \"feature\"}\n}\n")
	}
	for name, data := range files {
		if err := writeWhole(filepath.Join(dir, filepath.FromSlash(name)), data); err != nil {
			return "", exit.AsUsage(err)
		}
	}
	return dir, nil
}

// inCUE writes an object as people write CUE.
func inCUE(v map[string]any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	expr, err := cuejson.Extract(caseFile, data)
	if err != nil {
		return nil, err
	}
	return format.Node(&ast.File{Decls: expr.(*ast.StructLit).Elts}, format.Simplify()) // an object was read
}

// hiddenOf gives the tests that the branch of a run changed, by their path in the folder of a
// case, as the default branch has them now or, if it does not, as the run left them.
func hiddenOf(ctx context.Context, r *workspace.Recorded) (map[string][]byte, error) {
	change, err := r.Change(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading what the run changed, whose branch has to be in this repository: %w", err)
	}
	files, code := map[string][]byte{}, 0
	for _, c := range runs.Stat([]git.CommitPatch{change}) {
		if !isTest(c.File) {
			code++
			continue
		}
		data, err := r.Source.ReadFile(ctx, r.Source.DefaultBranch, c.File)
		if errors.Is(err, fs.ErrNotExist) {
			data, err = r.Source.ReadFile(ctx, r.Ref(), c.File)
		}
		switch {
		case err == nil:
			files["hidden/"+c.File] = data
		case !errors.Is(err, fs.ErrNotExist): // one that the run has removed is no test of its work
			return nil, err
		}
	}
	if len(files) == 0 || code == 0 {
		return nil, exit.Usagef("the run of issue %s changed %d tests and %d other files; a case takes both", r.Issue.ID, len(files), code)
	}
	return files, nil
}

// commandsOf gives the checks of a pipeline that run tests, by what they say.
func commandsOf(p *pipelines.Pipeline) (all []ShellCommand) {
	for _, phase := range p.Phases {
		for _, check := range phase.Checks {
			known := slices.ContainsFunc(all, func(o ShellCommand) bool { return o.Name == check.Name })
			if !known && strings.Contains(check.Name+" "+check.Run, "test") {
				all = append(all, ShellCommand{Name: check.Name, Run: check.Run})
			}
		}
	}
	return all
}

// isTest reports whether a file is one of the tests, by what tests are usually called.
func isTest(name string) bool {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if slices.Contains([]string{"test", "tests", "__tests__", "spec", "specs", "testdata"}, part) {
			return true
		}
	}
	return testName.MatchString(path.Base(name))
}

// testName matches the names of tests, such as test_a.py, a_test.go, ATest.java and a.spec.tsx.
var testName = regexp.MustCompile(`^(test_[^.]*|[^.]*(_test|_spec|Tests?))(\.|$)|^[^.]+\.(.*\.)?(test|spec)\.`)
