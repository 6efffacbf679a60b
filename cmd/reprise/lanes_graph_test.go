//go:build slow || e2e

package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

var updateGraph = flag.Bool("update-graph", false, "write the history of parts into docs/pipelines.md")

// inTurn is a program with which the steps of two parts end in a certain order: it waits
// until the branch has a commit, and not for ever.
const inTurn = `
for try in $(seq 1000); do
	git -C 'PROJECT' log --format=%s reprise/issue-7 | grep -q "$1" && exit
	sleep 0.05
done
echo "$1 has not come" >&2
exit 1
`

// graphAgent does the tasks of graphPipeline.
const graphAgent = `
after() { sh 'DIR/turn.sh' "$1"; }
if [ $REPRISE_STEP = review ]; then
	case $REPRISE_PHASE in code.t1) after 'code.t2: integrate' ;; code.t2) after 'code.t1: check' ;; esac
	echo '{"structured": {"verdict": "pass", "gates": [], "findings": []}}'
	exit
fi
echo done >"$REPRISE_ARTIFACT"
case $REPRISE_PHASE in
plan) echo '{"structured": {"tasks": [{"id": "t1", "title": "A", "goal": "A.", "files": ["a"]}, {"id": "t2", "title": "B", "goal": "B.", "files": ["b"]}]}}' ;;
code.t1) after 'code.t2: execute:'; echo a >a ;;
code.t2) echo b >b ;;
esac
`

// graphPipeline has checks that wait for their turn, too: each part has the file by which
// they know it.
const graphPipeline = `
jobs: 2
agents: own: {use: "command", command: ["sh", "DIR/agent.sh"]}
phases: [{
	name: "plan", goal: "Plan."
	report: tasks: [...{id: string, title: string, goal: string, files?: [...string]}]
}, {name: "code", goal: "Code.", access: "tree", checks: [
	{name: "in-turn", run: "case $(echo [ab]) in a) sh 'DIR/turn.sh' 'code.t2: check' ;; b) sh 'DIR/turn.sh' 'code.t1: execute:' ;; esac"}]}]
rules: [{after: "plan", when: {}, then: split: "code"}]
`

// The history of a run in parts is as the documents show it.
func TestGraphOfParts(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	put := func(name, text string) {
		s.write(name, strings.NewReplacer("PROJECT", s.path("project"), "DIR", s.dir).Replace(text))
	}
	put("turn.sh", inTurn)
	put("agent.sh", graphAgent)
	put("own.cue", graphPipeline)
	s.run(0, "run", "--issue-file", "../7.md", "--pipeline", "../own.cue", "--sandbox", "off")
	out, err := testenv.Git(s.path("project"), "log", "--graph", "--format=%s", environ.BranchPrefix+"7")
	if err != nil {
		t.Fatal(err)
	}
	out = regexp.MustCompile(`(?m) +$`).ReplaceAllString(out, "")
	shown := regexp.MustCompile(`(?s)\* reprise: code: review: pass\n.*\* reprise: plan: review: pass\n`)
	got := shown.FindString(out)
	if got == "" {
		t.Fatalf("the history is\n%s", out)
	}
	const page = "../../docs/pipelines.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)\\$ git log --graph --format=%s\n(.*?)```")
	at := block.FindSubmatchIndex(data)
	if at == nil {
		t.Fatalf("%s does not show the history", page)
	}
	if *updateGraph {
		if err := os.WriteFile(page, []byte(fmt.Sprint(string(data[:at[2]]), got, string(data[at[3]:]))), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(data[at[2]:at[3]]), got); diff != "" {
		t.Errorf("the history in %s is not that of today; write it with: go test -tags slow ./cmd/reprise -run TestGraphOfParts -update-graph (-page +today):\n%s", page, diff)
	}
}
