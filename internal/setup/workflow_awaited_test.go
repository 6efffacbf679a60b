package setup

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// The workflow names those that a push to a branch or a pull request starts, each as a
// pattern that GitHub reads as this name alone, and they are read again as they were.
func TestAwaited(t *testing.T) {
	folder := fstest.MapFS{}
	for name, text := range map[string]string{
		"a.yml":       "name: CI\non: push",
		"b.yaml":      "name: C++ [x86]! really?\non: [workflow_dispatch, pull_request]",
		"c.yml":       "on: {pull_request: {paths: [src/**]}}",
		"d.yml":       "name: \"it's: a\\nname\\\\ *\"\non: {push: {branches: [main], tags: [v1]}, pull_request: {branches: [main]}}",
		"e.yml":       "name: CI\non: push",
		"release.yml": "name: release\non: {push: {tags: ['v*']}}",
		"deploy.yml":  "name: deploy\non: {push: {branches: main}}",
		"f.yml":       "name: branches\non: {push: {branches: ['re*/**']}}",
		"g.yml":       "name: ignored\non: {push: {branches-ignore: [main], tags: ['*']}}",
		"nightly.yml": "name: nightly\non: {schedule: [{cron: '0 0 * * *'}]}",
		"broken.yml":  "name: [",
		"readme.md":   "on: push",
		"reprise.yml": "name: reprise\non: push",
	} {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	names := Checking(folder)
	want := []string{"CI", "C++ [x86]! really?", ".github/workflows/c.yml", "it's: a\nname\\ *", "branches", "ignored"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Fatalf("names (-want +got):\n%s", diff)
	}
	for _, form := range []Form{Short, Long} {
		text, err := Workflow{form, DefaultUses(), false, names, []string{"claude"}}.Text()
		var w WorkflowYAML
		if err == nil {
			err = yaml.Unmarshal([]byte(text), &w)
		}
		if diff := cmp.Diff(want, w.Awaited()); diff != "" || err != nil {
			t.Errorf("%s: %v, names in the workflow (-want +got):\n%s", form, err, diff)
		}
		var on struct {
			On struct {
				Run struct{ Workflows []string } `yaml:"workflow_run"`
			}
		}
		patterns := []string{"CI", `C\+\+ \[x86\]\! really\?`, ".github/workflows/c.yml", "it's: a\nname\\\\ \\*", "branches", "ignored"}
		if err := yaml.Unmarshal([]byte(text), &on); err != nil || !cmp.Equal(on.On.Run.Workflows, patterns) {
			t.Errorf("%s: %v, %q", form, err, on.On.Run.Workflows)
		}
	}
}

// Patterns for several names name none, and a repository without CI has nothing to wait for.
func TestAwaitedNone(t *testing.T) {
	none, err := Workflow{Short, DefaultUses(), false, nil, []string{"claude"}}.Text()
	testenv.Must(t, err)
	for text, want := range map[string][]string{
		none: nil,
		"on: {workflow_run: {workflows: ['*', 'a?', CI, 'b\\+']}}": {"CI", "b+"},
		"on: {workflow_run: }":                nil,
		"on: {workflow_run: {workflows: CI}}": {"CI"},
		"on: [workflow_run]":                  nil,
		"on: workflow_run":                    nil,
		"":                                    nil,
	} {
		var w WorkflowYAML
		testenv.Must(t, yaml.Unmarshal([]byte(text), &w))
		if diff := cmp.Diff(want, w.Awaited()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
