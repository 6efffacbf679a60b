//go:build slow || e2e

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// What of a stage only tests ask for that take long.

// changesCode is what an agent does that changes the code.
const changesCode = `
echo whole >"$REPRISE_DIR/code.txt"
`

// stop sends a signal to a job.
func (j *hubJob) stop(s syscall.Signal) {
	j.h.t.Helper()
	testenv.Must(j.h.t, j.cmd.Process.Signal(s))
}

// files are the paths on the branch of the run.
func (h *hub) files() []string {
	h.t.Helper()
	out := testenv.MustGit(h.t, h.path("origin.git"), "ls-tree", "-r", "--name-only", world.RecordAt(h.path("origin.git"), environ.BranchPrefix+"7"))
	return strings.Fields(out)
}

// looks waits until the job at work has looked at the comments so many times: the
// first time it may have begun to before, and the last time it has dealt with what
// it saw the time before.
func (h *hub) looks(times int) {
	h.t.Helper()
	mark := len(h.forge.Requests())
	h.until(fmt.Sprintf("%d looks at the comments", times), func() bool {
		n := 0
		for _, r := range h.forge.Requests()[mark:] {
			if r.Method == "GET" && strings.Contains(r.Path, fmt.Sprintf("/issues/%d/comments", hubIssue)) {
				n++
			}
		}
		return n >= times
	})
}

// until waits until something is so.
func (h *hub) until(what string, so func() bool) {
	h.t.Helper()
	for end := time.Now().Add(10 * time.Minute); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("%s: that has not come", what)
		}
	}
}

// gone says that the processes of an agent that hung are over.
func (h *hub) gone() {
	h.t.Helper()
	data := testenv.Read(h.t, h.path("home/processes"))
	for _, pid := range strings.Fields(data) {
		state, err := os.ReadFile("/proc/" + pid + "/stat")
		if err == nil && !strings.Contains(string(state), ") Z ") {
			h.t.Errorf("process %s of the agent is still there: %s", pid, state)
		}
	}
}

// hangs is what an agent does that takes long: it leaves half of its work in
// the tree, and goes on only when home/go-on is there.
const hangs = `
[ -e "$HOME/go-on" ] || {
	echo half >"$REPRISE_DIR/half.txt"
	sleep 300 &
	echo $$ $! >"$HOME/processes"
	touch "$HOME/working"
	while ! [ -e "$HOME/go-on" ]; do sleep 0.02; done
	kill $!
}
echo whole >"$REPRISE_DIR/code.txt"
`

// answersOn are the answers of ours on a pull request.
func (h *hub) answersOn(pull int) []string {
	var out []string
	for _, c := range h.forge.Comments(hubRepo, pull) {
		if c.Author == "github-actions[bot]" && len(command.AnswersTo(c.Body)) > 0 {
			out = append(out, c.Body)
		}
	}
	return out
}

// sayOn has somebody write a comment on a pull request, and gives its id.
func (h *hub) sayOn(pull int, by, body string) int64 {
	return h.forge.AddComment(hubRepo, pull, githubtest.Comment{Author: by, Body: body})
}

// shows reports whether a live comment tells the end of the run as origin has
// it.
func (h *hub) shows(body string) bool {
	at := world.RecordAt(h.path("origin.git"), environ.BranchPrefix+fmt.Sprint(hubIssue))
	data, err := testenv.Git(h.path("origin.git"), "show", at+":"+phases.RecordFile(fmt.Sprint(hubIssue)))
	if err != nil {
		return false
	}
	run, err := metadata.Parse([]byte(data), "origin")
	return err == nil && strings.Contains(body, fmt.Sprintf(`"revision":%d,`, run.Revision)) && strings.Contains(body, "### ✅")
}

// read reads a file of the stand.
func (h *hub) read(name string) string {
	h.t.Helper()
	return testenv.Read(h.t, h.path(name))
}
