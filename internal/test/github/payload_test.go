package github

import (
	"encoding/json"
	"flag"
	"maps"
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

var examplesFrom = flag.String("examples", "", "api.github.com/index.json of @octokit/webhooks-examples, to write testdata from")

// The payloads have all that GitHub's own examples have.
func TestPayloads(t *testing.T) {
	if *examplesFrom != "" {
		writeExamples(t)
	}
	data := []byte(testenv.Read(t, "testdata/webhooks.json"))
	var shapes map[string]any
	testenv.Must(t, json.Unmarshal(data, &shapes))
	s := New(t)
	s.SetType("acme", "Organization")
	s.AddIssue("acme/widget", Issue{Number: 7, Title: "T", Body: "B", Labels: []string{"reprise"}})
	id := s.AddComment("acme/widget", 7, Comment{Author: "ada", Body: "/run"})
	for name, payload := range map[string][]byte{
		"issue_comment created": s.CommentPayload("acme/widget", id, "created", ""),
		"issue_comment edited":  s.CommentPayload("acme/widget", id, "edited", "bob"),
		"issues labeled":        s.LabelPayload("acme/widget", 7, "reprise", "ada"),
		"issues opened":         s.IssuePayload("acme/widget", 7, "opened", "ada"),
		"workflow_dispatch":     s.WorkflowPayload("acme/widget", ".github/workflows/reprise.yml", "ada", map[string]string{"issue": "7"}),
		"repository_dispatch":   s.DispatchPayload("acme/widget", "reprise", "ada", map[string]any{"issue": 7}),
	} {
		var got any
		testenv.Must(t, json.Unmarshal(payload, &got))
		for _, wrong := range misses(shapes[name], got, name) {
			t.Error(wrong)
		}
	}
}

// misses says what a value has not of a shape.
func misses(shape, got any, at string) []string {
	fields, isObject := shape.(object)
	if !isObject {
		if shape != "null" && got != nil && shape != shapeOf(got) {
			return []string{at + " is not a " + shape.(string)}
		}
		return nil
	}
	if got == nil {
		return nil // nobody, or nothing
	}
	o, isObject := got.(object)
	if !isObject {
		return []string{at + " is no object"}
	}
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if _, sent := o[name]; !sent {
			wrong = append(wrong, at+"."+name+" is missing")
			continue
		}
		wrong = append(wrong, misses(fields[name], o[name], at+"."+name)...)
	}
	return wrong
}

// shapeOf keeps the names of a value and its types.
func shapeOf(v any) any {
	o, isObject := v.(object)
	if !isObject {
		return typeOf(v)
	}
	out := object{}
	for name, part := range o {
		out[name] = shapeOf(part)
	}
	return out
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case bool:
		return "boolean"
	case float64:
		return "number"
	}
	return "list"
}

// writeExamples keeps the shapes of the examples that are used.
func writeExamples(t *testing.T) {
	data := []byte(testenv.Read(t, *examplesFrom))
	var all []struct {
		Name     string
		Examples []object
	}
	testenv.Must(t, json.Unmarshal(data, &all))
	out := object{}
	for _, event := range all {
		for _, example := range event.Examples {
			name := event.Name
			if action, ok := example["action"].(string); ok && name != "repository_dispatch" {
				name += " " + action
			}
			wanted := []string{"issue_comment created", "issue_comment edited", "issues labeled", "issues opened", "workflow_dispatch", "repository_dispatch"}
			if _, is := example["organization"]; !is && len(event.Examples) > 1 || !slices.Contains(wanted, name) || out[name] != nil {
				continue
			}
			for _, free := range []string{"inputs", "client_payload"} {
				if _, is := example[free]; is {
					example[free] = object{}
				}
			}
			if issue, ok := example["issue"].(object); ok {
				delete(issue, "performed_via_github_app") // what wrote it, if anything
				delete(issue, "draft")                    // of pull requests
			}
			delete(example, "installation")
			out[name] = shapeOf(example)
		}
	}
	testenv.Put(t, "testdata/webhooks.json", string(linewise(t, out, 2)))
}
