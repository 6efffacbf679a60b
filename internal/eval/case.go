package eval

import (
	"cmp"
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
	"sync"

	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/rehearsal"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// caseName is what a folder of a case may be called: it becomes the id of its issue.
var caseName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`) })

// readCase reads a case in its folder. Its mistakes are mistake.Errors.
func readCase(dir string) (Case, error) {
	c := Case{Name: filepath.Base(dir), dir: dir}
	file := filepath.Join(dir, caseFile)
	doc, err := document(file, "#Case")
	found := mistakes(nil)
	if wrong := pipelines.Mistakes(nil); errors.As(err, &wrong) {
		found = mistakes(wrong)
	} else if err != nil {
		return c, err
	}
	if doc == nil {
		return c, found.orNil()
	}
	c.doc = doc
	if err := json.Unmarshal(doc.JSON(), &c); err != nil {
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
	found = append(found, mistakesIn(c.stubs(doc))...)
	return c, append(found, mistakesIn(doc.Mistakes())...).orNil()
}

// mistakes are those of several files.
type mistakes pipelines.Mistakes

func (m mistakes) orNil() error {
	if len(m) == 0 {
		return nil
	}
	return pipelines.Mistakes(m)
}

// sorted gives them in the order of the files, or nil.
func (m mistakes) sorted() error {
	slices.SortStableFunc(m, func(a, b pipelines.Mistake) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Message, b.Message))
	})
	return m.orNil()
}

// mistakesIn gives the mistakes that an error is about.
func mistakesIn(err error) mistakes {
	var found pipelines.Mistakes
	if err != nil && !errors.As(err, &found) {
		found = pipelines.Mistakes{{Message: err.Error()}}
	}
	return mistakes(found)
}

// files makes paths absolute and notes those that lead nowhere.
func (c *Case) files(doc *source.Document) {
	usualHidden := c.Hidden == ""
	c.Repo, c.Issue, c.Hidden = c.at(cmp.Or(c.Repo, "repo")), c.at(cmp.Or(c.Issue, "issue.md")), c.at(cmp.Or(c.Hidden, "hidden"))
	if info, err := os.Stat(c.Repo); err != nil {
		doc.Wrong([]any{"repo"}, "there is no %s, which would be the repository", c.Repo)
	} else if c.Commit != "" && info.IsDir() && !isRepository(c.Repo) || c.Commit != "" && isArchive(c.Repo) {
		doc.Wrong([]any{"commit"}, "%s is no git repository, so it has no commits", c.Repo)
	}
	if c.Step != nil && c.Commit == "" {
		doc.Wrong([]any{"step"}, "of which state of a run? Give the commit of its branch that comes before the step")
	}
	if _, err := issue.ReadFile(c.Issue); err != nil && c.Step == nil {
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
		if _, err := path.Match(strings.TrimSuffix(p, "/**"), ""); err != nil || !fs.ValidPath(p) {
			doc.Wrong([]any{"keeps", i}, "%q is no path or pattern from the top of the repository", p)
		}
	}
}

// at makes a path of the case absolute.
func (c *Case) at(name string) string { return absolute(c.dir, name) }

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
	c.Stubs = c.at(c.Stubs)
	if _, err := os.Stat(c.Stubs); err != nil {
		doc.Wrong([]any{"stubs"}, "there is no file %s", c.Stubs)
		return nil
	}
	_, err := rehearsal.ReadStubs(c.Stubs)
	return err
}

// kept reports whether a path is one that the work must leave as it is.
func (c *Case) kept(name string) bool {
	for _, pattern := range c.Keeps {
		folder, whole := strings.CutSuffix(pattern, "/**")
		if fits, _ := path.Match(pattern, name); fits || whole && strings.HasPrefix(name, folder+"/") { // it was checked when it was read
			return true
		}
	}
	return false
}
