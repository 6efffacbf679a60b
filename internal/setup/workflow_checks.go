package setup

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/environ"
)

// Folder is where GitHub finds workflows, from the top of a repository.
const WorkflowsFolder = ".github/workflows"

// HasChecks reports whether a repository has a workflow that a push or a pull
// request would start.
func HasChecks(dir string) bool {
	return len(Checking(os.DirFS(filepath.Join(dir, WorkflowsFolder)))) > 0
}

// Checking gives the names of the workflows in a folder that a push to a branch or a pull request would start, each
// once. As on GitHub, one without a name has that of its file.
func Checking(folder fs.FS) (names []string) {
	for _, w := range startedByWork(folder) {
		if name := cmp.Or(w.Name, w.file); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// anyOn looks for an event in what a workflow is started by: one name, a list
// of names, or names with settings.
func anyOn(on *yaml.Node) bool {
	switch on.Kind {
	case yaml.ScalarNode:
		return on.Value == "push" || on.Value == "pull_request"
	case yaml.SequenceNode:
		return slices.ContainsFunc(on.Content, anyOn)
	case yaml.MappingNode:
		for i := 0; i+1 < len(on.Content); i += 2 {
			if event := on.Content[i]; anyOn(event) && (event.Value != "push" || onWork(on.Content[i+1])) {
				return true
			}
		}
	}
	return false
}

// onWork reports whether a push to a branch that somebody works on can start what has these filters: not where they
// name tags alone, or nothing but certain branches.
func onWork(push *yaml.Node) bool {
	var f struct {
		Branches oneOrMore `yaml:"branches"`
		Ignored  oneOrMore `yaml:"branches-ignore"`
		Tags     oneOrMore `yaml:"tags"`
		NoTags   oneOrMore `yaml:"tags-ignore"`
	}
	if push.Kind != yaml.MappingNode || push.Decode(&f) != nil {
		return true
	}
	if len(f.Branches) > 0 {
		return slices.ContainsFunc(f.Branches, func(b string) bool {
			return special.MatchString(b) || strings.HasPrefix(b, environ.BranchPrefix)
		})
	}
	return len(f.Ignored) > 0 || len(f.Tags)+len(f.NoTags) == 0
}
