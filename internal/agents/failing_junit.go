package agents

import (
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/pipelines"
)

// The most that is looked at after a check: names in its tree, files in the JUnit
// format, and bytes of one.
const (
	mostNames   = 200_000
	mostReports = 2_000
	mostReport  = 16 << 20
)

// JUnitIn takes the names of tests from the files below dir that patterns name, and from those of Maven and Gradle.
// What cannot be read tells nothing.
func (a *Account) JUnitIn(dir string, patterns []string) {
	patterns = append(slices.Clone(patterns), "surefire-reports/**", "failsafe-reports/**", "build/test-results/**")
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }() // opened for reading
	names, reports, ran, failed := 0, 0, a.ran, a.failed
	_ = folders.Walk(root, ".", func(name string, e fs.DirEntry, err error) error {
		names++
		switch {
		case err != nil:
			return nil
		case names > mostNames || reports > mostReports:
			return fs.SkipAll
		case e.IsDir() && (name == ".git" || e.Name() == "node_modules"):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".xml") || !pipelines.MatchesPath(name, patterns):
			return nil
		}
		reports++
		f, info, err := folders.Open(root, name)
		if err != nil {
			return nil
		}
		defer func() { _ = f.Close() }() // opened for reading
		if info.Size() <= mostReport {
			a.JUnit(f)
		}
		return nil
	})
	if ran > 0 { // it has printed as many, too
		a.ran, a.failed = ran, failed
	}
}

// JUnit takes a file in the format of JUnit, once the check has printed all. What is in
// another form is left out.
func (a *Account) JUnit(file io.Reader) {
	a.addUnended()
	d := xml.NewDecoder(file)
	d.Strict = false
	suite, name, told := "", "", false
	for {
		token, err := d.Token()
		if err != nil {
			if syntax := (*xml.SyntaxError)(nil); suite != "" && errors.As(err, &syntax) {
				a.add(suite + " [cut off]") // by a crash
			}
			return
		}
		if end, is := token.(xml.EndElement); is && end.Name.Local == "testcase" {
			name = ""
		}
		start, is := token.(xml.StartElement)
		switch {
		case !is:
		case start.Name.Local == "testsuite":
			suite, name = attribute(start, "name"), ""
		case start.Name.Local == "testcase":
			name, told = strings.TrimPrefix(attribute(start, "classname")+" "+attribute(start, "name"), " "), false
			a.ran++
		case start.Name.Local == "failure" || start.Name.Local == "error":
			if name == "" { // outside of a test
				name = strings.TrimSpace(suite + " [" + start.Name.Local + "]")
			}
			if !told {
				a.failed++
			}
			a.add(name)
			told = true // once is enough
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
