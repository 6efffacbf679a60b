package setup

import (
	"regexp"

	"go.yaml.in/yaml/v3"
)

// Awaited gives the names below workflow_run in what starts a workflow. A pattern for several names is no name.
func (w WorkflowYAML) Awaited() (names []string) {
	var on struct {
		Run struct {
			Workflows oneOrMore `yaml:"workflows"`
		} `yaml:"workflow_run"`
	}
	if w.On.Kind != yaml.MappingNode || w.On.Decode(&on) != nil {
		return nil
	}
	for _, pattern := range on.Run.Workflows {
		if name := escaped.ReplaceAllString(pattern, "$1"); literally(name) == pattern {
			names = append(names, name)
		}
	}
	return names
}

// oneOrMore are texts of which one may stand without a list.
type oneOrMore []string

// UnmarshalYAML reads one text or a list of texts.
func (o *oneOrMore) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*o = oneOrMore{n.Value}
		return nil
	}
	return n.Decode((*[]string)(o))
}

// GitHub reads the names below workflow_run as patterns, although its documents do not
// say so: https://github.com/actions/runner/issues/854
var (
	special = regexp.MustCompile(`[\\*?+!\[\]]`)
	escaped = regexp.MustCompile(`\\(.)`)
)

// literally gives the pattern that is one name and no other.
func literally(name string) string { return special.ReplaceAllString(name, `\$0`) }
