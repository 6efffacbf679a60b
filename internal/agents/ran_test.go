package agents

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// Whether an agent that may run commands has run any is told by its events.
func TestRanNothing(t *testing.T) {
	task := engine.Task{Dir: t.TempDir(), Access: pipelines.AccessRun}
	for name, tt := range map[string]struct {
		hear func(c cli) (*said, func([]byte) process.Reaction)
		line string
	}{
		"claude": {
			func(c cli) (*said, func([]byte) process.Reaction) {
				s := &claudeStream{cli: c, task: task, messages: map[string]claudeUsage{}}
				return &s.said, s.line
			},
			`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","name":"Bash","input":{"command":"go test ./..."}}]}}`,
		},
		"codex": {
			func(c cli) (*said, func([]byte) process.Reaction) {
				s := &codexStream{cli: c, task: task}
				return &s.said, s.line
			},
			`{"type":"item.completed","item":{"type":"command_execution","command":"go test ./...","status":"completed"}}`,
		},
		"gemini": {
			func(c cli) (*said, func([]byte) process.Reaction) {
				s := &geminiStream{cli: c, task: task}
				return &s.said, s.line
			},
			`{"type":"tool_use","tool_name":"run_shell_command","tool_id":"run_shell_command__1","parameters":{"command":"go test ./..."}}`,
		},
	} {
		c := newCLI(name, pipelines.Agent{}, Options{})
		for _, access := range []pipelines.Access{pipelines.AccessRun, pipelines.AccessRead} {
			for _, ran := range []bool{false, true} {
				s, line := tt.hear(c)
				s.done = true
				line([]byte(`{"type":"assistant","message":{"id":"n","content":[{"type":"tool_use","name":"Read","input":{}}]}}`))
				if ran {
					line([]byte(tt.line))
				}
				asked := task
				asked.Access = access
				r, err := c.conclude(t.Context(), asked, process.Ending{}, s)
				if want := access == pipelines.AccessRun && !ran; err != nil || r.RanNothing != want {
					t.Errorf("%s with access %s, ran is %v: RanNothing is %v (%v), want %v", name, access, ran, r.RanNothing, err, want)
				}
			}
		}
	}
}
