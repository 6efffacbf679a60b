package source

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/pipelines"
)

// badRequest says why a report cannot ask for what its fields say, or "".
func badRequest(report json.RawMessage) string {
	var s Schema
	if json.Unmarshal(report, &s) != nil {
		return "" // there is no report
	}
	var wrong []string
	if children, there := s.Properties["children"]; there && !children.asksForIssues() {
		wrong = append(wrong, badChildren)
	}
	if decision, there := s.Properties["decision"]; there && !decision.decides() {
		wrong = append(wrong, badDecision)
	}
	return strings.Join(wrong, "; ")
}

// What makes issues, or lets a run go on, is what it says or a mistake; other requests may be data.
const (
	badChildren = "children asks for issues of their own, expected [...{title: string, body?: string}] and no other fields"
	badDecision = `decision says whether the run goes on, expected text that can be "pass" or "pass_with_issues"; give the field another name if it means something else`
)

// asksForIssues reports whether a schema is a list of titles and bodies.
func (s *Schema) asksForIssues() bool {
	if s.Type != "array" || s.Items == nil || s.Items.Type != "object" || s.Items.Additional != false {
		return false
	}
	for name, field := range s.Items.Properties {
		if name != "title" && name != "body" || field.Type != "string" {
			return false
		}
	}
	return slices.Contains(s.Items.Required, "title")
}

// decides reports whether a schema is one of a decision with which a run can go
// on.
func (s *Schema) decides() bool {
	switch {
	case s.AnyOf != nil:
		return slices.ContainsFunc(s.AnyOf, (*Schema).decides)
	case s.Enum == nil:
		return s.Type == "string"
	}
	return slices.ContainsFunc(s.Enum, func(value json.RawMessage) bool {
		var word string
		return json.Unmarshal(value, &word) == nil && slices.Contains(pipelines.GoOn(), word)
	})
}
