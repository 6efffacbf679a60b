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

// clear says in what a job that did not end done is not clear.
func (j *hubJob) clear() error {
	switch {
	case j.outputs["reason-code"] == "":
		return fmt.Errorf("there is no reason code")
	case strings.TrimSpace(j.summary) == "":
		return fmt.Errorf("there is no summary")
	case j.code() == exit.Done && !slices.Contains([]string{"permission_denied", "stale_event", "no_run"}, j.outputs["reason-code"]):
		// That somebody has no right, or that there is no such issue, is an answer.
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

func (l *lived) start(attempt int, more ...string) *hubJob {
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
// again, or somebody gives the command again. The first job has more in its
// environment.
func (h *hub) lead(text string, anew bool, commands *[]int64, more ...string) *lived {
	h.t.Helper()
	l := &lived{h: h, by: "ada", text: text, id: h.say("ada", text), commands: commands}
	*commands = append(*commands, l.id)
	j := l.start(1, more...)
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
	h := newFaulty(t)
	var commands []int64
	h.lead("/run", false, &commands)
	run = h.forge.Requests()
	h.lead(again, false, &commands)
	testenv.Must(t, h.sound(commands))
	return run, h.forge.Requests()[len(run):]
}

// hub makes a hub for a fault. Where there is no answer, jobs do not wait long
// for one.
func (f fault) hub(t *testing.T) *hub {
	t.Helper()
	h := newFaulty(t)
	if f.Hang {
		h.env = append(h.env, answerWithin+"=1s")
	}
	return h
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
				h := f.hub(t)
				var commands []int64
				h.disturb(n+1, f, "/run", (i+n/every)%2 == 0, &commands)
				lives.Add(1)
			})
		}
		var met []int
		for n, call := range back {
			if f.meets(call) && (n+i)%every == 0 {
				met = append(met, n)
			}
		}
		for some := range slices.Chunk(met, perHub) {
			t.Run(fmt.Sprintf("rollback, from call %d, %s", some[0]+1, f.name), func(t *testing.T) {
				t.Parallel()
				h := f.hub(t)
				var commands []int64
				h.lead("/run", false, &commands)
				for _, n := range some {
					h.disturb(n+1, f, again, (i+n/every)%2 == 0, &commands)
					lives.Add(1)
				}
			})
		}
		t.Run("help, "+f.name, func(t *testing.T) {
			t.Parallel()
			h := f.hub(t)
			for k := 1; k <= 6; k++ { // too few calls for a large n
				if (k+i)%min(every, 5) == 0 {
					h.forge.FaultAt(k, f.Fault)
					h.help()
					lives.Add(1)
				}
			}
		})
	}
}

// disturb leads a command to its end while one call goes wrong.
func (h *hub) disturb(k int, f fault, text string, anew bool, commands *[]int64) {
	h.t.Helper()
	h.forge.FaultAt(k, f.Fault)
	l := h.lead(text, anew, commands)
	if err := h.sound(*commands); err != nil {
		h.t.Fatalf("call %d: %v\n%s", k, err, l.log.String())
	}
	// Where GitHub says that it does not say who may write, only the author is heard.
	if by := h.heardOf(); by != "max, bob" && (by != "bob" || !slices.Contains([]string{"401", "403"}, f.name)) {
		h.t.Errorf("call %d: of the discussion the run knows what is said by %q\n%s", k, by, l.log.String())
	}
}

// heardOf names whose comments the run has taken.
func (h *hub) heardOf() string {
	at := world.RecordAt(h.path("origin.git"), environ.BranchPrefix+fmt.Sprint(hubIssue))
	data := testenv.MustGit(h.t, h.path("origin.git"), "show", at+":.reprise/issue-7/discussion.json")
	said, err := issue.ParseDiscussion([]byte(data))
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.Join(said.By(), ", ")
}

// help asks a question, which has to be answered once: at once, or when the
// job that has said that it could not is started again.
func (h *hub) help() {
	h.t.Helper()
	id := h.say("tom", "/help")
	answers := func() int {
		return len(slices.DeleteFunc(h.ours("reply"), func(c githubtest.Comment) bool { return !slices.Contains(command.AnswersTo(c.Body), id) }))
	}
	j := h.heard(id, "tom").finish()
	if j.code() == exit.Done && j.outputs["decision"] == "replied" && answers() != 1 {
		h.t.Errorf("the job says that it has answered, and there are %d answers\n%s", answers(), j.said.String())
	}
	if answers() == 0 {
		if err := j.clear(); err != nil {
			h.t.Errorf("%v\n%s", err, j.said.String())
		}
		h.heard(id, "tom", fmt.Sprintf("GITHUB_RUN_ID=%d", 9000+h.jobs), "GITHUB_RUN_ATTEMPT=2").finish()
	}
	if n := answers(); n != 1 {
		h.t.Errorf("there are %d answers\n%s", n, j.said.String())
	}
}
