package pipelines

import (
	"encoding/json"
	"slices"
)

// badChildren says why a report cannot ask for issues in the form that its
// field children has, or "". Other requests are read where they fit and are
// data of the pipeline's own where they do not; this one makes something that
// everybody sees, so it is what it says or a mistake.
func badChildren(report json.RawMessage) string {
	var s schema
	if json.Unmarshal(report, &s) != nil {
		return "" // there is no report
	}
	children, there := s.Properties["children"]
	if !there || children.asksForIssues() {
		return ""
	}
	return "asks for issues of their own, expected [...{title: string, body?: string}] and no other fields"
}

// asksForIssues reports whether a schema is a list of titles and bodies.
func (s *schema) asksForIssues() bool {
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
