//go:build slow || e2e

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
)

// everyKind is a small pipeline that has every kind of step, one after the other.
const everyKind = `
name: "steps"
baseline: false
agents: own: {use: "command", command: ["steps"]}
defaults: retry: {max: 1, initial: "10ms"}
phases: [
	{name: "plan", goal: "Plan.", review: false},
	{name: "build", goal: "Build.", access: "tree", gates: ["It is polite"], checks: [{name: "builds", run: "test -e code.txt"}]},
]
`

// theSame is its agent. What it does follows from what it is given, and shows in
// what it leaves; its reviews fail until the work is revised.
const theSame = `#!/bin/sh
echo "$REPRISE_PHASE $REPRISE_STEP" >>"$HOME/calls"
told=no
case $(cat) in *"not polite"*) told=yes ;; esac
if [ "$REPRISE_STEP" = review ]; then
	verdict=fail pass=false
	blocker='{"id": "B1", "severity": "blocker", "status": "new", "title": "Rude", "problem": "p", "impact": "i", "solution": "s"}'
	if grep -q revised "$REPRISE_ARTIFACT"; then verdict=pass pass=true blocker=; fi
	gate="{\"gate\": \"It is polite\", \"pass\": $pass, \"why\": \"told: $told\"}"
	echo "{\"structured\": {\"verdict\": \"$verdict\", \"gates\": [$gate], \"findings\": [$blocker]}}"
	exit
fi
word=written
if [ "$REPRISE_STEP" = revise ]; then word=revised; fi
echo "$word, told: $told" >>"$REPRISE_ARTIFACT"
if [ "$REPRISE_PHASE" = build ]; then cat "$REPRISE_ARTIFACT" >"$REPRISE_DIR/code.txt"; fi
`

// turn is something that is done with the program, on top of those before it.
type turn struct {
	name string
	args []string
	// moves are files that the base has got by then, from others.
	moves map[string]string
	// finish does what a person does after it was broken off.
	finish func(sc *scene)

	before string // copy of the stand as it is before the turn
	after  picture
	want   picture        // once it is gone on with
	calls  map[string]int // of the agent, in all
}

// scene is a stand on which a turn can be done again and again.
type scene struct {
	*stand
	copies string
	turns  []*turn
	lanes  int // how many steps are at work at the same time
}

// newScene prepares a run, a rollback of it, and the run after that; merges of a base that
// agrees with the work and of one that does not, each with the run after it; and the end.
func newScene(t *testing.T) *scene {
	t.Helper()
	sc := sceneOf(t, everyKind, theSame)
	run := firstRun
	back := []string{"rollback", "--issue", "7", "--to-phase", "build", "--restore", "--reason", "It is not polite.\n\nReally not."}
	update, goOn := []string{"update", "--issue", "7"}, []string{"run", "--issue", "7", "--sandbox", "off"}
	updated := func(sc *scene) {
		sc.run(0, update...)
		sc.run(0, goOn...)
	}
	sc.turns = []*turn{
		{name: "run", args: run, finish: func(sc *scene) { sc.run(0, run...) }},
		{name: "rollback", args: back, finish: func(sc *scene) {
			// Only a person knows whether it was asked for once or twice.
			sc.run(0, "run", "--issue", "7", "--sandbox", "off")
			if len(sc.holds("7").RollbackHistory) == 0 {
				sc.run(0, back...)
				sc.run(0, "run", "--issue", "7", "--sandbox", "off")
			}
		}},
		{name: "run again", args: []string{"run", "--issue", "7", "--sandbox", "off"}, finish: func(sc *scene) {
			sc.run(0, "run", "--issue", "7", "--sandbox", "off")
		}},
		{name: "update", args: update, moves: map[string]string{"theirs.txt": "theirs\n"}, finish: updated},
		{name: "run after that", args: goOn, finish: updated},
		{name: "update with a conflict", args: update, moves: map[string]string{"code.txt": "theirs\n"}, finish: updated},
		{name: "mend", args: goOn, finish: updated},
		{name: "squash", args: []string{"finish", "--issue", "7", "--squash"}, finish: func(sc *scene) {
			sc.run(0, "finish", "--issue", "7", "--squash")
		}},
	}
	sc.play()
	for _, i := range []int{1, 3, 5} { // what was broken off there is gone on with
		sc.turns[i].want, sc.turns[i].calls = sc.turns[i+1].want, sc.turns[i+1].calls
	}
	return sc
}

// firstRun is the command that starts the run of a scene.
var firstRun = []string{"run", "--issue-file", "../7.md", "--pipeline", "../steps.cue", "--sandbox", "off", "--push"}

// sceneOf is a scene with nothing to do yet. Its agent is a script.
func sceneOf(t *testing.T, pipeline, agent string) *scene {
	t.Helper()
	sc := &scene{stand: newStand(t, nil), copies: t.TempDir(), lanes: 1}
	sc.write("steps.cue", pipeline)
	sc.write("bin/steps", agent)
	testenv.Must(t, os.Chmod(sc.path("bin/steps"), 0o755))
	return sc
}

// play does all turns undisturbed, and keeps what each begins with and comes to.
func (sc *scene) play() {
	sc.t.Helper()
	for i, d := range sc.turns {
		if len(d.moves) > 0 {
			sc.moveBase(d.moves)
		}
		d.before = filepath.Join(sc.copies, strconv.Itoa(i))
		sc.copy(sc.dir, d.before)
		sc.run(0, d.args...)
		d.after, d.calls = sc.picture(), sc.calls()
		d.want = d.after
	}
}

// moveBase has somebody commit to the base.
func (sc *scene) moveBase(files map[string]string) {
	sc.t.Helper()
	for name, text := range files {
		sc.write(filepath.Join("project", name), text)
	}
	in := []string{"-C", sc.path("project")}
	testenv.Must(sc.t, world.GitAll(sc.env, append(in, "add", "--all"), append(in, "commit", "--quiet", "--message=more"), append(in, "push", "--quiet", "origin", "HEAD:main")))
}

// changing are the parts of a stand that a turn may change.
var changing = []string{"project", "origin.git", "runs", "home", "tmp"}

// copy brings the changing parts of one folder to another.
func (sc *scene) copy(from, to string) {
	sc.t.Helper()
	testenv.Must(sc.t, os.MkdirAll(to, 0o755))
	for _, name := range changing {
		testenv.Must(sc.t, os.RemoveAll(filepath.Join(to, name)))
		if _, err := os.Stat(filepath.Join(from, name)); err != nil {
			continue
		}
		if out, err := exec.Command("cp", "-a", filepath.Join(from, name), to).CombinedOutput(); err != nil {
			sc.t.Fatalf("cp: %v: %s", err, out)
		}
	}
}
