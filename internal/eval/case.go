package eval

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/rehearsal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
)

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
	c.commands(doc)
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

// commands notes names that are given twice.
func (c *Case) commands(doc *source.Document) {
	seen := map[string]bool{}
	for _, list := range []struct {
		name string
		of   []ShellCommand
	}{{"setup", c.Setup}, {"checks", c.Checks}, {"still", c.Still}} {
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
