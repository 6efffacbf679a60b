package workflow

import (
	"path/filepath"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/folders"
)

var onPush = regexp.MustCompile(`^(push|pull_request)$`)

// HasChecks reports whether a repository has a workflow that a push or a pull
// request would start.
func HasChecks(dir string) bool {
	files, err := filepath.Glob(filepath.Join(dir, ".github", "workflows", "*.y*ml"))
	if err != nil {
		return false // unreachable: the pattern is well formed
	}
	for _, f := range files {
		data, err := folders.ReadRegular(f, 1<<20)
		if err != nil {
			continue
		}
		var workflow struct {
			On yaml.Node `yaml:"on"`
		}
		if yaml.Unmarshal(data, &workflow) == nil && anyOn(&workflow.On) {
			return true
		}
	}
	return false
}

// anyOn looks for an event in what a workflow is started by: one name, a list
// of names, or names with settings.
func anyOn(on *yaml.Node) bool {
	switch on.Kind {
	case yaml.ScalarNode:
		return onPush.MatchString(on.Value)
	case yaml.SequenceNode:
		return slices.ContainsFunc(on.Content, anyOn)
	case yaml.MappingNode:
		for i := 0; i < len(on.Content); i += 2 {
			if anyOn(on.Content[i]) {
				return true
			}
		}
	}
	return false
}
