//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	m "github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// A whole run in the sandbox with a closed network: the agent asks a server that it starts and
// one on this machine that only reprise can reach, a third one fails and is said, and the keys
// are nowhere to be read afterwards.
func TestRunWithToolsByMCP(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.words()
		address, asked := wordsOverHTTP(t)
		p.write("served.cue", fmt.Sprintf(`name: "served"
agents: writer: {
	use: %q
	mcp: {
		own:    {command: "wordbook", env: {%s: "yes", KEY: "env:WORDBOOK_KEY"}}
		web:    {url: %q, headers: Authorization: "Bearer env:WORDBOOK_KEY"}
		broken: {command: "sh", args: ["-c", "echo no dictionary for $KEY >&2; exit 3"], env: KEY: "env:WORDBOOK_KEY"}
	}
	tools: deny: ["own.forget"]
	effort: "high"
}
phases: [{name: "analyze", goal: "Find the word.", writes: "analysis.md", review: false}]
`, use, wordServer, address))
		p.write("issue.md", issueText)
		p.says(func(r m.Request) m.Reply {
			results := r.Results()
			word := map[string]string{"word": "reprise"}
			path := artifact.FindStringSubmatch(r.Prompt())
			switch {
			case path == nil:
				return m.Say("I see no file to write.")
			case len(results) == 0:
				return m.Served("own", "meaning", word)
			case len(results) == 1:
				return m.Served("web", "meaning", word)
			case len(results) == 2:
				return m.Write(path[1], "# Words\n\nOwn: "+results[0].Text+"\nWeb: "+results[1].Text+"\n")
			}
			return m.Say("Done.")
		})
		explained := p.reprise("explain", "--issue-file", "../issue.md", "--pipeline", "../served.cue", "--settings")
		testenv.Has(t, "what explain says", explained.stdout, "command: wordbook", "env:WORDBOOK_KEY")
		out := p.reprise("run", "--issue-file", "../issue.md", "--pipeline", "../served.cue", "--push", "--sandbox", "required")
		p.want(0, out)
		report := p.pushed(".reprise/issue-7/00_analyze/analysis.md")
		if strings.Count(report, "meaning of reprise: to do again from the start") != 2 || asked() == 0 {
			t.Errorf("the server on this machine was asked %d times, and the artifact reads\n%s", asked(), report)
		}
		testenv.Has(t, "what is said", out.stdout+out.stderr, "the MCP server broken ", "no dictionary for")
		if run := p.record(); run.Status != metadata.Completed {
			t.Errorf("the run is %s: %+v", run.Status, run.Stop)
		}
		p.keptFrom(mcpKey, out)
	})
}

// keptFrom fails the test if a secret can be read in what a run has said and left.
func (p *place) keptFrom(secret string, out output) {
	p.t.Helper()
	testenv.Lacks(p.t, "the log", out.stdout+out.stderr, secret)
	for _, r := range p.model.Requests() {
		testenv.Lacks(p.t, "what the model saw", string(r.Body), secret)
	}
	if history := p.git(p.root, "--git-dir", "origin.git", "log", "--all", "-p"); strings.Contains(history, secret) || !strings.Contains(history, "issue-7") {
		p.t.Errorf("the secret is in a commit, or there is none:\n%s", history)
	}
	files := 0
	err := filepath.WalkDir(p.root, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || strings.HasPrefix(path, filepath.Join(p.root, "bin")+"/") {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), secret) {
			p.t.Errorf("the secret is in %s", path)
		}
		return err
	})
	if err != nil || files < 50 {
		p.t.Errorf("%d files were looked through: %v", files, err)
	}
}
