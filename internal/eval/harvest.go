package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/setup"
)

// harvester makes a case of a run that happened.
type harvester struct {
	Repo    string // any folder of the repository
	Run     string // id of its issue
	Step    string // PHASE/STEP: only its last call, as a step case; empty: the whole run
	Attempt int    // by its number: only this call, as a step case; 0: none is named
	Check   string // command that runs the tests; empty: as the pipeline or the repository has it

	top   repository
	setup []ShellCommand
	check []ShellCommand // fail before the work
	still []ShellCommand // do not
}

// oneCall reports whether the case is one call of the run.
func (m *harvester) oneCall() bool { return m.Step != "" || m.Attempt != 0 }

// harvested is a case that is to be written.
type harvested struct {
	name, about, commit, issue string
	tests                      map[string]string // by path
	step, expect               string            // CUE; of a step case
}

// make makes the case in a suite, which need not be there, and gives its folder.
func (m *harvester) make(ctx context.Context, env environ.Env, suite string) (string, error) {
	top, err := repository{dir: m.Repo, environ: env.Environ}.git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", exit.AsUsage(err)
	}
	if suite, err = filepath.Abs(suite); err != nil {
		return "", err
	}
	m.top = repository{dir: strings.TrimSuffix(top, "\n"), environ: env.Environ}
	c, err := m.fromRun(ctx, env)
	if err != nil {
		return "", err
	}
	if !m.oneCall() {
		if err := m.findChecks(); err != nil {
			return "", err
		}
	}
	return m.write(c, suite)
}

// fromRun makes a case of a run: it begins where the run began, and its hidden files are
// the tests that its pull request changed, as the default branch has them now or, if it
// does not have them, as the pull request left them.
func (m *harvester) fromRun(ctx context.Context, env environ.Env) (harvested, error) {
	r, err := m.find(ctx, env)
	if err != nil {
		return harvested{}, err
	}
	if m.oneCall() {
		return m.fromStep(ctx, r)
	}
	for _, p := range r.Plan.Phases {
		for _, c := range p.Checks {
			if !slices.ContainsFunc(m.check, func(o ShellCommand) bool { return o.Name == c.Name }) {
				m.check = append(m.check, ShellCommand{c.Name, c.Run, c.Timeout})
			}
		}
	}
	for _, s := range r.Plan.Setup {
		m.setup = append(m.setup, ShellCommand{s.Name, s.Run, s.Timeout})
	}
	work, err := m.ends(ctx, r)
	if err != nil {
		return harvested{}, err
	}
	tests, code, err := m.changed(ctx, work.from, work.to)
	if err != nil {
		return harvested{}, err
	}
	if len(tests) == 0 || len(code) == 0 {
		return harvested{}, exit.Usagef("the run of issue %s changed %d tests and %d other files; a case takes both", r.Issue.ID, len(tests), len(code))
	}
	out := harvested{
		name: slug("issue-" + r.Issue.ID), about: "The run of issue " + r.Issue.ID, commit: r.Run.BaseCommit,
		issue: string(r.Issue.Markdown()), tests: map[string]string{},
	}
	for _, name := range tests {
		text, err := m.top.git(ctx, "show", r.main+":"+name)
		if err != nil || r.main == "" {
			if text, err = m.top.git(ctx, "show", work.to+":"+name); err != nil {
				return out, err
			}
		}
		out.tests[name] = text
	}
	return out, nil
}

// changed lists the tests and the other files that differ between two commits and are
// there in the second, besides those of reprise.
func (m *harvester) changed(ctx context.Context, from, to string) (tests, code []string, err error) {
	out, err := m.top.git(ctx, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--diff-filter=AM", "-z", from, to)
	if err != nil {
		return nil, nil, err
	}
	for name := range strings.SplitSeq(out, "\x00") {
		switch {
		case name == "" || strings.HasPrefix(name, ".reprise/"):
		case isTest(name):
			tests = append(tests, name)
		default:
			code = append(code, name)
		}
	}
	return tests, code, nil
}

// isTest reports whether a file is one of the tests, by what tests are usually called.
func isTest(name string) bool {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if slices.Contains([]string{"test", "tests", "__tests__", "spec", "specs", "testdata"}, part) {
			return true
		}
	}
	base, _, _ := strings.Cut(path.Base(name), ".")
	middle := strings.Split(path.Base(name), ".")
	return strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test") || strings.HasSuffix(base, "_spec") ||
		strings.HasSuffix(base, "Test") || strings.HasSuffix(base, "Tests") ||
		len(middle) > 2 && slices.ContainsFunc(middle[1:len(middle)-1], func(s string) bool { return s == "test" || s == "spec" })
}

// findChecks decides which commands run the tests: those that a person names, else those
// of the run's pipeline, else those that the repository is known by.
func (m *harvester) findChecks() error {
	if m.Check != "" {
		m.check = []ShellCommand{{Name: "hidden", Run: m.Check}}
		return nil
	}
	if len(m.check) == 0 {
		root, err := os.OpenRoot(m.top.dir)
		if err != nil {
			return err
		}
		defer func() { _ = root.Close() }() // opened for reading
		found := setup.Detect(root.FS())
		for _, c := range found.Checks {
			m.check = append(m.check, ShellCommand{Name: c.Name, Run: c.Run})
		}
		for _, c := range found.Setup {
			m.setup = append(m.setup, ShellCommand{Name: c.Name, Run: c.Run})
		}
	}
	m.check = slices.DeleteFunc(m.check, func(c ShellCommand) bool { return !strings.Contains(c.Name+" "+c.Run, "test") })
	if len(m.check) == 0 {
		return exit.Usagef("it is not known how the tests of %s are run; say it with --check \"COMMAND\"", m.top.dir)
	}
	return nil
}

// slug makes the name of a case.
func slug(text string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(text) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			out.WriteRune(r)
		} else if out.Len() > 0 && !strings.HasSuffix(out.String(), "-") {
			out.WriteByte('-')
		}
	}
	return strings.Trim(out.String()[:min(40, out.Len())], "-")
}

// write writes the case into a suite, which is made if it is not there.
func (m *harvester) write(c harvested, suite string) (string, error) {
	dir := filepath.Join(suite, c.name)
	if _, err := os.Stat(dir); err == nil {
		return "", exit.Usagef("%s is there already; remove it, or name another suite", dir)
	}
	if err := os.MkdirAll(suite, 0o755); err != nil {
		return "", exit.AsUsage(err)
	}
	file := filepath.Join(suite, suiteFile)
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(file, []byte("variants: {\n\tfix: {pipeline: \"fix\"}\n\tfeature: {pipeline: \"feature\"}\n}\n"), 0o644); err != nil {
			return "", err
		}
	}
	return dir, m.writeCase(c, dir)
}

// writeCase writes the case as a whole, or not at all.
func (m *harvester) writeCase(c harvested, dir string) error {
	repo, err := filepath.Rel(dir, m.top.dir)
	if err != nil {
		return err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "description: %s\nrepo: %s\ncommit: %s\n", quote(c.about), quote(filepath.ToSlash(repo)), quote(c.commit))
	if c.step != "" {
		fmt.Fprintf(&out, "step: %s\n", c.step)
	}
	switch {
	case c.expect != "":
		fmt.Fprintf(&out, "expect: %s\n", c.expect)
	case c.step != "" && len(m.check) == 0:
		out.WriteString("// What has to be true of this call only people can say: give expect, or checks that pass after it.\n")
	}
	for _, list := range []struct {
		name string
		of   []ShellCommand
	}{{"setup", m.setup}, {"checks", m.check}, {"still", m.still}} {
		if len(list.of) == 0 {
			continue
		}
		fmt.Fprintf(&out, "%s: [\n", list.name)
		for _, command := range list.of {
			fmt.Fprintf(&out, "\t{name: %s, run: %s},\n", quote(command.Name), quote(command.Run))
		}
		out.WriteString("]\n")
	}
	making := dir + ".making"
	if err := folders.RemoveAll(making); err != nil {
		return err
	}
	files := map[string]string{caseFile: out.String()}
	if c.step == "" {
		files["issue.md"] = c.issue
	}
	for name, content := range c.tests {
		files["hidden/"+name] = content
	}
	for name, content := range files {
		file := filepath.Join(making, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
			return err
		}
	}
	return os.Rename(making, dir)
}
