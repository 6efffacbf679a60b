package agents

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/metadata"
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

// What the service has answered last explains a failure for which the program has no
// class of its own, as Claude Code has none for a service that was full three times.
func TestWhatTheServiceAnswered(t *testing.T) {
	c := newCLI("claude", pipelines.Agent{Use: "claude"}, Options{})
	full := &gate.Trouble{Status: 529, RetryAfter: time.Minute, Ends: true}
	for name, tt := range map[string]struct {
		said  said
		heard *gate.Trouble
		want  metadata.Class
		after time.Duration
	}{
		"it ended without a result":   {said{}, full, metadata.RateLimited, time.Minute},
		"it failed and says not why":  {said{failed: c.fail(metadata.Crash, errors.New("API Error"))}, full, metadata.RateLimited, time.Minute},
		"it takes it for the network": {said{failed: c.fail(metadata.Network, errors.New("API Error"))}, full, metadata.RateLimited, time.Minute},
		"it says why":                 {said{failed: c.fail(metadata.Auth, errors.New("no key"))}, full, metadata.Auth, 0},
		"its session is gone":         {said{failed: c.gone("s")}, full, metadata.Session, 0},
		"the service has answered":    {said{failed: c.fail(metadata.Crash, errors.New("oh"))}, nil, metadata.Crash, 0},
		"it has a result":             {said{done: true}, full, "", 0},
	} {
		tt.said.hear(c, tt.heard)
		switch failed := tt.said.failed; {
		case failed == nil && tt.want != "", failed != nil && (failed.Class != tt.want || failed.RetryAfter != tt.after):
			t.Errorf("%s: %+v, want %s after %v", name, failed, tt.want, tt.after)
		}
	}
}
