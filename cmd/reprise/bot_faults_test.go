package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/github/githubtest"
	"github.com/reprise-ci/reprise/metadata"
)

// hurried is the program for tests in which the forge goes wrong: it waits a
// hundredth of the time before it asks again, and not long for an answer.
func hurried() {
	live(environment{
		wait: func(ctx context.Context, d time.Duration) error { return sleep(ctx, d/100) },
		http: &http.Client{Timeout: 2 * time.Second},
	})
}

// soon is more than a job takes in these tests, whatever goes wrong.
const soon = 40 * time.Second

// small is a pipeline that leaves everything a forge is asked to keep: code, a
// report, and work for another issue.
const small = `
agents: own: {use: "command", command: ["worker"]}
phases: [{name: "build", goal: "Build.", access: "tree", review: false, report: remaining: [...{title: string, body: string}]}]
`

const worker = `#!/bin/sh
echo "$REPRISE_STEP $$" >hello.txt
echo done >"$REPRISE_ARTIFACT"
echo '{"text": "Done.", "structured": {"remaining": [{"title": "Translate", "body": "It only speaks English."}]}}'
`

// newFaulty is a hub with that pipeline, whose jobs are in a hurry.
func newFaulty(t *testing.T) *hub {
	t.Helper()
	h := newHub(t)
	h.as, h.inputs = "hurried", map[string]string{"pipeline": "small", "sandbox": "off"}
	h.write("bin/worker", worker)
	if err := os.Chmod(h.path("bin/worker"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.write("project/.github/reprise/pipelines/small.cue", small)
	for _, args := range [][]string{{"add", "--all"}, {"commit", "--quiet", "--message=pipeline"}, {"push", "--quiet", "origin", "main"}} {
		c := exec.Command("git", args...)
		c.Dir, c.Env = h.path("project"), h.env
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return h
}

// fault is one way in which an answer goes wrong.
type fault struct {
	name string
	githubtest.Fault
}

// faults are the kinds of them.
func faults() []fault {
	limit := githubtest.Status(http.StatusTooManyRequests, "Too many requests")
	limit.Header = http.Header{"Retry-After": {"1"}}
	all := []fault{
		{"502", githubtest.Status(http.StatusBadGateway, "Server Error")},
		{"429", limit},
		{"secondary limit", githubtest.Status(http.StatusForbidden, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")},
		{"page", githubtest.Page(http.StatusOK)},
		{"half", githubtest.Fault{Cut: true, Body: `{"id": 1, "bo`}},
		{"reset", githubtest.Fault{Reset: true}},
		{"drop", githubtest.Fault{Drop: true}},
		{"hang", githubtest.Fault{Hang: true}},
	}
	for code, text := range map[int]string{
		http.StatusUnauthorized: "Bad credentials", http.StatusForbidden: "Resource not accessible by integration", http.StatusNotFound: "Not Found",
		http.StatusGone: "Gone", http.StatusUnprocessableEntity: "Validation Failed",
	} {
		all = append(all, fault{fmt.Sprint(code), githubtest.Status(code, text)})
	}
	for _, f := range slices.Clone(all) {
		all = append(all, fault{f.name + " after it was done", githubtest.After(f.Fault)})
	}
	slices.SortFunc(all, func(a, b fault) int { return strings.Compare(a.name, b.name) })
	return all
}

// finish waits for a job that has to end soon.
func (j *hubJob) finish() *hubJob {
	j.h.t.Helper()
	select {
	case <-j.over:
	case <-time.After(soon):
		j.kill(true)
		j.h.t.Fatalf("the job has not ended after %v\n%s", soon, j.said.String())
	}
	return j.end(anyCode)
}

// done reports whether a job says that the run is completed.
func (j *hubJob) done() bool {
	return j.code() == exitDone && j.outputs["decision"] == "run" && j.outputs["reason-code"] == "completed" && j.outputs["status"] == "completed"
}

// clear says in what a job that did not end done is not clear.
func (j *hubJob) clear() error {
	switch {
	case j.outputs["reason-code"] == "":
		return fmt.Errorf("there is no reason code")
	case strings.TrimSpace(j.summary) == "":
		return fmt.Errorf("there is no summary")
	case j.code() == exitDone && j.outputs["reason-code"] != "stale_event":
		return fmt.Errorf("the exit code is 0")
	}
	return nil
}

// lived is a command with all that it takes to get it done.
type lived struct {
	h        *hub
	by, text string
	id       int64 // of its comment
	run      int   // of the workflow
	commands *[]int64
	log      strings.Builder
}

func (l *lived) start(attempt int) *hubJob {
	more := []string{}
	if attempt > 1 {
		more = append(more, fmt.Sprintf("GITHUB_RUN_ID=%d", l.run), fmt.Sprintf("GITHUB_RUN_ATTEMPT=%d", attempt))
		l.h.forge.AddRun(hubRepo, githubtest.Run{ID: int64(l.run), Attempt: attempt})
	}
	j := l.h.heard(l.id, l.by, more...)
	if attempt == 1 {
		l.run = 9000 + l.h.jobs
	}
	j.finish()
	fmt.Fprintf(&l.log, "--- attempt %d: exit %d, %v\n%s\n", attempt, j.code(), j.outputs, j.said.String())
	return j
}

// lead takes a command to its end: when its job has not done it, it is started
// again, or somebody gives the command again.
func (h *hub) lead(text string, anew bool, commands *[]int64) *lived {
	h.t.Helper()
	l := &lived{h: h, by: "ada", text: text, id: h.say("ada", text), commands: commands}
	*commands = append(*commands, l.id)
	j := l.start(1)
	for again := 1; ; again++ {
		missing := h.missing()
		if j.done() && missing == "" {
			return l
		}
		if err := j.clear(); !j.done() && err != nil {
			h.t.Errorf("%v\n%s", err, l.log.String())
		}
		if j.done() && missing != "" && !strings.Contains(j.said.String(), "::warning::") {
			h.t.Errorf("it does not say that this is missing: %s\n%s", missing, l.log.String())
		}
		if again > 3 {
			h.t.Fatalf("it is not done after %d jobs (missing: %s)\n%s", again, missing, l.log.String())
		}
		if anew {
			l.id = h.say("ada", text)
			*commands = append(*commands, l.id)
			j = l.start(1)
		} else {
			j = l.start(again + 1)
		}
	}
}

// missing says what a completed run should have left on the forge and has not.
func (h *hub) missing() string {
	pulls, live := h.forge.Pulls(hubRepo), h.ours("progress")
	switch {
	case len(live) == 0:
		return "the live comment"
	case !strings.Contains(live[0].Body, "✅"):
		return "the end in the live comment"
	case len(pulls) == 0:
		return "the pull request"
	case pulls[0].Draft:
		return "that the pull request is ready"
	case len(h.forge.SubIssues(hubRepo, hubIssue)) == 0:
		return "the follow-up issue below this one"
	}
	return ""
}

// sound holds everything against what must be so whatever happened.
func (h *hub) sound(commands []int64) error {
	run, err := audit(h.path("origin.git"), branchPrefix+fmt.Sprint(hubIssue))
	if err != nil {
		return err
	}
	taken := map[int64]int{}
	for _, d := range run.Decisions {
		if d.Comment > 0 {
			taken[d.Comment]++
		}
	}
	for _, id := range commands {
		if taken[id] != 1 {
			return fmt.Errorf("comment %d was taken %d times", id, taken[id])
		}
	}
	replies := map[string]int{}
	for _, c := range h.ours("reply") {
		first, _, _ := strings.Cut(c.Body, "\n")
		if replies[first]++; replies[first] > 1 {
			return fmt.Errorf("there are two comments %s", first)
		}
	}
	followUps := 0
	for _, is := range h.forge.Issues(hubRepo) {
		if strings.HasPrefix(is.Body, "<!-- reprise:followup:") {
			followUps++
		}
	}
	switch n, p := len(h.ours("progress")), len(h.forge.Pulls(hubRepo)); {
	case n != 1 || p != 1 || followUps != 1:
		return fmt.Errorf("%d live comments, %d pull requests, %d follow-up issues", n, p, followUps)
	case run.Status != metadata.Completed || run.Execution.Lease != nil:
		return fmt.Errorf("the run is %s, with the lease %+v", run.Status, run.Execution.Lease)
	}
	return h.keepsToken()
}

// keepsToken looks for the token wherever somebody could read it.
func (h *hub) keepsToken() error {
	var all strings.Builder
	for _, c := range h.forge.Comments(hubRepo, hubIssue) {
		all.WriteString(c.Body)
	}
	for _, is := range h.forge.Issues(hubRepo) {
		all.WriteString(is.Title + is.Body)
	}
	branch, err := gitIn(h.path("origin.git"), "log", "--patch", branchPrefix+fmt.Sprint(hubIssue))
	if err != nil {
		return err
	}
	if strings.Contains(all.String()+branch, hubToken) {
		return fmt.Errorf("the token stands on the forge")
	}
	out, err := exec.Command("grep", "-rlF", hubToken, h.dir).Output()
	if len(out) > 0 {
		return fmt.Errorf("the token stands in %s (%v)", out, err)
	}
	return nil
}

// again are the words that are given while the forge goes wrong.
const again = "/rollback build once more"

// undisturbed counts the calls of both commands when nothing goes wrong.
func undisturbed(t *testing.T) (run, back int) {
	t.Helper()
	h := newFaulty(t)
	var commands []int64
	h.lead("/run", false, &commands)
	run = len(h.forge.Requests())
	h.lead(again, false, &commands)
	if err := h.sound(commands); err != nil {
		t.Fatal(err)
	}
	return run, len(h.forge.Requests()) - run
}

// Whatever answer of the forge goes wrong, and however, a command is carried
// out once, or the job says why not, and starting again brings it to its end.
func TestForgeGoesWrong(t *testing.T) {
	t.Parallel()
	kinds := slices.DeleteFunc(faults(), func(f fault) bool {
		return !slices.Contains([]string{"403", "502 after it was done", "page", "reset"}, f.name)
	})
	goWrong(t, kinds)
}

// goWrong makes every call of a run and of a rollback go wrong once in each of
// some ways.
func goWrong(t *testing.T, kinds []fault) {
	began := time.Now()
	run, back := undisturbed(t)
	t.Cleanup(func() { t.Logf("%d and %d calls, %d kinds of faults, in %v", run, back, len(kinds), time.Since(began)) })
	for i, f := range kinds {
		for k := 1; k <= run; k++ {
			t.Run(fmt.Sprintf("run, call %d, %s", k, f.name), func(t *testing.T) {
				t.Parallel()
				h := newFaulty(t)
				var commands []int64
				h.forge.FaultAt(k, f.Fault)
				l := h.lead("/run", (i+k)%2 == 0, &commands)
				if err := h.sound(commands); err != nil {
					t.Errorf("%v\n%s", err, l.log.String())
				}
			})
		}
		t.Run("rollback, "+f.name, func(t *testing.T) {
			t.Parallel()
			h := newFaulty(t)
			var commands []int64
			h.lead("/run", false, &commands)
			for k := 1; k <= back; k++ {
				h.forge.FaultAt(k, f.Fault)
				l := h.lead(again, (i+k)%2 == 0, &commands)
				if err := h.sound(commands); err != nil {
					t.Fatalf("call %d: %v\n%s", k, err, l.log.String())
				}
			}
		})
	}
}
