package agents

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// streamOf reads what a program says of a task, line by line.
func streamOf(name string, task engine.Task) (*said, func([]byte) process.Reaction) {
	c := newCLI(name, pipelines.Agent{}, Options{})
	switch name {
	case "claude":
		s := &claudeStream{said: said{cli: c, task: task}}
		return &s.said, s.line
	case "codex":
		s := &codexStream{said: said{cli: c, task: task}}
		return &s.said, s.line
	}
	s := &geminiStream{said: said{cli: c, task: task}}
	return &s.said, s.line
}

// What is no look at anything is not counted: an answer that has fields, and what an agent
// tells of its own work.
func TestAnswersAreNoToolCalls(t *testing.T) {
	tool := func(name string) string {
		return `{"type":"tool_use","tool_name":"` + name + `","tool_id":"` + name + `__1","parameters":{}}`
	}
	for name, tt := range map[string]struct {
		none []string // lines that are no use of a tool
		one  string
	}{
		"claude": {
			[]string{`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","name":"mcp__reprise__submit","input":{"verdict":"pass"}}]}}`},
			`{"type":"assistant","message":{"id":"n","content":[{"type":"tool_use","name":"Read","input":{"file_path":"/a.md"}}]}}`,
		},
		"codex": {
			[]string{
				`{"type":"item.completed","item":{"type":"reasoning","text":"Hm."}}`,
				`{"type":"item.started","item":{"type":"todo_list","items":[{"text":"read","completed":false}]}}`,
				`{"type":"item.completed","item":{"type":"todo_list","items":[{"text":"read","completed":true}]}}`,
				`{"type":"item.completed","item":{"type":"agent_message","text":"{\"verdict\":\"pass\"}"}}`,
				`{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}`,
			},
			`{"type":"item.completed","item":{"type":"command_execution","command":"cat a.md","status":"completed"}}`,
		},
		"gemini": {
			[]string{
				tool("update_topic"), tool("write_todos"), tool("enter_plan_mode"), tool("exit_plan_mode"), tool("complete_task"), tool("tracker_create_task"),
				`{"type":"tool_result","tool_id":"exit_plan_mode__1","status":"error","error":{"type":"policy_violation"}}`,
				`{"type":"result","status":"success","stats":{"tool_calls":6}}`,
			},
			tool("read_file"),
		},
	} {
		hear := func(lines ...string) (calls, refused int) {
			s, line := streamOf(name, engine.Task{Dir: t.TempDir()})
			for _, l := range lines {
				line([]byte(l))
			}
			return s.result.ToolCalls, len(s.result.Denials)
		}
		if got, refused := hear(tt.none...); got != 0 || refused != 0 {
			t.Errorf("%s: %d tool calls in what is none, %d of them refused", name, got, refused)
		}
		if got, refused := hear(append([]string{tt.one}, tt.none...)...); got != 1 || refused != 0 {
			t.Errorf("%s: %d tool calls, %d of them refused, want one", name, got, refused)
		}
	}
}
