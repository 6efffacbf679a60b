//go:build slow || e2e

package main

import (
	"flag"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

var updateRecord = flag.Bool("update-record", false, "write testdata/record.json")

// unsplit is a pipeline of which no phase is done in parts.
const unsplit = `
agents: own: {use: "command", command: ["sh", "AGENT"]}
phases: [
	{name: "plan", goal: "Plan.", gates: ["It is there"], report: {risk: "low" | "high"}},
	{name: "code", goal: "Build.", access: "tree", gates: ["It is there"], must_change: true, checks: [{name: "there", run: "test -s code.txt"}]},
	{name: "tell", goal: "Tell.", gates: ["It is there"]},
]
rules: [{after: "plan", when: report: risk: "low", then: use: tier: "light"}]
finish: "keep"
`

// unsplitAgent does the phases of unsplit. The first review of the code does not pass.
const unsplitAgent = `
gate=true verdict=pass findings=
case $REPRISE_PHASE-$REPRISE_STEP in
code-review)
	if ! grep -q revise code.txt; then
		gate=false verdict=fail
		findings='{"id": "f1", "severity": "blocker", "title": "T", "file": "code.txt", "line": 1, "problem": "P", "impact": "I", "solution": "S", "status": "new"}'
	fi ;;
code-*) echo "$REPRISE_STEP" >>code.txt ;;
esac
if [ $REPRISE_STEP = review ]; then
	echo '{"structured": {"verdict": "'$verdict'", "gates": [{"gate": "It is there", "pass": '$gate', "why": "w"}], "findings": ['"$findings"']}}'
	exit
fi
echo "$REPRISE_STEP" >>"$HOME/calls"
cp "$HOME/calls" "$REPRISE_ARTIFACT"
[ $REPRISE_PHASE != plan ] || echo '{"structured": {"risk": "low"}, "usage": {"cost_usd": 0.25}}'
`

// notTheSame is what two records of the same run do not have in common.
var notTheSame = []struct {
	it *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`"[0-9-]{10}T[0-9:.]+Z"`), `"TIME"`},
	{regexp.MustCompile(`"duration_ms": [0-9]+`), `"duration_ms": 0`},
	{regexp.MustCompile(`"(sha256:)?[0-9a-f]{40,64}`), `"HASH`},
	{regexp.MustCompile(`"[0-9a-f]{8}-[0-9a-f-]{27}"`), `"ID"`},
}

// A run without parts has the same record whatever --jobs is, and has had it since before
// there were parts, but for its schema and for what was added to each run since.
func TestRecordOfARunWithoutParts(t *testing.T) {
	t.Parallel()
	const golden = "testdata/record.json"
	for _, jobs := range []string{"1", "8"} {
		s := newStand(t, nil)
		s.write("agent.sh", unsplitAgent)
		s.write("own.cue", strings.Replace(unsplit, "AGENT", s.path("agent.sh"), 1))
		s.run(exit.Done, "run", "--issue-file", "../7.md", "--pipeline", "../own.cue", "--push", "--sandbox", "off", "--jobs", jobs)
		s.run(exit.Done, "rollback", "--issue", "7", "--to-phase", "code", "--reason", "not yet")
		s.run(exit.Done, "run", "--issue", "7", "--sandbox", "off", "--jobs", jobs)
		data, err := metadata.Format(s.holds("7"))
		testenv.Must(t, err)
		got := string(data)
		for _, c := range notTheSame {
			got = c.it.ReplaceAllString(got, c.as)
		}
		if *updateRecord && jobs == "1" {
			testenv.Put(t, golden, got)
		}
		want := testenv.Read(t, golden)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with --jobs %s the record is (-%s +now; -update-record writes it):\n%s", jobs, golden, diff)
		}
	}
}
