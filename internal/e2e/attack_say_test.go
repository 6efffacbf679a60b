//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// saying is what a program says to reach further than its words should: in its
// answer, its artifact, its findings and its output.
type saying struct {
	wish, then string // for people
	text       string // may be part of a line
	// found reports whether it got through: in the comment, in what the job
	// printed and a runner would obey, or in the job's outputs.
	found func(comment, obeyed, outputs string) bool
}

func sayings() []saying {
	inComment := func(text string) func(string, string, string) bool {
		return func(comment, _, _ string) bool {
			return strings.Contains(strings.ReplaceAll(comment, "`"+text+"`", ""), text) // a span of code notifies nobody
		}
	}
	obeyed := func(_, obeyed, _ string) bool { return strings.Contains(obeyed, "evil") }
	return []saying{
		{"forge the marker of the live comment", "it is shown as text", "<!-- reprise:progress:v1 issue=8 -->", inComment("<!-- reprise:progress:v1 issue=8")},
		{"mention a team", "nobody is notified", "@octo/evil-team", inComment("@octo/evil-team")},
		{"close an issue", "it stays open", "Closes #9", inComment("Closes #9")},
		{"give a command to reprise", "it does not count as a command", "\n/cancel\n", inComment("\n/cancel")},
		{"show an image from another server", "no image is shown", "![x](https://evil.example/x.png)", inComment("![x](https://evil")},
		{"end the fence around its words", "the words stay in it", "\n```\n</details>\n<script>evil()</script>\n", inComment("<script>")},
		{"give commands to the runner", "the runner obeys none of them", "\n::set-output name=decision::evil\n::add-mask::evil\n::stop-commands::evil\n::error::evil\n", obeyed},
		{"set outputs of the job", "the outputs are those of reprise", "\ndecision=evil\n", func(_, _, outputs string) bool { return strings.Contains(outputs, "evil") }},
	}
}

// talker is an agent that says all of it, wherever it has a word.
const talker = `#!/bin/sh
cat %[1]s >&2
if [ "$REPRISE_STEP" = review ]; then cat %[2]s; exit; fi
cat %[1]s > $REPRISE_ARTIFACT
echo x >> new.txt
cat %[3]s
`

// What a program says stays words.
func TestSayings(t *testing.T) {
	p := besieged(t, 0, machine{})
	var all strings.Builder
	for _, s := range sayings() {
		all.WriteString(s.text + "\n")
	}
	text := "Done. " + all.String()
	finding := map[string]any{
		"id": "F1", "severity": "suggestion", "title": text, "problem": text, "impact": text, "solution": text, "status": "new",
	}
	p.write("repo/say/words.md", text)
	p.write("repo/say/review.json", inJSON(map[string]any{
		"text": text, "structured": map[string]any{"verdict": "pass_with_suggestions", "gates": []any{}, "findings": []any{finding}},
	}))
	p.write("repo/say/done.json", inJSON(map[string]any{"text": text}))
	p.write("agent.sh", fmt.Sprintf(talker, "say/words.md", "say/review.json", "say/done.json"))
	testenv.Must(t, os.Chmod(filepath.Join(p.root, "agent.sh"), 0o755))
	p.pipeline(fmt.Sprintf("{use: \"command\", command: [%q]}", filepath.Join(p.root, "agent.sh")), "true")
	p.git(p.repo, "add", ".")
	p.git(p.repo, "commit", "--quiet", "-m", "Words")
	p.git(p.repo, "push", "--quiet", "origin", "main")
	p.git(p.repo, "config", "--unset", "http.extraheader")

	forge := githubtest.New(t)
	forge.AddInstallation("token-of-app", "github-actions[bot]")
	forge.AddIssue("acme/widget", githubtest.Issue{Number: 7, Title: "Add a greeting", Body: "The program should greet."})
	forge.Bare("acme/widget", filepath.Join(p.root, "origin.git"))
	forge.Permit("acme/widget", "ada", "write")
	id := forge.AddComment("acme/widget", 7, githubtest.Comment{Author: "ada", Body: "/run"})
	p.write("event.json", string(forge.CommentPayload("acme/widget", id, "created", "")))
	outputs := filepath.Join(p.root, "outputs")
	p.more = append(p.more,
		"GITHUB_API_URL="+forge.URL, "GITHUB_EVENT_NAME=issue_comment", "GITHUB_EVENT_PATH="+filepath.Join(p.root, "event.json"), "GITHUB_REPOSITORY=acme/widget",
		"GITHUB_ACTOR=ada", "GITHUB_OUTPUT="+outputs, "INPUT_GITHUB_TOKEN=token-of-app", "INPUT_PIPELINE="+filepath.Join(p.root, "attack.cue"), "INPUT_SHOW_OUTPUT=true",
	)
	out := p.under("action")
	p.want(0, out)
	comment := ""
	for _, c := range forge.Comments("acme/widget", 7) {
		comment += "\n" + c.Body
	}
	testenv.Has(t, "the comment with what the agent said", comment, "evil")
	for _, s := range sayings() {
		if s.found(comment, obeyed(out.stdout), p.read(outputs)) {
			t.Errorf("%s: it got through\ncomment:\n%s\nprinted:\n%s\noutputs:\n%s", s.wish, comment, out.stdout, p.read(outputs))
		}
	}
}

func inJSON(v any) string {
	data, _ := json.Marshal(v) // it is made of strings and lists
	return string(data)
}

// obeyed gives the lines of a job's output that a runner takes for commands.
func obeyed(printed string) string {
	var lines []string
	until := ""
	for _, line := range strings.FieldsFunc(printed, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimSpace(line)
		switch {
		case until != "":
			if line == "::"+until+"::" {
				until = ""
			}
		case strings.HasPrefix(line, "::stop-commands::"):
			until = strings.TrimPrefix(line, "::stop-commands::")
			lines = append(lines, line)
		case strings.HasPrefix(line, "::") || strings.HasPrefix(line, "##["):
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
