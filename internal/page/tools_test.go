package page

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// What agents are given is shown with the names of variables, in both languages.
func TestConfigShowsWhatAgentsAreGiven(t *testing.T) {
	plan := &pipelines.Pipeline{Name: "p", Agents: map[string]pipelines.Agent{
		"second": {Use: "codex"},
		"writer": {Use: "claude", ToolSet: pipelines.ToolSet{
			MCP:    map[string]pipelines.ToolServer{"web": {URL: "https://words.example/mcp", Headers: map[string]string{"Authorization": "Bearer env:WORDS_KEY"}}},
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

// /config names the paths that the pipeline opens.
func TestConfigShowsWhatIsOpened(t *testing.T) {
	plan := &pipelines.Pipeline{Name: "p", Open: []string{".github/workflows/ci.yml"}}
	for language, want := range map[string]string{
		"en": "- **Of these, open to changes that a person with the role maintain approves** `.github/workflows/ci.yml`\n",
		"ja": "- **うち、maintain の役割のある人の承認により変更できるもの** `.github/workflows/ci.yml`\n",
	} {
		if reply := ConfigReply("", language, plan, ConfigFacts{}); !strings.Contains(reply, want) {
			t.Errorf("%s: want %q in:\n%s", language, want, reply)
		}
	}
}

// The live comment says which images of the issue agents are not given, however many there
// are, and no address of others becomes a link.
func TestImagesThatAreNotGiven(t *testing.T) {
	run := metadata.Run{IssueNumber: "7", Language: "en", Issue: metadata.Issue{Images: []metadata.Image{{URL: "https://github.com/user-attachments/assets/1", Digest: "sha256:1"}}}}
	for range 9 {
		run.Issue.Images = append(run.Issue.Images, metadata.Image{URL: "https://evil.example/x", Why: metadata.Because("image_host", "host", "<img src=x> @hana")})
	}
	live := LiveComment(&pipelines.Pipeline{Name: "p"}, run, Notices{})
	if n := strings.Count(live, "GitHub keeps no attachments at"); n != 5 || !strings.Contains(live, "Image 2 is not given: ") || strings.Contains(live, "<img") || strings.Contains(live, " @hana") {
		t.Errorf("it is said %d times in\n%s", n, live)
	}
}
