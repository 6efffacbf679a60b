//go:build slow || e2e

package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/issue"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
)

// soon is more than a job takes in these tests, whatever goes wrong.
const soon = 5 * time.Minute

// small is a pipeline that leaves everything a forge is asked to keep: code, a
// report, work for another issue, labels and statuses.
const small = `
labels: "copy"
statuses: true
agents: own: {use: "command", command: ["worker"]}
phases: [{name: "build", goal: "Build.", access: "tree", review: false, report: remaining: [...{title: string, body: string}]}]
`

const worker = `#!/bin/sh
echo "$REPRISE_STEP $$" >hello.txt
echo done >"$REPRISE_ARTIFACT"
echo '{"text": "Done.", "structured": {"remaining": [{"title": "Translate", "body": "It only speaks English."}]}}'
`

// newFaulty is a hub with that pipeline, whose jobs are in a hurry, and below whose issue
// something was said.
func newFaulty(t *testing.T) *hub {
	t.Helper()
	h := newHubOf(t, map[string]string{".github/reprise/pipelines/small.cue": small})
	h.as, h.inputs = "hurried", map[string]string{"pipeline": "small", "sandbox": "off"}
	githubtest.NewChecks(h.forge, hubRepo, t.Cleanup)
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Labels = append(is.Labels, "bug") })
	h.write("bin/worker", worker)
	h.mayRun("bin/worker")
	h.say("max", "In English.")
	h.say("bob", "Once is enough.")
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
		if f.name != "429" && f.name != "secondary limit" { // who says that it is too much has not done it
			all = append(all, fault{f.name + " after it was done", githubtest.After(f.Fault)})
		}
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
	return j.code() == exit.Done && j.outputs["decision"] == "run" && j.outputs["reason-code"] == "completed" && j.outputs["status"] == "completed"
}

// faulty is a hub with that pipeline whose run is to be completed, whatever goes wrong.
func faulty(t *testing.T) *asked {
	t.Helper()
	a := &asked{hub: newFaulty(t), minor: func() string { return "" }}
	a.left = func() string {
		missing := a.missing()
		if err := a.sound(a.commands); missing == "" && err != nil {
			return err.Error()
		}
		return missing
	}
	return a
}

// lead takes a command to its end, in a world that is as in says.
func (a *asked) lead(text, in string) {
	a.t.Helper()
	if a.anew != "" {
		a.anew = text
	}
	log := a.goes(a.says("ada", text), in, plainly.MatchString(in))
	// Where GitHub says that it does not say who may write, only the author is heard.
	if by := a.heardOf(); by != "max, bob" && (by != "bob" || !strings.HasPrefix(in, "401") && !strings.HasPrefix(in, "403")) {
		a.t.Errorf("%s: of the discussion the run knows what is said by %q\n%s", in, by, log)
	}
}

// missing says what a completed run should have left on the forge and has not.
func (h *hub) missing() string {
	pulls, live := h.forge.Pulls(hubRepo), h.ours("progress")
	switch {
	case len(live) == 0:
		return "the live comment"
	case !h.shows(live[0].Body):
		return "the newest state in the live comment"
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
	run, err := world.Audit(h.path("origin.git"), environ.BranchPrefix+fmt.Sprint(hubIssue))
	if err != nil {
		return err
	}
	taken := map[int64]int{}
	for _, d := range run.Decisions {
		if d.Comment > 0 {
			taken[d.Comment]++
		}
	}
	replies := map[int64]int{}
	for _, c := range h.ours("reply") {
		for _, id := range command.AnswersTo(c.Body) {
			if replies[id]++; replies[id] > 1 {
				return fmt.Errorf("there are two answers to comment %d", id)
			}
		}
	}
	for _, id := range commands {
		refused := taken[id] == 0 && replies[id] == 1
		if taken[id] != 1 && !refused {
			return fmt.Errorf("comment %d was taken %d times", id, taken[id])
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
	branch, err := testenv.Git(h.path("origin.git"), "log", "--patch", environ.BranchPrefix+fmt.Sprint(hubIssue))
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

// undisturbed gives the calls of both commands when nothing goes wrong.
func undisturbed(t *testing.T) (run, back []githubtest.Request) {
	t.Helper()
	a := faulty(t)
	a.lead("/run", "undisturbed")
	run = a.forge.Requests()
	a.lead(again, "undisturbed")
	return run, a.forge.Requests()[len(run):]
}

// hub makes a hub for a fault. Where there is no answer, jobs do not wait long for one. When a job has not done what it was
// asked for, it is started again or, anew, somebody gives the command again.
func (f fault) hub(t *testing.T, anew bool) *asked {
	t.Helper()
	a := faulty(t)
	if f.Hang {
		a.env = append(a.env, answerWithin+"=1s")
	}
	if anew {
		a.anew = again
	}
	return a
}

// meets reports whether a call is worth a fault: what reads does nothing before
// its answer goes wrong.
func (f fault) meets(call githubtest.Request) bool { return !f.After || call.Method != http.MethodGet }

// Whatever answer of the forge goes wrong, and however, a command is carried
// out once, or the job says why not, and starting again brings it to its end.
func TestForgeGoesWrong(t *testing.T) {
	kinds := slices.DeleteFunc(faults(), func(f fault) bool {
		return !slices.Contains([]string{"403", "502 after it was done", "page", "reset"}, f.name)
	})
	goWrong(t, kinds, 31)
}

// goWrong makes the calls of a run, of a rollback and of a question fail in each of
// some ways. A way is tried at every nth call, beginning one call later than the way
// before it; with n = 1 every call fails once in every way.
func goWrong(t *testing.T, kinds []fault, every int) {
	t.Parallel()
	began := time.Now()
	run, back := undisturbed(t)
	lives := new(atomic.Int64)
	t.Cleanup(func() {
		t.Logf("%d calls for a run, %d for a rollback; %d kinds of faults, %d lives in %v", len(run), len(back), len(kinds), lives.Load(), time.Since(began))
	})
	for i, f := range kinds {
		for n, call := range run {
			if !f.meets(call) || (n+i)%every > 0 {
				continue
			}
			t.Run(fmt.Sprintf("run, call %d, %s", n+1, f.name), func(t *testing.T) {
				t.Parallel()
				a := f.hub(t, (i+n/every)%2 == 0)
				a.forge.FaultAt(n+1, f.Fault)
				a.lead("/run", f.name)
				lives.Add(1)
			})
		}
		var met []int
		for n, call := range back {
			if f.meets(call) && (n+i)%every == 0 {
				met = append(met, n)
			}
		}
		for nth, some := range slices.Collect(slices.Chunk(met, perHub)) {
			t.Run(fmt.Sprintf("rollback, from call %d, %s", some[0]+1, f.name), func(t *testing.T) {
				t.Parallel()
				a := f.hub(t, (i+nth)%2 == 0)
				a.lead("/run", "undisturbed")
				for _, n := range some {
					a.forge.FaultAt(n+1, f.Fault)
					a.lead(again, f.name)
					lives.Add(1)
				}
			})
		}
		t.Run("help, "+f.name, func(t *testing.T) {
			t.Parallel()
			a := f.hub(t, false)
			for k := 1; k <= 6; k++ { // too few calls for a large n
				if (k+i)%min(every, 5) == 0 {
					a.forge.FaultAt(k, f.Fault)
					a.help(f.name)
					lives.Add(1)
				}
			}
		})
	}
}

// heardOf names whose comments the run has taken.
func (h *hub) heardOf() string {
	at := world.RecordAt(h.path("origin.git"), environ.BranchPrefix+fmt.Sprint(hubIssue))
	data := testenv.MustGit(h.t, h.path("origin.git"), "show", at+":.reprise/issue-7/discussion.json")
	said, err := issue.ParseDiscussion([]byte(data))
	testenv.Must(h.t, err)
	return strings.Join(said.By(), ", ")
}

// help asks a question, which has to be answered once.
func (a *asked) help(in string) {
	a.t.Helper()
	start := a.says("tom", "/help")
	id := a.commands[len(a.commands)-1]
	a.left = func() string { return first(len(a.repliesTo(id)) > 0, "the answer") }
	log := a.goes(start, in, plainly.MatchString(in))
	if n := len(a.repliesTo(id)); n != 1 {
		a.t.Errorf("%s: there are %d answers\n%s", in, n, log)
	}
}
