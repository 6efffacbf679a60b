package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// initCommand is reprise eval init.
func initCommand(env environ.Env) *cobra.Command {
	var h harvester
	var asJSON bool
	c := &cobra.Command{
		Use: "init SUITE --from-run ISSUE", Short: "Make a case of a run that has happened in a repository",
		Long: `Make a case of a run: it begins with the commit that the run began with, and its hidden
files are the tests that its pull request changed, as the default branch has them now or,
if they are not there, as the pull request left them. What only origin has of the run is
fetched. Look at what was made: an issue that tells the solution makes an easy case.`,
		Example: "  reprise eval init cases --from-run 7\n  reprise eval init cases --from-run 7 --step implementation/review",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("which suite? Give one folder: reprise eval init SUITE")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if h.Run == "" {
				return exit.Usagef("of what? Give --from-run ISSUE")
			}
			if h.Step != "" && h.Attempt != 0 || h.Attempt < 0 {
				return exit.Usagef("--step and --attempt each name a call of the run: give one of them, an attempt by its number")
			}
			made, err := h.make(c.Context(), env, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return text.PrintJSON(env.Stdout, map[string]any{"suite": args[0], "cases": []string{made}})
			}
			_, err = fmt.Fprintf(env.Stdout, "%s\nBefore you pay for runs, see whether it proves something: reprise eval %s --vet\n", made, text.QuoteShell(args[0]))
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&h.Repo, "repo", ".", "any folder of the git repository")
	f.StringVar(&h.Run, "from-run", "", "id of the issue of a run")
	f.StringVar(&h.Step, "step", "", "with --from-run: only the last review of a phase, as `PHASE/review`, with the record as it was before")
	f.IntVar(&h.Attempt, "attempt", 0, "with --from-run: only the review with this number; if a person found something missing in it, that is expected")
	f.StringVar(&h.Check, "check", "", "command that runs the tests (default: as the run's pipeline has it)")
	f.BoolVar(&asJSON, "json", false, "print the folders of the cases as JSON")
	return c
}

// harvester makes a case of a run that happened.
type harvester struct {
	Repo    string // any folder of the repository
	Run     string // id of its issue
	Step    string // PHASE/review: only the last one; empty: the whole run
	Attempt int    // only the review with this number; 0: none is named
	Check   string // command that runs the tests; empty: as the pipeline has it

	top  repository
	was  *workspace.Recorded // the run
	refs []string            // that have its commits: its branch, here or on origin, and the record that is kept
	main string              // the default branch, here or on origin, where it has got further; "": there is none
}

// newCase is a case that is to be written.
type newCase struct {
	name, about, commit string
	review              string            // CUE, of a case of one: the step, and what is expected
	files               map[string]string // by path in the folder of the case
	setup, checks       []ShellCommand
}

// make makes the case in a suite, which need not be there, and gives its folder.
func (m *harvester) make(ctx context.Context, env environ.Env, suite string) (string, error) {
	top, err := repository{dir: m.Repo, environ: env.Environ}.git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", exit.AsUsage(err)
	}
	m.top = repository{dir: strings.TrimSuffix(top, "\n"), environ: env.Environ}
	if err := m.find(ctx, env); err != nil {
		return "", err
	}
	id := m.was.Issue.ID
	c := newCase{name: "issue-" + id, about: "The run of issue " + id, commit: m.was.Run.BaseCommit, files: map[string]string{}}
	if m.Step != "" || m.Attempt != 0 {
		err = m.fromStep(ctx, &c)
	} else {
		err = m.fromRun(ctx, &c)
	}
	if err != nil {
		return "", err
	}
	return c.write(suite, m.top.dir)
}

// find reads the run and finds its commits. What only origin has is fetched, as anybody
// would fetch it.
func (m *harvester) find(ctx context.Context, env environ.Env) (err error) {
	kept := workspace.KeptRef(m.Run)
	if m.was, err = workspace.Look(ctx, env, m.Repo, m.Run); errors.As(err, new(*workspace.NoRunError)) && m.fetch(ctx, kept, kept) == nil {
		m.was, err = workspace.Look(ctx, env, m.Repo, m.Run)
	}
	if err != nil {
		return err
	}
	branch := env.Branch(m.was.Issue.ID)
	here, there := "refs/heads/"+branch, "refs/remotes/origin/"+branch
	if !m.was.Gone && !m.has(ctx, here) {
		if err := m.fetch(ctx, here, there); err != nil && !m.has(ctx, there) {
			return fmt.Errorf("the commits of the run are not in this repository: %w", err)
		}
		here = there
	}
	m.refs = slices.DeleteFunc([]string{here, kept}, func(ref string) bool { return !m.has(ctx, ref) })
	name := m.was.Source.DefaultBranch
	for _, ref := range []string{"refs/heads/" + name, "refs/remotes/origin/" + name} {
		if name != "" && m.has(ctx, ref) && (m.main == "" || m.holds(ctx, ref, m.main)) {
			m.main = ref
		}
	}
	return nil
}

// has reports whether there is a commit of that name.
func (m *harvester) has(ctx context.Context, ref string) bool {
	_, err := m.top.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	return err == nil
}

// holds reports whether a commit has another one in its history.
func (m *harvester) holds(ctx context.Context, commit, older string) bool {
	_, err := m.top.git(ctx, "merge-base", "--is-ancestor", older, commit)
	return err == nil
}

// ofRun reports whether a commit is in the history of the run.
func (m *harvester) ofRun(ctx context.Context, commit string) bool {
	return slices.ContainsFunc(m.refs, func(ref string) bool { return m.holds(ctx, ref, commit) })
}

func (m *harvester) fetch(ctx context.Context, ref, into string) error {
	_, err := m.top.git(ctx, "fetch", "--quiet", "--no-tags", "origin", "+"+ref+":"+into)
	return err
}

// recordOf names a commit with a record, in the message of a commit.
var recordOf = regexp.MustCompile(`(?m)^` + git.RecordTrailer + `: ([0-9a-f]{40,64})\s*$`)

// change gives the commits between which the pull request of the run lies: as it was
// merged, with what people have added, which is found by the trailer of its last commit;
// else as its branch has it.
func (m *harvester) change(ctx context.Context) (from, to string, err error) {
	from, to = m.was.Run.BaseCommit, m.refs[0]
	if m.main == "" {
		return from, to, nil
	}
	log, err := m.top.git(ctx, "log", "-z", "--format=%H %B", "--grep=^"+git.RecordTrailer+": ", from+".."+m.main)
	if err != nil {
		return "", "", err
	}
	arrived := ""
	for entry := range strings.SplitSeq(log, "\x00") {
		hash, message, _ := strings.Cut(entry, " ")
		for _, named := range recordOf.FindAllStringSubmatch(message, -1) {
			if m.ofRun(ctx, named[1]) {
				arrived = hash
			}
		}
	}
	if arrived == "" {
		return from, to, nil
	}
	out, err := m.top.git(ctx, "rev-list", "--first-parent", "--reverse", from+".."+m.main)
	if err != nil {
		return "", "", err
	}
	chain := strings.Fields(out)
	merged := chain[sort.Search(len(chain)-1, func(i int) bool { return m.holds(ctx, chain[i], arrived) })]
	if m.ofRun(ctx, merged+"^") { // its own commits are those of the default branch
		return from, merged, nil
	}
	return merged + "^", merged, nil
}

// fromRun makes a case of the whole run: it begins where the run began, and its hidden files are
// the tests that its pull request changed, as the default branch has them now or, if it
// does not have them, as the pull request left them.
func (m *harvester) fromRun(ctx context.Context, c *newCase) error {
	from, to, err := m.change(ctx)
	if err != nil {
		return err
	}
	changed, err := m.top.git(ctx, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--diff-filter=AM", "-z", from, to)
	if err != nil {
		return err
	}
	code := 0
	for name := range strings.SplitSeq(changed, "\x00") {
		switch {
		case name == "" || strings.HasPrefix(name, ".reprise/"):
			continue
		case !isTest(name):
			code++
			continue
		}
		now, err := m.top.git(ctx, "show", m.main+":"+name)
		if err != nil || m.main == "" {
			if now, err = m.top.git(ctx, "show", to+":"+name); err != nil {
				return err
			}
		}
		c.files["hidden/"+name] = now
	}
	if len(c.files) == 0 || code == 0 {
		return exit.Usagef("the run of issue %s changed %d tests and %d other files; a case takes both", m.was.Issue.ID, len(c.files), code)
	}
	for _, s := range m.was.Plan.Setup {
		c.setup = append(c.setup, ShellCommand{s.Name, s.Run, s.Timeout})
	}
	c.files["issue.md"] = string(m.was.Issue.Markdown())
	for _, p := range m.was.Plan.Phases {
		for _, check := range p.Checks {
			known := slices.ContainsFunc(c.checks, func(o ShellCommand) bool { return o.Name == check.Name })
			if !known && strings.Contains(check.Name+" "+check.Run, "test") {
				c.checks = append(c.checks, ShellCommand{check.Name, check.Run, check.Timeout})
			}
		}
	}
	if m.Check != "" {
		c.checks = []ShellCommand{{Name: "hidden", Run: m.Check}}
	}
	if len(c.checks) == 0 {
		return exit.Usagef("the pipeline of the run does not say how tests are run; say it with --check \"COMMAND\"")
	}
	return nil
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

// write writes the case into a suite, which is made if it is not there, and gives its folder.
func (c *newCase) write(suite, repository string) (string, error) {
	suite, err := filepath.Abs(suite)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(suite, strings.Trim(c.name[:min(40, len(c.name))], "-"))
	if _, err := os.Stat(dir); err == nil {
		return "", exit.Usagef("%s is there already; remove it, or name another suite", dir)
	}
	repo, err := filepath.Rel(dir, repository)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "description: %s\nrepo: %s\ncommit: %s\n", quote(c.about), quote(filepath.ToSlash(repo)), quote(c.commit))
	out.WriteString(c.review)
	for _, list := range []struct {
		name string
		of   []ShellCommand
	}{{"setup", c.setup}, {"checks", c.checks}} {
		if len(list.of) == 0 {
			continue
		}
		fmt.Fprintf(&out, "%s: [\n", list.name)
		for _, command := range list.of {
			fmt.Fprintf(&out, "\t{name: %s, run: %s},\n", quote(command.Name), quote(command.Run))
		}
		out.WriteString("]\n")
	}
	c.files[caseFile] = out.String()
	if _, err := os.Stat(filepath.Join(suite, suiteFile)); errors.Is(err, os.ErrNotExist) {
		c.files["../"+suiteFile] = "variants: {\n\tfix: {pipeline: \"fix\"}\n\tfeature: {pipeline: \"feature\"}\n}\n"
	}
	for name, content := range c.files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
			return "", exit.AsUsage(err)
		}
	}
	return dir, nil
}
