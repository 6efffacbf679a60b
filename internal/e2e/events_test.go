//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// TestRealEvents reads payloads of every kind of event, as github.com and five
// versions of GitHub Enterprise have sent them.
func TestRealEvents(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("node_modules", "@octokit", "webhooks-examples", "*", "index.json"))
	if err != nil || len(files) < 6 {
		t.Fatalf("found payloads of %d forges, want 6 (%v); install them with: npm ci --prefix internal/e2e", len(files), err)
	}
	read, acted := 0, map[string]bool{}
	for _, file := range files {
		for _, kind := range recorded(t, file) {
			for i, example := range kind.Examples {
				e, err := github.ReadEvent(kind.Name, example)
				if err != nil {
					t.Errorf("%s: %s %d: %v", file, kind.Name, i, err)
					continue
				}
				checkEvent(t, e, example)
				if starts(e) {
					acted[e.Name+" "+e.Action] = true
				}
				read++
			}
		}
	}
	if read < 700 {
		t.Errorf("read %d payloads, want at least 700", read)
	}
	want := map[string]bool{"issue_comment created": true, "issues labeled": true, "repository_dispatch on-demand-test": true, "workflow_dispatch ": true}
	testenv.Same(t, "events that may start something", want, acted)
	t.Logf("read %d payloads", read)
}

// kind is a kind of event with the payloads that were recorded of it.
type kind struct {
	Name     string
	Examples []json.RawMessage
}

func recorded(t *testing.T, file string) []kind {
	t.Helper()
	data := []byte(testenv.Read(t, file))
	var kinds []kind
	if err := json.Unmarshal(data, &kinds); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return kinds
}

// starts reports whether an event has what a run could be started by.
func starts(e github.Event) bool {
	switch e.Name {
	case "issue_comment":
		return e.Action == "created" && e.Issue != nil && e.Comment != nil && !e.Comment.Edited()
	case "issues":
		return e.Action == "labeled" && e.Issue != nil && e.Label != ""
	}
	return slices.Contains([]string{"workflow_dispatch", "repository_dispatch"}, e.Name)
}

// checkEvent compares an event with what its payload plainly says.
func checkEvent(t *testing.T, e github.Event, payload json.RawMessage) {
	t.Helper()
	var plain struct {
		Action     string
		Sender     struct{ Login, Type string }
		Repository struct {
			Name   string `json:"full_name"`
			Branch string `json:"default_branch"`
		}
		Run   json.RawMessage `json:"workflow_run"`
		Suite json.RawMessage `json:"check_suite"`
	}
	testenv.Must(t, json.Unmarshal(payload, &plain))
	want := github.Event{
		Name: e.Name, Action: plain.Action, Repository: plain.Repository.Name, DefaultBranch: plain.Repository.Branch,
		Sender: github.User{Login: plain.Sender.Login, ID: e.Sender.ID, Type: plain.Sender.Type},
		Issue:  e.Issue, Comment: e.Comment, Label: e.Label, Inputs: e.Inputs, Pull: e.Pull, Review: e.Review,
	}
	switch e.Name {
	case "workflow_run":
		want.Ran = plain.Run
	case "check_suite":
		want.Ran = plain.Suite
	case "status":
		want.Ran = payload
	}
	testenv.Same(t, e.Name+" "+e.Action+", plain and read", want, e)
	if e.Comment != nil && (e.Comment.Author.Login == "" || e.Comment.Body == "" || e.Comment.CreatedAt.IsZero()) {
		t.Errorf("%s: the comment lacks something: %+v", e.Name, e.Comment)
	}
}
