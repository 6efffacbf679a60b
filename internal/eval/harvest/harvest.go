// Package harvest makes cases of what has happened in a repository: of runs, and of
// commits that change code and tests.
package harvest

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
	"github.com/reprise-ci/reprise/internal/eval/scratch"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/pipelines"
)

// The names of the files of a suite and of a case.
const (
	SuiteFile = "suite.cue"
	CaseFile  = "case.cue"
)

// Harvest says of what cases are made.
type Harvest struct {
	Repo    string // any folder of the repository
	Suite   string // folder; it need not be there
	Run     string // id of the issue of a run that happened; or
	Step    string // of that run, PHASE/STEP: only its last call, as a step case; empty: the whole run
	Attempt int    // of that run, by its number: only this call, as a step case; 0: none is named
	Commits int    // how many commits of the repository
	Check   string // command that runs the tests; empty: as the pipeline or the repository has it
}

// shellCommand is a command of a case, as its file has it.
type shellCommand struct {
	Name, Run string
	Timeout   pipelines.Duration
}

// harvester makes cases of a repository.
type harvester struct {
	Harvest
	top   scratch.ScratchRepository
	setup []shellCommand
	check []shellCommand // fail before the work
	still []shellCommand // do not
}

// oneCall reports whether a case is one call of a run.
func (h Harvest) oneCall() bool { return h.Step != "" || h.Attempt != 0 }

// harvested is a case that is to be written.
type harvested struct {
	name, about, commit, issue string
	tests                      map[string]string // by path
	step, expect               string            // CUE; of a step case
}

// Init makes cases of what has happened in a repository, and gives their folders.
func Init(ctx context.Context, env environ.Env, h Harvest) ([]string, error) {
	top, err := scratch.ScratchRepository{Dir: h.Repo, Environ: env.Environ}.Git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	if h.Suite, err = filepath.Abs(h.Suite); err != nil {
		return nil, err
	}
	m := &harvester{Harvest: h, top: scratch.ScratchRepository{Dir: strings.TrimSuffix(top, "\n"), Environ: env.Environ}}
	var all []harvested
	if h.Run != "" {
		one, err := m.fromRun(ctx, env)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	} else if all, err = m.fromCommits(ctx); err != nil {
		return nil, err
	}
	if !m.oneCall() {
		if err := m.findChecks(); err != nil {
			return nil, err
		}
	}
	return m.write(all)
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
			if !slices.ContainsFunc(m.check, func(o shellCommand) bool { return o.Name == c.Name }) {
				m.check = append(m.check, shellCommand{c.Name, c.Run, c.Timeout})
			}
		}
	}
	for _, s := range r.Plan.Setup {
		m.setup = append(m.setup, shellCommand{s.Name, s.Run, s.Timeout})
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
		text, err := m.top.Git(ctx, "show", r.main+":"+name)
		if err != nil || r.main == "" {
			if text, err = m.top.Git(ctx, "show", work.to+":"+name); err != nil {
				return out, err
			}
		}
		out.tests[name] = text
	}
	return out, nil
}

// fromCommits makes cases of the newest commits that change code and tests: the tests
// are hidden, and the message is the issue.
func (m *harvester) fromCommits(ctx context.Context) (all []harvested, err error) {
	log, err := m.top.Git(ctx, "log", "--first-parent", "--min-parents=1", "--max-parents=1", "-z", "--format=%H %P %B")
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	for entry := range strings.SplitSeq(log, "\x00") {
		commit, rest, _ := strings.Cut(entry, " ")
		parent, message, _ := strings.Cut(rest, " ")
		if len(all) == m.Commits || parent == "" {
			break
		}
		tests, code, err := m.changed(ctx, parent, commit)
		if err != nil {
			return nil, err
		}
		if len(tests) == 0 || len(code) == 0 {
			continue
		}
		title, body, _ := strings.Cut(strings.TrimSpace(message), "\n")
		one := harvested{
			name: slug(commit[:8] + "-" + title), about: "Commit " + commit[:12], commit: parent,
			issue: "# " + title + "\n\n" + strings.TrimSpace(body) + "\n", tests: map[string]string{},
		}
		for _, name := range tests {
			if one.tests[name], err = m.top.Git(ctx, "show", commit+":"+name); err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, exit.Usagef("no commit of %s changes code and tests; nothing was written", m.top.Dir)
	}
	return all, nil
}

// changed lists the tests and the other files that differ between two commits and are
// there in the second, besides those of reprise.
func (m *harvester) changed(ctx context.Context, from, to string) (tests, code []string, err error) {
	out, err := m.top.Git(ctx, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--diff-filter=AM", "-z", from, to)
	if err != nil {
		return nil, nil, err
	}
	for name := range strings.SplitSeq(out, "\x00") {
		switch {
		case name == "" || strings.HasPrefix(name, ".reprise/"):
		case IsTest(name):
			tests = append(tests, name)
		default:
			code = append(code, name)
		}
	}
	return tests, code, nil
}

// IsTest reports whether a file is one of the tests, by what tests are usually called.
func IsTest(name string) bool {
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
		m.check = []shellCommand{{Name: "hidden", Run: m.Check}}
		return nil
	}
	if len(m.check) == 0 {
		root, err := os.OpenRoot(m.top.Dir)
		if err != nil {
			return err
		}
		defer func() { _ = root.Close() }() // opened for reading
		found := setup.Detect(root.FS())
		for _, c := range found.Checks {
			m.check = append(m.check, shellCommand{Name: c.Name, Run: c.Run})
		}
		for _, c := range found.Setup {
			m.setup = append(m.setup, shellCommand{Name: c.Name, Run: c.Run})
		}
	}
	m.check = slices.DeleteFunc(m.check, func(c shellCommand) bool { return !strings.Contains(c.Name+" "+c.Run, "test") })
	if len(m.check) == 0 {
		return exit.Usagef("it is not known how the tests of %s are run; say it with --check \"COMMAND\"", m.top.Dir)
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

// write writes the cases, each as a whole, and the file of the suite if there is none.
func (m *harvester) write(all []harvested) (made []string, err error) {
	for _, c := range all {
		if _, err := os.Stat(filepath.Join(m.Suite, c.name)); err == nil {
			return nil, exit.Usagef("%s is there already; remove it, or name another suite", filepath.Join(m.Suite, c.name))
		}
	}
	if err := os.MkdirAll(m.Suite, 0o755); err != nil {
		return nil, exit.AsUsage(err)
	}
	file := filepath.Join(m.Suite, SuiteFile)
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(file, []byte("variants: {\n\tfix: {pipeline: \"fix\"}\n\tfeature: {pipeline: \"feature\"}\n}\n"), 0o644); err != nil {
			return nil, err
		}
	}
	for _, c := range all {
		dir := filepath.Join(m.Suite, c.name)
		if err := m.writeCase(c, dir); err != nil {
			return made, err
		}
		made = append(made, dir)
	}
	return made, nil
}

func (m *harvester) writeCase(c harvested, dir string) error {
	repo, err := filepath.Rel(dir, m.top.Dir)
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
		of   []shellCommand
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
	files := map[string]string{CaseFile: out.String()}
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
