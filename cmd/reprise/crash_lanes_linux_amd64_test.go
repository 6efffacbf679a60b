//go:build slow || e2e

package main

import "testing"

// inTwoLanes is a pipeline whose code is written in two parts at the same time, which
// conflict.
const inTwoLanes = `
name: "lanes"
jobs: 2
agents: own: {use: "command", command: ["steps"]}
defaults: retry: {max: 1, initial: "10ms"}
phases: [
	{name: "plan", goal: "Plan.", review: false, report: tasks: [...{id: string, title: string, goal: string, files: [...string]}]},
	{name: "build", goal: "Build.", access: "tree", gates: ["It is there"], checks: [{name: "builds", run: "test -s list"}]},
]
rules: [{after: "plan", when: {}, then: split: "build"}]
`

// aPart is its agent. The second part is at work until the first one is on the branch. So
// each comes in when it does in any other run, and the second is the one that conflicts.
const aPart = `#!/bin/sh
echo "$REPRISE_PHASE $REPRISE_STEP" >>"$HOME/calls"
if [ "$REPRISE_STEP" = review ]; then
	echo '{"structured": {"verdict": "pass", "gates": [{"gate": "It is there", "pass": true, "why": "It is."}], "findings": []}}'
	exit
fi
echo "$REPRISE_STEP" >>"$REPRISE_ARTIFACT"
case $REPRISE_PHASE in
plan) echo '{"structured": {"tasks": [{"id": "t1", "title": "A", "goal": "A.", "files": ["a"]}, {"id": "t2", "title": "B", "goal": "B.", "files": ["b"]}]}}' ;;
*)
	if [ "$REPRISE_PHASE" = build.t2 ]; then
		n=0
		until git --git-dir="$(dirname "$HOME")/origin.git" cat-file -e reprise/issue-7:list 2>/dev/null; do
			n=$((n + 1))
			[ $n -lt 6000 ] || exit 1
			sleep 0.05
		done
	fi
	grep -q "$REPRISE_PHASE" list 2>/dev/null || echo "$REPRISE_PHASE" >>list
	;;
esac
`

// newLaneScene prepares a run with two parts at work, of which one waits for the other, and
// then brings both together.
func newLaneScene(t *testing.T) *scene {
	t.Helper()
	sc := sceneOf(t, inTwoLanes, aPart)
	sc.lanes = 2
	sc.turns = []*turn{{name: "run in two lanes", args: firstRun, finish: func(sc *scene) { sc.run(0, firstRun...) }}}
	sc.play()
	return sc
}

// A run with two parts at work comes to the same, wherever it is struck.
func TestLanesKilledAtSomeSteps(t *testing.T) {
	t.Parallel()
	sc := newLaneScene(t)
	for what, at := range map[string]int{"kill": 1190, "kill-all": 700} {
		if !sc.bear(sc.turns[0], what, at) {
			t.Errorf("it has fewer than %d steps", at)
		}
	}
}
