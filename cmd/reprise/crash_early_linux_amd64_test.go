//go:build slow || e2e

package main

import "testing"

// ahead is a pipeline in which a phase begins while the one before it is reviewed.
const ahead = `
name: "ahead"
speculate: true
agents: own: {use: "command", command: ["steps"]}
defaults: retry: {max: 1, initial: "10ms"}
phases: [
	{name: "build", goal: "Build.", access: "tree", gates: ["It is there"], checks: [{name: "builds", run: "test -s list"}]},
	{name: "test", goal: "Test.", access: "tree", gates: ["It is there"]},
]
`

// early is its agent. The first review does not pass; each ends once the second phase has done
// what it does meanwhile, so that this comes in when it does in any other run.
const early = `#!/bin/sh
echo "$REPRISE_PHASE $REPRISE_STEP" >>"$HOME/calls"
if [ "$REPRISE_STEP" = review ]; then
	verdict=pass gate=true
	if [ "$REPRISE_PHASE" = build ]; then
		n=0
		until git --git-dir="$(dirname "$HOME")/origin.git" cat-file -e reprise/issue-7:.reprise/issue-7/01_test/test.md 2>/dev/null; do
			n=$((n + 1))
			[ $n -lt 6000 ] || exit 1
			sleep 0.05
		done
		grep -q revise list || verdict=fail gate=false
	fi
	echo '{"structured": {"verdict": "'$verdict'", "gates": [{"gate": "It is there", "pass": '$gate', "why": "It is."}], "findings": []}}'
	exit
fi
echo "$REPRISE_STEP" >>"$REPRISE_ARTIFACT"
case $REPRISE_PHASE in
build) grep -q "$REPRISE_STEP" list 2>/dev/null || echo "$REPRISE_STEP" >>list ;;
test) cp list tested ;;
esac
`

// newEarlyScene prepares a run in which a phase is begun early, given up and begun again.
func newEarlyScene(t *testing.T) *scene {
	t.Helper()
	sc := sceneOf(t, ahead, early)
	sc.lanes = 2
	sc.turns = []*turn{{name: "run that begins early", args: firstRun, finish: func(sc *scene) { sc.run(0, firstRun...) }}}
	sc.play()
	return sc
}

// A run in which a phase is begun early comes to the same, wherever it is struck.
func TestEarlyKilledAtSomeSteps(t *testing.T) {
	t.Parallel()
	sc := newEarlyScene(t)
	for _, at := range []int{300, 550, 700, 850, 1000} {
		if !sc.bear(sc.turns[0], "kill", at) {
			t.Errorf("it has fewer than %d steps", at)
		}
	}
}
