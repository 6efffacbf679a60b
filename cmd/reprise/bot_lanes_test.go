//go:build slow || e2e

package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// beside is a pipeline whose code is written in three parts, two at the same time.
const beside = `
name: "own"
jobs: 2
agents: own: {use: "command", command: ["worker"]}
defaults: retry: {max: 1, initial: "10ms"}
phases: [
	{name: "plan", goal: "Plan.", review: false, report: {tasks: [...{id: string, title: string, goal: string, files: [...string]}]}},
	{name: "build", goal: "Build.", access: "tree", review: false},
]
rules: [{after: "plan", when: {}, then: split: "build"}]
`

// twoAtWork starts a run of which two parts hang, each until home/PART is there.
func twoAtWork(t *testing.T, more ...string) (*hub, *hubJob) {
	t.Helper()
	h := newStage(t, beside+strings.Join(more, ""))
	h.write("home/plan-execute", `
echo planned >>"$REPRISE_ARTIFACT"
echo '{"structured": {"tasks": [
	{"id": "t1", "title": "One", "goal": "G", "files": ["t1"]}, {"id": "t2", "title": "Two", "goal": "G", "files": ["t2"]},
	{"id": "t3", "title": "Three", "goal": "G", "files": ["t3"]}]}}'
exit 0
`)
	for _, part := range []string{"t1", "t2", "t3"} {
		for _, step := range []string{"execute", "revise"} {
			h.write("home/build."+part+"-"+step, strings.ReplaceAll(`
echo half >"$REPRISE_DIR/PART"
touch "$HOME/working-PART"
while ! [ -e "$HOME/PART" ]; do sleep 0.02; done
rm "$HOME/working-PART"
echo "$REPRISE_STEP" >"$REPRISE_DIR/PART"
`, "PART", part))
		}
	}
	j := h.heard(h.say("ada", "/run"), "ada")
	h.await(j.life, "home/working-t1")
	h.await(j.life, "home/working-t2")
	return h, j
}

// whole holds that nothing is left over of calls, and that the branch has of each part
// what is wanted: a text, or nothing.
func (h *hub) whole(parts map[string]string) {
	h.t.Helper()
	run := h.record()
	if run.Status != metadata.Completed {
		h.t.Errorf("the run is %s: %+v", run.Status, run.Stop)
	}
	for _, p := range run.Phases {
		if p.Lane != nil {
			h.t.Errorf("%s is %s and has a lane: %+v", p.Name, p.Status, p.Lane)
		}
	}
	for _, a := range run.Attempts {
		if a.EndedAt == nil {
			h.t.Errorf("attempt %d of %s has no end", a.N, a.Phase)
		}
	}
	for part, want := range parts {
		got, err := h.show(part)
		if got != want || (err == nil) != (want != "") {
			h.t.Errorf("%s has %q (%v), want %q", part, got, err, want)
		}
	}
}

// pausedBefore holds that everything has ended before a part began, and that the run then comes to its end.
func (h *hub) pausedBefore(part string) {
	h.t.Helper()
	for _, a := range h.record().Attempts {
		if a.EndedAt == nil || a.Phase == part {
			h.t.Errorf("attempt %d of %s: %+v", a.N, a.Phase, a)
		}
	}
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	h.whole(map[string]string{"t1": "execute\n", "t2": "execute\n", "t3": "execute\n"})
}

func TestPauseBesideOthers(t *testing.T) {
	h, j := twoAtWork(t)
	id := h.say("ada", "/pause")
	h.looks(2)
	h.write("home/t1", "")
	h.write("home/t3", "")
	h.until("the pause", func() bool { return strings.Contains(h.reactions(id), "rocket") })
	h.write("home/t2", "")
	j.end(exit.Done).wants("status", "waiting")
	h.pausedBefore("build.t3")
	if got := h.calls(); strings.Count(got, "build.t1") != 1 || strings.Count(got, "build.t2") != 1 {
		t.Errorf("the agent was called for %s", got)
	}
}

// A part whose tree is only made ready when a person pauses the run does not begin.
func TestPauseBeforeAPartBegins(t *testing.T) {
	h, j := twoAtWork(t, `setup: [{name: "deps", run: "case $PWD in *build.t3*) touch \"$HOME/setting-up\"; while ! [ -e \"$HOME/set-up\" ]; do sleep 0.02; done ;; esac"}]`)
	h.write("home/t1", "")
	h.await(j.life, "home/setting-up")
	id := h.say("ada", "/pause")
	h.looks(2)
	h.write("home/t2", "")
	h.until("the pause", func() bool { return h.record().Status == metadata.Waiting })
	h.write("home/set-up", "")
	h.write("home/t3", "")
	j.end(exit.Done).wants("status", "waiting")
	h.signs(id, "eyes rocket")
	testenv.Lacks(t, "what the agent was called for", h.calls(), "build.t3")
	h.pausedBefore("build.t3")
}

func TestSkipBesideOthers(t *testing.T) {
	h, j := twoAtWork(t)
	id := h.say("max", "/skip build.t2 nobody needs it")
	h.looks(2)
	h.write("home/t1", "")
	h.write("home/t3", "")
	j.end(exit.Done).wants("status", "completed")
	h.signs(id, "eyes rocket")
	h.whole(map[string]string{"t1": "execute\n", "t2": "", "t3": "execute\n"})
}

// To take back a part that is in ends no calls of others, but all of them with the whole.
func TestRollbackBesideOthers(t *testing.T) {
	for to, want := range map[string]string{"build.t1": "revise\n", "build.t1:execute": "execute\n", "build:execute": "execute\n"} {
		t.Run(to, func(t *testing.T) {
			h, j := twoAtWork(t)
			h.write("home/t1", "")
			h.await(j.life, "home/working-t3")
			h.until("the end of the part", func() bool {
				run := h.record()
				return run.Phase("build.t1").Status == metadata.PhaseCompleted
			})
			id := h.say("max", "/rollback "+to+" think of tabs")
			h.until("the rollback", func() bool { return len(h.record().RollbackHistory) == 1 })
			h.write("home/t2", "")
			h.write("home/t3", "")
			j.end(exit.Done).wants("status", "completed")
			h.signs(id, "eyes rocket")
			h.whole(map[string]string{"t1": want, "t2": "execute\n", "t3": "execute\n"})
			if run := h.record(); len(run.RollbackHistory) != 1 {
				t.Errorf("the rollbacks are %+v", run.RollbackHistory)
			}
			if all, got := to == "build:execute", h.calls(); strings.Count(got, "build.t2") != map[bool]int{true: 2, false: 1}[all] {
				t.Errorf("the agent was called for %s", got)
			}
		})
	}
}

// To take back a part that is at work for the first time ends its call, and no other.
func TestRollbackOfAPartAtWork(t *testing.T) {
	h, j := twoAtWork(t)
	h.say("max", "/rollback build.t1:execute think of tabs")
	h.until("the rollback", func() bool { return len(h.record().RollbackHistory) == 1 })
	for _, part := range []string{"t1", "t2", "t3"} {
		h.write("home/"+part, "")
	}
	j.end(exit.Done).wants("status", "completed")
	h.whole(map[string]string{"t1": "execute\n", "t2": "execute\n", "t3": "execute\n"})
	if got := h.calls(); strings.Count(got, "build.t1") != 2 || strings.Count(got, "build.t2") != 1 {
		t.Errorf("the agent was called for %s", got)
	}
	cut := 0
	for _, a := range h.record().Attempts {
		if a.EndedAt == nil {
			t.Errorf("attempt %d of %s has no end", a.N, a.Phase)
		}
		if a.Status == metadata.Cut {
			cut++
		}
	}
	if cut != 1 {
		t.Errorf("%d calls were cut", cut)
	}
}

func TestCancelBesideOthers(t *testing.T) {
	h, j := twoAtWork(t)
	h.say("ada", "/cancel no")
	j.end(exit.Cancelled).wants("status", "cancelled")
	for _, a := range h.record().Attempts {
		if a.EndedAt == nil {
			t.Errorf("attempt %d of %s has no end", a.N, a.Phase)
		}
	}
	for _, part := range []string{"t1", "t2", "t3"} {
		h.write("home/"+part, "")
	}
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	h.whole(map[string]string{"t1": "execute\n", "t2": "execute\n", "t3": "execute\n"})
}

// show gives a file of the run's branch.
func (h *hub) show(name string) (string, error) {
	return testenv.Git(h.path("origin.git"), "show", "reprise/issue-7:"+name)
}
