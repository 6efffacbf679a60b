// Package eval finds out how well pipelines, prompts and agents work: it has runs of
// known cases, judges them by checks that no agent sees, and compares.
package eval

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/rehearsal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
)

//go:embed schema.cue
var schema string

// The names of the files of a suite and of a case.
const (
	suiteFile = "suite.cue"
	caseFile  = "case.cue"
)

// maxFile is the most that a file of a suite may have, in bytes.
const maxFile = 1 << 20

// suite is cases and the ways to work on them.
type suite struct {
	Runs     int // of each case with each variant
	Variants []variant
	Cases    []Case

	dir string
}

// variant is a way to work. What it leaves empty is as in any run.
type variant struct {
	Name     string `json:"-"`
	Pipeline string `json:"pipeline,omitempty"` // a name, NAME/PRESET, or an absolute path
	Agent    string `json:"agent,omitempty"`
	Model    string `json:"model,omitempty"`
	Prompts  string `json:"prompts,omitempty"` // absolute path of a folder
	Language string `json:"language,omitempty"`
	Budget   struct {
		USD      float64            `json:"usd,omitzero"`
		Tokens   int64              `json:"tokens,omitzero"`
		Time     pipelines.Duration `json:"time,omitzero"`
		Attempts int                `json:"attempts,omitzero"`
	} `json:"budget,omitzero"`
}

// Case is an issue in a repository, and what has to come of it. Its paths are absolute.
type Case struct {
	Name     string
	Repo     string // a folder or an archive
	Commit   string // of a repository; "" for what is checked out
	Issue    string
	Mutation []mutation
	Hidden   string // a folder or an archive; "" for none
	Setup    []shellCommand
	Checks   []shellCommand // fail before the work, pass after it
	Still    []shellCommand // pass before and after
	Keeps    []string
	Expect   string  // CUE text
	Step     *stepOf // the case is this one step of the run that Commit is of; nil: a whole run
	Stubs    string

	dir string
	doc *source.Document
	// Of --review: the case whose work it is, and the defect in it; nil: none.
	of      string
	planted *mutation
}

// stepOf names the one step of a run that a case is about.
type stepOf struct {
	Phase string
	Step  metadata.Step
}

// String names the phase and the step.
func (s stepOf) String() string { return s.Phase + " " + string(s.Step) }

// shellCommand is for /bin/sh, at the top of the repository.
type shellCommand struct {
	Name    string             `json:"name"`
	Run     string             `json:"run"`
	Timeout pipelines.Duration `json:"timeout,omitzero"`
}

// usual is what a case expects that does not say it.
const usual = `{status: "success"}`

// readSuite reads the suite in a folder, and checks the pipelines that are files of it.
// All mistakes come back together, as pipelines.Mistakes.
func readSuite(ctx context.Context, dir string) (*suite, error) {
	s := &suite{dir: dir, Runs: 1}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, exit.Usagef("%s is not a folder; a suite is a folder with %s and a folder for each case", dir, suiteFile)
	}
	var found pipelines.Mistakes
	if err := s.read(&found); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		folder := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(folder, caseFile)); err != nil {
			continue // it holds what cases share
		}
		c, err := readCase(folder)
		if err := gather(&found, err); err != nil {
			return nil, err
		}
		s.Cases = append(s.Cases, c)
	}
	if len(s.Cases) == 0 {
		found = append(found, pipelines.Mistake{File: dir, Message: "there is no case; each is a folder with " + caseFile})
	}
	wrong, err := s.vet(ctx)
	if err := append(found, wrong...).OrNil(); err != nil {
		return nil, err
	}
	return s, err
}

// document reads a file of a suite. What is right is there also beside mistakes, which are
// added to those that were found, unless the document is nil.
func document(file, definition string, found *pipelines.Mistakes) (*source.Document, error) {
	data, err := folders.ReadRegular(file, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		*found = append(*found, pipelines.Mistake{File: file, Message: "there is no such file; a suite has one, if only an empty one"})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	doc, err := source.ReadDocument(file, data, schema, definition)
	return doc, gather(found, err)
}

// read reads what a suite says besides its cases.
func (s *suite) read(found *pipelines.Mistakes) error {
	doc, err := document(filepath.Join(s.dir, suiteFile), "#Suite", found)
	if doc == nil || err != nil {
		return err
	}
	var said struct {
		Runs     int
		Variants map[string]variant
	}
	if err := doc.Decode(&said); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(s.dir, suiteFile), err)
	}
	s.Runs = cmp.Or(said.Runs, 1)
	for name, v := range said.Variants {
		v.Name = name
		if v.Prompts != "" {
			v.Prompts = absolute(s.dir, v.Prompts)
			if info, err := os.Stat(v.Prompts); err != nil || !info.IsDir() {
				doc.Wrong([]any{"variants", name, "prompts"}, "there is no folder %s", v.Prompts)
			}
		}
		if workspace.IsPath(v.Pipeline) {
			v.Pipeline = absolute(s.dir, v.Pipeline)
			if _, err := os.Stat(v.Pipeline); err != nil {
				doc.Wrong([]any{"variants", name, "pipeline"}, "there is no file %s", v.Pipeline)
			}
		}
		if strings.HasPrefix(v.Agent, "-") || strings.HasPrefix(v.Model, "-") || strings.HasPrefix(v.Pipeline, "-") {
			doc.Wrong([]any{"variants", name}, "a name begins with a hyphen, as an option does")
		}
		s.Variants = append(s.Variants, v)
	}
	if len(s.Variants) == 0 {
		s.Variants = []variant{{Name: "default"}}
	}
	slices.SortFunc(s.Variants, func(a, b variant) int { return strings.Compare(a.Name, b.Name) })
	return gather(found, doc.Mistakes())
}

// vet checks the pipelines that are files of the suite.
func (s *suite) vet(ctx context.Context) (pipelines.Mistakes, error) {
	var files []string
	for _, v := range s.Variants {
		if _, err := os.Stat(v.Pipeline); workspace.IsPath(v.Pipeline) && err == nil && !slices.Contains(files, v.Pipeline) {
			files = append(files, v.Pipeline)
		}
	}
	if len(files) == 0 {
		return nil, nil // without names all pipelines would be checked
	}
	found, _, err := workspace.Vetted(ctx, nil, files)
	return found, err
}

// absolute makes a path absolute that counts from a folder.
func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	full, err := filepath.Abs(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return filepath.Join(dir, name) // the working folder is gone: it is said where it is used
	}
	return full
}

// choose leaves only the variants and cases of these names; without names, all.
func (s *suite) choose(variants, cases []string) (err error) {
	if s.Variants, err = chosen("variant", s.Variants, variants, func(v variant) string { return v.Name }); err != nil {
		return err
	}
	s.Cases, err = chosen("case", s.Cases, cases, func(c Case) string { return c.Name })
	return err
}

// chosen gives those of the names, in their order.
func chosen[T any](what string, all []T, names []string, nameOf func(T) string) (out []T, err error) {
	if len(names) == 0 {
		return all, nil
	}
	var wrong []error
	for i, name := range names {
		at := slices.IndexFunc(all, func(one T) bool { return nameOf(one) == name })
		switch {
		case at < 0:
			var known []string
			for _, one := range all {
				known = append(known, nameOf(one))
			}
			wrong = append(wrong, fmt.Errorf("there is no %s %q; the suite has %s", what, name, strings.Join(known, ", ")))
		case !slices.Contains(names[:i], name):
			out = append(out, all[at])
		}
	}
	return out, exit.AsUsage(errors.Join(wrong...))
}

// caseName is what a folder of a case may be called: it becomes the id of its issue.
var caseName = text.Pattern(`^[a-z0-9][a-z0-9-]{0,39}$`)

// readCase reads a case in its folder. Its mistakes are pipelines.Mistakes.
func readCase(dir string) (Case, error) {
	c := Case{Name: filepath.Base(dir), dir: dir}
	file := filepath.Join(dir, caseFile)
	var found pipelines.Mistakes
	doc, err := document(file, "#Case", &found)
	if doc == nil || err != nil {
		return c, cmp.Or(err, found.OrNil())
	}
	c.doc = doc
	if err := doc.Decode(&c); err != nil {
		return c, fmt.Errorf("%s: %w", file, err)
	}
	if !caseName().MatchString(c.Name) {
		doc.Wrong(nil, "the folder is called %q; a case has a name of small letters, digits and -, at most 40", c.Name)
	}
	if !doc.Wrote("checks") && !doc.Wrote("still") && !doc.Wrote("expect") {
		doc.Wrong(nil, "nothing is expected, so that any run would do; give checks, still or expect")
	}
	if c.Expect == "" && c.Step == nil {
		c.Expect = usual
	}
	c.Expect = cmp.Or(c.Expect, "_")
	c.files(doc)
	c.twice(doc)
	err = errors.Join(gather(&found, c.stubs(doc)), gather(&found, doc.Mistakes()))
	return c, cmp.Or(err, found.OrNil())
}

// gather adds the mistakes that an error is about to those that were found, and gives any
// other error.
func gather(found *pipelines.Mistakes, err error) error {
	wrong := pipelines.Mistakes(nil)
	if !errors.As(err, &wrong) {
		return err
	}
	*found = append(*found, wrong...)
	return nil
}

// files makes paths absolute and notes those that lead nowhere.
func (c *Case) files(doc *source.Document) {
	usualHidden := c.Hidden == ""
	c.Repo, c.Issue, c.Hidden = absolute(c.dir, cmp.Or(c.Repo, "repo")), absolute(c.dir, cmp.Or(c.Issue, "issue.md")), absolute(c.dir, cmp.Or(c.Hidden, "hidden"))
	if info, err := os.Stat(c.Repo); err != nil || !info.IsDir() && !isArchive(c.Repo) {
		doc.Wrong([]any{"repo"}, "%s is no folder and no %s", c.Repo, archiveEnding)
	} else if c.Commit != "" && !isRepository(c.Repo) {
		doc.Wrong([]any{"commit"}, "%s is no git repository, so it has no commits", c.Repo)
	}
	if c.Step != nil && c.Commit == "" {
		doc.Wrong([]any{"step"}, "of which state of a run? Give the commit of its branch that comes before the step")
	}
	if _, err := issue.ReadFile(c.Issue, nil); err != nil && c.Step == nil {
		doc.Wrong([]any{"issue"}, "%v", err)
	}
	switch info, err := os.Stat(c.Hidden); {
	case err != nil && usualHidden:
		c.Hidden = ""
	case err != nil || !info.IsDir() && !isArchive(c.Hidden):
		doc.Wrong([]any{"hidden"}, "%s is no folder and no %s", c.Hidden, archiveEnding)
	case !doc.Wrote("checks") && !doc.Wrote("still"):
		doc.Wrong([]any{"hidden"}, "nothing looks at the hidden files; give checks or still that do")
	}
	for i, m := range c.Mutation {
		if !filepath.IsLocal(filepath.FromSlash(m.File)) {
			doc.Wrong([]any{"mutation", i, "file"}, "%q is not a path in the repository", m.File)
		}
	}
	for i, p := range c.Keeps {
		if why := pipelines.BadPattern(p); why != "" {
			doc.Wrong([]any{"keeps", i}, "%q %s", p, why)
		}
	}
}

// commands are those of one field of a case.
type commands struct {
	name string
	of   []shellCommand
}

// lists are the commands of a case in the order in which they are run.
func (c Case) lists() []commands {
	return []commands{{"setup", c.Setup}, {"checks", c.Checks}, {"still", c.Still}}
}

// twice notes names of commands that are given twice.
func (c *Case) twice(doc *source.Document) {
	seen := map[string]bool{}
	for _, list := range c.lists() {
		for i, command := range list.of {
			if seen[command.Name] {
				doc.Wrong([]any{list.name, i, "name"}, "%q is already the name of another command", command.Name)
			}
			seen[command.Name] = true
		}
	}
}

// stubs checks the scripted answers.
func (c *Case) stubs(doc *source.Document) error {
	if c.Stubs == "" {
		return nil
	}
	c.Stubs = absolute(c.dir, c.Stubs)
	if _, err := os.Stat(c.Stubs); err != nil {
		doc.Wrong([]any{"stubs"}, "there is no file %s", c.Stubs)
		return nil
	}
	_, err := rehearsal.ReadStubs(c.Stubs)
	return err
}
