//go:build slow || e2e

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// goesOnWriting is an agent that leaves a program behind which writes into the
// tree for ever, and hangs, until it may go on.
const goesOnWriting = `if ! [ -e "$HOME/go-on" ]; then
	setsid sh -c 'while :; do echo evil >evil.txt; echo evil >>"$REPRISE_ARTIFACT"; done' &
	sleep 0.1; touch "$HOME/working"; sleep 300
fi
sleep 0.3; echo done >"$REPRISE_ARTIFACT"
`

// What a killed process has left at work is ended before the next start looks
// at the tree: nothing that it writes passes for the work of the next call.
func TestLeftoversAreEnded(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.write("agent.sh", goesOnWriting)
	s.write("own.cue", `
agents: own: {use: "command", command: ["sh", "`+s.path("agent.sh")+`"]}
phases: [{name: "build", goal: "Build.", access: "tree", review: false}]
`)
	l := s.start("run", "--issue-file", "../7.md", "--pipeline", "../own.cue", "--push", "--sandbox", "off")
	s.await(l, "home/working")
	l.kill(false)
	if left := at(t, s.path("runs")); len(left) == 0 {
		t.Fatal("nothing was left at work, so this shows nothing")
	}
	s.write("home/go-on", "")
	said := s.run(0, "run", "--issue", "7", "--sandbox", "off")
	testenv.Has(t, "what it says", said, "reprise: a call that was killed had left ")
	if left := at(t, s.path("runs")); len(left) > 0 {
		t.Errorf("still at work: %q", left)
	}
	if run := s.holds("7"); done(run) != "build execute" || len(run.Attempts) != 2 {
		t.Errorf("the attempts are %+v", run.Attempts)
	}
	if out, err := testenv.Git(s.path("origin.git"), "log", "-p", environ.BranchPrefix+"7", "--", "evil.txt", "*/build.md"); err != nil || strings.Contains(out, "evil") || !strings.Contains(out, "+done") {
		t.Errorf("what the killed call went on writing was committed, or the work was not (%v):\n%s", err, out)
	}
}

// The next run has the home of the setup that was killed, which cannot go on there.
func TestLeftoversOfAnotherRunAreEnded(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.write("agent.sh", "echo done >\"$REPRISE_ARTIFACT\"\n")
	s.write("own.cue", `
agents: own: {use: "command", command: ["sh", "`+s.path("agent.sh")+`"]}
setup: [{name: "deps", run: "[ -e '`+s.path("home/working")+`' ] || { sleep 600 & echo >'`+s.path("home/working")+`'; wait; }"}]
phases: [{name: "build", goal: "Build.", access: "artifacts", review: false}]
`)
	l := s.start("run", "--issue-file", "../7.md", "--pipeline", "../own.cue", "--sandbox", "off")
	s.await(l, "home/working")
	l.kill(false)
	if left := at(t, s.path("runs")); len(left) == 0 {
		t.Fatal("nothing was left at work, so this shows nothing")
	}
	s.write("8.md", "# Another one\n")
	said := s.run(0, "run", "--issue-file", "../8.md", "--pipeline", "../own.cue", "--sandbox", "off")
	testenv.Has(t, "what it says", said, "reprise: a call that was killed had left ")
	if left := at(t, s.path("runs")); len(left) > 0 {
		t.Errorf("still at work: %q", left)
	}
}

// at lists the processes that work in a folder.
func at(t *testing.T, dir string) (found []string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	testenv.Must(t, err)
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if where, _ := os.Readlink(link); strings.HasPrefix(where, dir+"/") { // it may be gone
			found = append(found, link+" "+where)
		}
	}
	return found
}

// kill ends a process without a word: it alone, or with everything it started.
func (l *life) kill(all bool) {
	pids := []int{l.cmd.Process.Pid}
	if all {
		pids = append(pids, session(l.cmd.Process.Pid)...)
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may be over already
	}
	<-l.over
}
