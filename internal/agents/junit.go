package agents

import (
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/failing"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/pipelines/protection"
)

// The most that is looked at after a check: names in its tree, files in the JUnit
// format, and bytes of one.
const (
	mostNames   = 200_000
	mostReports = 2_000
	mostReport  = 16 << 20
)

// readJUnit takes the names of tests from the files that patterns name, and from
// those of Maven and Gradle. A program of somebody else has written them: what
// cannot be read tells nothing.
func readJUnit(dir string, patterns []string, told *failing.Account) {
	patterns = append(slices.Clone(patterns), "surefire-reports/**", "failsafe-reports/**", "build/test-results/**")
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }() // opened for reading
	names, reports := 0, 0
	_ = folders.Walk(root, ".", func(name string, e fs.DirEntry, err error) error {
		names++
		switch {
		case err != nil:
			return nil
		case names > mostNames || reports > mostReports:
			return fs.SkipAll
		case e.IsDir() && (name == ".git" || e.Name() == "node_modules"):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".xml") || !protection.Matches(name, patterns):
			return nil
		}
		reports++
		f, info, err := folders.Open(root, name)
		if err != nil {
			return nil
		}
		defer func() { _ = f.Close() }() // opened for reading
		if info.Size() <= mostReport {
			told.JUnit(f)
		}
		return nil
	})
}
