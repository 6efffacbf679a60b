//go:build slow || e2e

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// twoLanes is a pipeline whose second phase is done in two parts at the same time. Both
// write the same line of one file, so that one of them has to bring both together.
const twoLanes = `
jobs: 2
agents: own: {use: "command", command: ["sh", "AGENT"]}
phases: [{
	name: "plan", goal: "Plan.", review: false
	report: tasks: [...{id: string, title: string, goal: string, files?: [...string]}]
}, {name: "build", goal: "Build.", access: "tree", must_change: true, checks: [{name: "list", run: "test -s list"}]}]
rules: [{after: "plan", when: {}, then: split: "build"}]
`

// laneAgent does the tasks of twoLanes. Until it may go on, calls of parts hang.
const laneAgent = `
if [ $REPRISE_STEP = review ]; then echo '{"structured": {"verdict": "pass", "gates": [], "findings": []}}'; exit; fi
date +%s.%N >"$REPRISE_ARTIFACT"
case $REPRISE_PHASE in
plan) echo '{"structured": {"tasks": [{"id": "t1", "title": "A", "goal": "A.", "files": ["a"]}, {"id": "t2", "title": "B", "goal": "B.", "files": ["b"]}]}}' ;;
*)
	if ! [ -e "$HOME/go-on" ]; then echo half >half; touch "$HOME/$REPRISE_PHASE"; sleep 300; fi
	grep -q "$REPRISE_PHASE" list 2>/dev/null || echo "$REPRISE_PHASE" >>list ;;
esac
`

func newLanes(t *testing.T) *stand {
	s := newStand(t, nil)
	s.write("agent.sh", laneAgent)
	s.write("own.cue", strings.Replace(twoLanes, "AGENT", s.path("agent.sh"), 1))
	return s
}

// subjects are those of the commits of the run, the newest first, without those of work
// that is kept beside the branch.
func subjects(s *stand) []string {
	s.t.Helper()
	out, err := testenv.Git(s.path("origin.git"), "log", "--first-parent", "--format=%s", environ.BranchPrefix+"7")
	if err != nil {
		return nil // there is none yet
	}
	return strings.Split(strings.TrimSpace(out), "\n")
}

// lanesDone holds that both parts are in, each step was done once, and nothing is left over.
func lanesDone(s *stand) {
	s.t.Helper()
	run := s.holds("7")
	if run.Status != metadata.Completed {
		s.t.Fatalf("the run is %s: %+v", run.Status, run.Stop)
	}
	for _, p := range run.Phases {
		if p.Lane != nil || p.Status != metadata.PhaseCompleted {
			s.t.Errorf("%s is %s, in the lane %+v", p.Name, p.Status, p.Lane)
		}
	}
	for _, a := range run.Attempts {
		if a.Status == metadata.Started {
			s.t.Errorf("attempt %d has no end: %+v", a.N, a)
		}
	}
	list, err := testenv.Git(s.path("origin.git"), "show", environ.BranchPrefix+"7:list")
	if err != nil || list != "build.t1\nbuild.t2\n" && list != "build.t2\nbuild.t1\n" {
		s.t.Errorf("the parts have come to %q (%v)", list, err)
	}
	if out, err := testenv.Git(s.path("origin.git"), "ls-tree", "-r", "--name-only", environ.BranchPrefix+"7"); err != nil || strings.Contains(out, "half\n") {
		s.t.Errorf("work of a call that was cut off is on the branch (%v):\n%s", err, out)
	}
	branches, err := testenv.Git(s.path("origin.git"), "for-each-ref", "--format=%(refname)")
	if err != nil || strings.Contains(branches, "lane") || strings.Contains(branches, "beside") {
		s.t.Errorf("there are refs of lanes (%v):\n%s", err, branches)
	}
}

// Told to stop with two parts at work, the run ends both, and one commit says so.
func TestLanesToldToStop(t *testing.T) {
	t.Parallel()
	s := newLanes(t)
	l := s.start("run", "--issue-file", "../7.md", "--pipeline", "../own.cue", "--push", "--sandbox", "off")
	s.await(l, "home/build.t1")
	s.await(l, "home/build.t2")
	before := len(subjects(s))
	testenv.Must(t, syscall.Kill(l.cmd.Process.Pid, syscall.SIGTERM))
	if code := l.code(); code != exit.Cancelled {
		t.Errorf("exit code %d, want %d\n%s", code, exit.Cancelled, l.said.String())
	}
	if n := strings.Count(l.said.String(), "! interrupted at"); n != 1 {
		t.Errorf("that it stops is said %d times:\n%s", n, l.said.String())
	}
	run := s.holds("7")
	cut := 0
	for _, a := range run.Attempts {
		if a.Status == metadata.Cut {
			cut++
		}
	}
	if got := subjects(s); run.Status != metadata.Interrupted || cut != 2 || len(got) != before+1 {
		t.Errorf("the run is %s with %d calls cut off, in %d commits: %q", run.Status, cut, len(got)-before, got)
	}
	s.write("home/go-on", "")
	s.run(0, "run", "--issue", "7", "--sandbox", "off")
	lanesDone(s)
}

// Killed with two parts at work, the next process names both.
func TestLanesKilledAreNamed(t *testing.T) {
	t.Parallel()
	s := newLanes(t)
	l := s.start("run", "--issue-file", "../7.md", "--pipeline", "../own.cue", "--push", "--sandbox", "off")
	s.await(l, "home/build.t1")
	s.await(l, "home/build.t2")
	l.kill(true)
	s.write("home/go-on", "")
	l = s.start("run", "--issue", "7", "--sandbox", "off")
	code, said := l.code(), l.said.String()
	for _, part := range []string{"build.t1", "build.t2"} {
		if n := strings.Count(said, "the process before ended in the middle of "+part+" execute"); n != 1 {
			t.Errorf("that %s was cut off is said %d times (exit code %d):\n%s", part, n, code, said)
		}
	}
	lanesDone(s)
}

// Killed after each of its commits, and at some point before the next, a run with two
// parts at work is done in the end, with nothing lost and nothing done twice.
func TestLanesKilled(t *testing.T) {
	t.Parallel()
	s := newLanes(t)
	s.write("home/go-on", "")
	args := []string{"run", "--issue-file", "../7.md", "--pipeline", "../own.cue", "--push", "--sandbox", "off"}
	tip := func() string { // a process of git for it may take longer than a step
		text, _ := os.ReadFile(s.path("origin.git/refs/heads/reprise/issue-7")) // it is not there at first
		return string(text)
	}
	for kills := 0; ; kills++ {
		before := tip()
		l := s.start(args...)
		over := false
		for !over && tip() == before {
			select {
			case <-l.over:
				over = true
			case <-time.After(time.Millisecond):
			}
		}
		if over {
			if kills < 8 {
				t.Errorf("it was killed %d times only, so this shows little:\n%s", kills, l.said.String())
			}
			break
		}
		time.Sleep(time.Duration(kills%5) * 15 * time.Millisecond)
		l.kill(false)
		args = []string{"run", "--issue", "7", "--sandbox", "off"}
	}
	lanesDone(s)
}

// A part that comes in after another one has changed a lock file is checked with what the
// setup makes of that.
func TestLanesAreSetUpTogether(t *testing.T) {
	t.Parallel()
	s := newStand(t, map[string]string{".gitignore": "deps/\n"})
	s.write("agent.sh", `
if [ $REPRISE_STEP = review ]; then echo '{"structured": {"verdict": "pass", "gates": [], "findings": []}}'; exit; fi
echo "$REPRISE_PHASE" >"$REPRISE_ARTIFACT"
case $REPRISE_PHASE in
plan) echo '{"structured": {"tasks": [{"id": "t1", "title": "A", "goal": "A.", "files": ["go.sum"]}, {"id": "t2", "title": "B", "goal": "B.", "files": ["b"]}]}}' ;;
*t1) echo one >go.sum ;;
*t2) echo b >b; until git --git-dir='`+s.path("origin.git")+`' cat-file -e reprise/issue-7:go.sum 2>/dev/null; do sleep 0.05; done ;;
esac
`)
	s.write("own.cue", strings.NewReplacer("AGENT", s.path("agent.sh"), "test -s list", "[ ! -e go.sum ] || cmp go.sum deps/of").Replace(twoLanes)+`
setup: [{name: "deps", run: "mkdir -p deps && cat go.sum /dev/null >deps/of 2>/dev/null || true"}]
`)
	s.run(0, "run", "--issue-file", "../7.md", "--pipeline", "../own.cue", "--push", "--sandbox", "off")
	run := s.holds("7")
	if run.Status != metadata.Completed {
		t.Fatalf("the run is %s: %+v", run.Status, run.Stop)
	}
	for _, a := range run.Attempts {
		if a.Status != metadata.Succeeded {
			t.Errorf("attempt %d, %s %s, is %s: %s", a.N, a.Phase, a.Step, a.Status, a.Why)
		}
	}
}

// What a part does after its checks has its share of the budget, whatever others begin while
// the checks run: none of them waits for the other.
func TestChecksKeepTheShareOfTheirPart(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.write("agent.sh", `
until_there() { n=0; until [ -e "$HOME/$1" ]; do n=$((n + 1)); [ $n -lt 6000 ] || exit 1; sleep 0.05; done; }
case $REPRISE_PHASE-$REPRISE_STEP in
build.t2-review) if grep -q revise "$REPRISE_ARTIFACT"; then verdict=pass gate=true; else verdict=fail gate=false; fi ;;
*-review) touch "$HOME/$REPRISE_PHASE-reviewed"; verdict=pass gate=true ;;
esac
if [ $REPRISE_STEP = review ]; then echo '{"structured": {"verdict": "'$verdict'", "gates": [{"gate": "It is there", "pass": '$gate', "why": "w"}], "findings": []}}'; exit; fi
echo $REPRISE_STEP >>"$REPRISE_ARTIFACT"
case $REPRISE_PHASE in
plan) echo '{"structured": {"tasks": [{"id": "t1", "title": "A", "goal": "A.", "files": ["a"]}, {"id": "t2", "title": "B", "goal": "B.", "files": ["b"]}]}}' ;;
build.t1) echo a >a ;;
build.t2) if [ $REPRISE_STEP = revise ]; then touch "$HOME/revising"; until_there build.t1-reviewed; fi; echo $REPRISE_STEP >>b ;;
esac
`)
	s.write("own.cue", strings.NewReplacer(
		"AGENT", s.path("agent.sh"), "test -s list", "n=0; [ ! -e a ] || until [ -e '"+s.path("home/revising")+"' ]; do n=$((n + 1)); [ $n -lt 6000 ] || exit 1; sleep 0.05; done",
		`must_change: true`, `gates: ["It is there"]`,
	).Replace(twoLanes)+"budget: usd: 5\n")
	s.run(0, "run", "--issue-file", "../7.md", "--pipeline", "../own.cue", "--push", "--sandbox", "off")
	for _, a := range s.holds("7").Attempts {
		if a.Status != metadata.Succeeded {
			t.Errorf("attempt %d, %s %s, is %s: %s", a.N, a.Phase, a.Step, a.Status, a.Why)
		}
	}
}

// A process that is killed as the run ends leaves the tree of the last part. The next start
// removes it.
func TestTreeOfARunThatIsOver(t *testing.T) {
	t.Parallel()
	s := newLanes(t)
	s.write("home/go-on", "")
	s.run(0, "run", "--issue-file", "../7.md", "--pipeline", "../own.cue", "--push", "--sandbox", "off")
	lanesDone(s)
	tree, err := filepath.Glob(s.path("runs/project-*/7/tree"))
	if err != nil || len(tree) != 1 {
		t.Fatalf("the tree of the run is %q (%v)", tree, err)
	}
	lane := filepath.Join(filepath.Dir(tree[0]), "lanes", "build.t1")
	testenv.Must(t, os.MkdirAll(lane, 0o755))
	testenv.MustGit(t, lane, "init", "-q", "--bare", "git")
	s.run(0, "run", "--issue", "7", "--sandbox", "off")
	lanesDone(s)
	for _, left := range []string{"git", "tree"} {
		if _, err := os.Lstat(filepath.Join(lane, left)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there (%v)", left, err)
		}
	}
}
