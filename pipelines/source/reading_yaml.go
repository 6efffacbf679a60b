package source

import (
	"errors"
	"io"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/pipelines"
)

// misread gives the mistake that keeps a text from being YAML; false if it is YAML. Its line is the first
// up to which the reader comes to the same end as with the whole text.
func misread(name, text string) (pipelines.Mistake, bool) {
	wrong := syntaxError(text)
	if wrong == "" {
		return pipelines.Mistake{}, false
	}
	lines := strings.SplitAfter(text, "\n")
	n := sort.Search(len(lines)-1, func(i int) bool { return syntaxError(strings.Join(lines[:i+1], "")) == wrong })
	line := strings.TrimRight(lines[n], "\n")
	column := len(line) - len(strings.TrimLeft(line, " \t")) + 1
	message := wrong
	if place, rest, ok := strings.Cut(wrong, ": "); ok && strings.HasPrefix(place, "line ") {
		message = rest
	}
	return pipelines.Mistake{File: name, Line: n + 1, Column: column, Message: pipelines.OneLine(message) + yamlHint(message, line)}, true
}

// syntaxError is what the reader of YAML says of a text; "" if nothing.
func syntaxError(text string) string {
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var n yaml.Node
		switch err := d.Decode(&n); {
		case errors.Is(err, io.EOF):
			return ""
		case err != nil:
			return strings.TrimPrefix(err.Error(), "yaml: ")
		}
	}
}

// yamlHint says in plain words what is mostly behind a message of the reader.
func yamlHint(message, line string) string {
	switch {
	case strings.HasPrefix(strings.TrimLeft(line, " "), "\t"):
		return "; YAML is indented with spaces, not with tabs"
	case strings.Contains(line, ": >"):
		return "; a comparison is CUE, so write the condition as one text, such as when: 'diff: lines: >20'"
	case strings.Contains(message, "did not find expected key"), strings.Contains(message, "expected '-' indicator"), strings.Contains(message, "<document start>"):
		return "; is this line indented like those that it belongs to?"
	case strings.Contains(message, "mapping values are not allowed"):
		return "; is this line indented too far, or a text with a colon in it not in quotes?"
	case strings.Contains(message, "could not find expected ':'"):
		return "; expected name: value"
	}
	return ""
}
