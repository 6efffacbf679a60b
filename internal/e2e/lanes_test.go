//go:build e2e

package e2e

import (
	"strings"
	"testing"

	m "github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// meeting is a pipeline of two parts, which are written by a real client.
const meeting = `name: "own"
agents: {
	planner: {use: "command", command: ["sh", "-c", #"""
		echo plan >"$REPRISE_ARTIFACT"
		echo '{"structured": {"tasks": [{"id": "t1", "title": "One", "goal": "G", "files": ["t1"]}, {"id": "t2", "title": "Two", "goal": "G", "files": ["t2"]}]}}'
		"""#]}
	writer: {use: "USE"}
}
defaults: agent: "writer"
phases: [
	{name: "plan", goal: "Plan.", agent: "planner", review: false, report: {tasks: [...{id: string, title: string, goal: string, files: [...string]}]}},
	{name: "build", goal: "Build.", access: "tree", must_change: true, review: false},
]
rules: [{after: "plan", when: {}, then: split: "build"}]
`

// Two parts change the same line. Who comes second is told of the first, in a session of its
// own, and brings both together.
func TestPartsThatMeetAreBroughtTogether(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.write("own.cue", strings.ReplaceAll(meeting, "USE", use))
		p.write("issue.md", issueText)
		told := ""
		p.says(func(r m.Request) m.Reply {
			w := worker{change: "echo t1 >list.txt"}
			switch prompt := r.Prompt(); {
			case strings.Contains(prompt, "Other work was merged before yours"):
				told, w.change = prompt, "printf 't1\\nt2\\n' >list.txt"
			case strings.Contains(prompt, "01_build.t2/"):
				w.change = "echo t2 >list.txt"
			}
			return w.script()(r)
		})
		p.want(0, p.reprise("run", "--issue-file", "../issue.md", "--pipeline", "../own.cue", "--push", "--jobs", "2"))
		run := p.record()
		var went []string
		for _, a := range run.Attempts {
			went = append(went, a.Phase+" "+string(a.Step))
			if a.Step == metadata.Revise && !a.Resumed {
				t.Errorf("%s is revised in another session", a.Phase)
			}
		}
		if run.Status != metadata.Completed || !strings.Contains(strings.Join(went, ", "), "integrate, build.t") || !strings.Contains(strings.Join(went, ", "), "revise") {
			t.Errorf("it is %s, after %q", run.Status, went)
		}
		testenv.Is(t, "the branch has", p.pushed("list.txt"), "t1\nt2")
		testenv.Has(t, "what the writer was told", told, "list.txt")
	})
}
