package agents

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// What a call may ask are the models of its agent and of its step; a list of the
// pipeline adds to them, and says that there are no others.
func TestModelsOfACall(t *testing.T) {
	agent := pipelines.Agent{Use: "claude", Models: map[string]string{"heavy": "opus", "light": "haiku"}}
	for name, tt := range map[string]struct {
		task  engine.Task
		want  []string
		exact bool
	}{
		"nothing is named": {engine.Task{}, nil, false},
		"a model":          {engine.Task{Model: "sonnet"}, []string{"haiku", "opus", "sonnet"}, false},
		"a list":           {engine.Task{Model: "sonnet", Models: []string{"x"}}, []string{"haiku", "opus", "sonnet", "x"}, true},
		"an empty list":    {engine.Task{Model: "sonnet", Models: []string{}}, []string{"haiku", "opus", "sonnet"}, true},
		"a list alone":     {engine.Task{Models: []string{"x"}}, []string{"haiku", "opus", "x"}, true},
	} {
		way := wayOf(newCLI("claude", agent, Options{}), &Call{Task: tt.task, Call: sandbox.Call{User: t.TempDir()}})
		slices.Sort(way.Models)
		if diff := cmp.Diff(tt.want, way.Models); diff != "" || way.Exact != tt.exact {
			t.Errorf("%s: exact %v (-want +got):\n%s", name, way.Exact, diff)
		}
	}
}
