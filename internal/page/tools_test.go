package page

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/tools"
)

// What agents are given is shown with the names of variables, in both languages.
func TestConfigShowsWhatAgentsAreGiven(t *testing.T) {
	plan := &pipelines.Pipeline{Name: "p", Agents: map[string]pipelines.Agent{
		"second": {Use: "codex"},
		"writer": {Use: "claude", Set: tools.Set{
			MCP:    map[string]tools.Server{"web": {URL: "https://words.example/mcp", Headers: map[string]string{"Authorization": "Bearer env:WORDS_KEY"}}},
			Effort: "high",
		}},
	}}
	for language, want := range map[string]string{
		"en": "- **Given to agents** writer: `mcp.web: https://words.example/mcp` `env: WORDS_KEY` `effort: high`\n",
		"ja": "- **エージェントに渡すもの** writer: `mcp.web: https://words.example/mcp` `env: WORDS_KEY` `effort: high`\n",
	} {
		if reply := ConfigReply("", language, plan, ConfigFacts{}); !strings.Contains(reply, want) {
			t.Errorf("%s: want %q in:\n%s", language, want, reply)
		}
	}
}
