//go:build slow || e2e

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// gated is a stage with a workflow that pushes start, those of reprise too.
func gated(t *testing.T, rule string) (*hub, *githubtest.Checks, *githubtest.Reviews) {
	t.Helper()
	h := newStage(t, twoSteps+"ci: {"+rule+"}\n")
	h.publish(map[string]string{".github/workflows/ci.yml": "on: push\njobs: {}\n"})
	h.forge.AddToken("ghp_gated0123456789", "robot")
	h.forge.Permit(hubRepo, "robot", "write")
	h.inputs["github-token"], h.inputs["notify"] = "ghp_gated0123456789", "commander"
	h.write("home/build-execute", changesCode)
	return h, githubtest.NewChecks(h.forge, hubRepo, t.Cleanup), githubtest.NewReviews(h.forge, hubRepo)
}

// asked waits until a job asks for the checks of the newest commit, and gives it.
func (h *hub) asked(made *githubtest.Checks) (commit string) {
	h.t.Helper()
	h.until("the job asks what CI says", func() bool { commit = h.tip(); return made.Asked(commit) })
	return commit
}

// tip is the newest commit of the run; empty if there is none yet.
func (h *hub) tip() string {
	out, err := testenv.Git(h.path("origin.git"), "rev-parse", "--quiet", "--verify", "refs/heads/reprise/issue-7")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// ready reports whether the pull request of the run is no draft.
func (h *hub) ready() bool {
	h.t.Helper()
	all := h.forge.Pulls(hubRepo)
	if len(all) != 1 {
		h.t.Fatalf("there are %d pull requests", len(all))
	}
	return !all[0].Draft
}

// What CI says of the newest commit is read by the next agent, and the pull request
// is ready on the commit that CI is good on, and not before.
func TestCIIsAGate(t *testing.T) {
	h, made, reviews := gated(t, "")
	h.write("home/build-revise", `cp "$REPRISE_TASK_FILE" "$HOME/task"; echo mended >"$REPRISE_DIR/code.txt"`+"\n")
	j := h.comment("ada", "/run")
	first := h.asked(made)
	// The one that fails comes first: by the other one alone CI would be good.
	made.Set(first, githubtest.Check{
		Name: "test `now`", Workflow: "ci.yml", Title: "CI", Conclusion: "failure",
		Notes: []githubtest.Note{{Path: "sum.go", Line: 3, Level: "failure", Message: "2 and 2 is 5"}},
		Log:   "2026-03-04T05:06:07.0000000Z ##[group]Run go test\n2026-03-04T05:06:08.0000000Z --- FAIL: TestSum\n2026-03-04T05:06:08.0000000Z ##[error]exit code 1\n2026-03-04T05:06:09.0000000Z Cleaning up\n",
	})
	made.Set(first, githubtest.Check{Name: "lint", Workflow: "ci.yml", Title: "CI", Conclusion: "success"})
	h.until("CI is asked again", func() bool { return h.tip() != first && made.Asked(h.tip()) })
	second := h.asked(made)
	if h.ready() {
		t.Error("the pull request is ready although CI has not spoken")
	}
	made.Set(second, githubtest.Check{Name: "test", Workflow: "ci.yml", Title: "CI", Conclusion: "success"})
	j.end(exit.Done).wants("status", "completed", "reason-code", "completed")
	if !h.ready() {
		t.Error("the pull request is a draft although CI is good")
	}
	if out, err := testenv.Git(h.path("origin.git"), "ls-tree", "-r", "--name-only", second); err != nil || strings.Contains(out, ".reprise/") || h.tip() != second {
		t.Errorf("CI was good on %s, and the branch is at %s with (%v):\n%s", second, h.tip(), err, out)
	}
	h.late(made, second, "nightly.yml")
	run := h.record()
	if run.CI == nil || run.CI.Commit != second || len(run.RollbackHistory) != 1 || run.RollbackHistory[0].TriggeredBy != metadata.Automatic || run.Execution.Lease != nil {
		t.Errorf("the record is %+v, with the rollbacks %+v", run.CI, run.RollbackHistory)
	}
	var task struct{ Prompt string }
	jsonOf(t, h.read("home/task"), &task)
	testenv.Has(t, "the task", task.Prompt, "CI fails on commit "+first[:7], "The check `ci/test _now_` (`CI in ci.yml`) failed", "sum.go:3: 2 and 2 is 5", "--- FAIL: TestSum\nerror: exit code 1\n")
	testenv.Lacks(t, "the task", task.Prompt, "Cleaning up", "2026-03-04T")
	testenv.Same(t, "for a review were asked", []string{"ada"}, reviews.Asked(8))
	testenv.Same(t, "assigned are", []string{"ada"}, reviews.Assigned(8))
	if len(made.Tokens) != 0 {
		t.Error("the host of the logs got the token")
	}
}

// said are the comments of a kind on the issue, whichever token wrote them.
func (h *hub) said(kind string) []githubtest.Comment {
	return slices.DeleteFunc(h.forge.Comments(hubRepo, hubIssue), func(c githubtest.Comment) bool { return !strings.HasPrefix(c.Body, "<!-- reprise:"+kind+":") })
}

// When a check that the pipeline requires does not start in its time, whoever gave the
// command is told, once, however many jobs look after that. If it comes after all, the run
// goes on by itself, and that comment is folded away.
func TestCIDoesNotCome(t *testing.T) {
	h, made, _ := gated(t, `wait: "1ms", required: ["test", "lint"]`)
	h.comment("ada", "/run").end(exit.Done).wants("status", "waiting", "reason-code", "awaiting_ci")
	commit := h.tip()
	ended := func() *hubJob {
		return h.start("workflow_run", "robot", made.RunPayload("reprise/issue-7", commit, "ci.yml", "robot"), "GITHUB_REF=refs/heads/main").end(exit.Done)
	}
	once := func(when string) githubtest.Comment {
		t.Helper()
		told := h.said("stop")
		if len(told) != 1 || told[0].Minimized != "" || h.ready() || h.tip() != commit {
			t.Fatalf("%s people are told %+v, and the branch is at %s", when, told, h.tip())
		}
		if labels := h.forge.Labels(hubRepo, hubIssue); !slices.Contains(labels, "reprise: waiting") {
			t.Errorf("%s the issue has the labels %q", when, labels)
		}
		return told[0]
	}
	told := once("after the first job")
	testenv.Has(t, "what people are told", told.Body, "@ada", commit[:7]+": test, lint", "`ci: required`", "`/run`")
	testenv.Has(t, "the live comment", h.said("progress")[0].Body, commit[:7]+": test, lint", "`ci: required`")
	made.Says(commit, "test", "success")
	ended().wants("reason-code", "awaiting_ci")
	once("after a job that finds one of the two")
	made.Says(commit, "lint", "")
	ended().wants("reason-code", "awaiting_ci")
	once("after a job that finds the other one at work")
	testenv.Has(t, "the live comment", h.said("progress")[0].Body, "CI has not ended on "+commit[:7]+": lint")
	made.Says(commit, "lint", "success")
	ended().wants("status", "completed")
	all := h.said("stop")
	if len(all) != 2 || all[0].Minimized == "" || all[1].Minimized != "" || !h.ready() {
		t.Errorf("at the end people are told %+v", all)
	}
	if labels := h.forge.Labels(hubRepo, hubIssue); slices.Contains(labels, "reprise: waiting") {
		t.Errorf("at the end the issue has the labels %q", labels)
	}
}

// When what did not come in its time comes after all, and fails, the work is revised without
// anybody, so the comment that people were told by is folded away at once.
func TestCIComesLateAndIsRed(t *testing.T) {
	h, made, _ := gated(t, `wait: "1ms", required: ["test"]`)
	h.write("home/build-revise", `touch "$HOME/mending"; until [ -e "$HOME/go-on" ]; do sleep 0.02; done; echo mended >"$REPRISE_DIR/code.txt"`+"\n")
	h.comment("ada", "/run").end(exit.Done).wants("reason-code", "awaiting_ci")
	if told := h.said("stop"); len(told) != 1 || told[0].Minimized != "" {
		t.Fatalf("people are told %+v", told)
	}
	commit := h.tip()
	made.Set(commit, githubtest.Check{Name: "test", Workflow: "ci.yml", Conclusion: "failure", Log: "red\n"})
	j := h.start("workflow_run", "robot", made.RunPayload("reprise/issue-7", commit, "ci.yml", "robot"), "GITHUB_REF=refs/heads/main")
	h.until("the work is revised", func() bool { _, err := os.Stat(h.path("home/mending")); return err == nil })
	if told := h.said("stop"); len(told) != 1 || told[0].Minimized != "OUTDATED" {
		t.Errorf("while the work is revised people are told %+v", told)
	}
	h.write("home/go-on", "")
	j.end(exit.Done).wants("reason-code", "awaiting_ci")
}

// Nobody is called while a run waits for what comes within its time, or for what has begun
// and ends after it.
func TestCIIsOnlyAwaited(t *testing.T) {
	h, made, _ := gated(t, `wait: "10s", required: ["test"]`)
	j := h.comment("ada", "/run")
	commit := h.asked(made)
	if told := h.said("stop"); len(told) != 0 {
		t.Errorf("within the time people are told %+v", told)
	}
	made.Says(commit, "test", "")
	j.end(exit.Done).wants("reason-code", "awaiting_ci")
	if told := h.said("stop"); len(told) != 0 || slices.Contains(h.forge.Labels(hubRepo, hubIssue), "reprise: waiting") {
		t.Errorf("of what has begun people are told %+v", told)
	}
	made.Says(commit, "test", "success")
	h.start("workflow_run", "robot", made.RunPayload("reprise/issue-7", commit, "ci.yml", "robot"), "GITHUB_REF=refs/heads/main").end(exit.Done).wants("status", "completed")
	if told := h.said("stop"); len(told) != 1 || !h.ready() {
		t.Errorf("at the end people are told %+v", told)
	}
}

// When CI takes longer than a job waits, the run goes on once CI has ended, without a
// word of anybody. Nothing is pushed meanwhile, which would start CI anew.
func TestCIOutlastsTheJob(t *testing.T) {
	h, made, _ := gated(t, `wait: "1ms", required: ["test"]`)
	h.comment("ada", "/run").end(exit.Done).wants("status", "waiting", "reason-code", "awaiting_ci")
	run, commit := h.record(), h.tip()
	if run.Stop == nil || run.Stop.Code != metadata.AwaitingCI || run.Execution.Lease != nil || h.ready() {
		t.Fatalf("the run is %+v", run)
	}
	made.Says(commit, "test", "")
	ended := func(event string, payload []byte) *hubJob {
		return h.start(event, "robot", payload, "GITHUB_REF=refs/heads/main")
	}
	run1 := func() []byte { return made.RunPayload("reprise/issue-7", commit, "ci.yml", "robot") }
	ended("workflow_run", run1()).end(exit.Done).wants("reason-code", "awaiting_ci")
	if h.tip() != commit {
		t.Error("a job that changed nothing has pushed")
	}
	made.Says(commit, "test", "cancelled")
	ended("workflow_run", run1()).end(exit.Done).wants("reason-code", "awaiting_ci")
	made.Says(commit, "test", "success")
	h.inputs["command"] = "gate"
	ended("workflow_run", made.RunPayload("reprise/issue-70", commit, "ci.yml", "robot")).end(exit.Done).wants("decision", "ignored")
	ended("workflow_run", made.RunPayload("feature", commit, "ci.yml", "robot")).end(exit.Done).wants("decision", "ignored", "reason-code", "nothing_done")
	fork := strings.Replace(string(run1()), `"head_repository":{`, `"head_repository":{"full_name":"eve/widget",`, 1)
	fork = strings.Replace(fork, `"full_name":"acme/widget"`, `"full_name":"eve/widget"`, 1)
	ended("workflow_run", []byte(fork)).end(exit.Done).wants("decision", "ignored", "reason-code", "nothing_done")
	ended("workflow_run", run1()).end(exit.Done).wants("decision", "run", "issue", "7")
	ended("check_suite", made.SuitePayload("reprise/issue-7", commit, "robot")).end(exit.Done).wants("decision", "run", "issue", "7")
	ended("status", made.StatusPayload("reprise/issue-7", commit, "other/ci", "success", "robot")).end(exit.Done).wants("decision", "run", "issue", "7")
	ended("status", made.StatusPayload("reprise/issue-7", commit, "other/ci", "pending", "robot")).end(exit.Done).wants("decision", "ignored", "reason-code", "nothing_done")
	delete(h.inputs, "command")
	ended("workflow_run", run1()).end(exit.Done).wants("status", "completed", "reason-code", "completed")
	if run := h.record(); !h.ready() || run.CI.Commit != commit {
		t.Errorf("the pull request is a draft, or CI was good on %q", run.CI.Commit)
	}
	// Taken back, it is a draft until CI has spoken of the new work.
	h.write("home/build-revise", `echo "more" >>"$REPRISE_DIR/code.txt"`+"\n")
	h.comment("ada", "/rollback build it has to do more").end(exit.Done).wants("reason-code", "awaiting_ci")
	if h.ready() {
		t.Error("the pull request is ready while CI has not seen the new work")
	}
	commit = h.tip()
	made.Says(commit, "test", "success")
	ended("workflow_run", run1()).end(exit.Done).wants("status", "completed")
	if !h.ready() {
		t.Error("the pull request is a draft at the end")
	}
	h.inputs["command"] = "gate"
	ended("check_suite", made.SuitePayload("reprise/issue-7", commit, "robot")).end(exit.Done).wants("decision", "ignored", "reason-code", "nothing_done")
}

// After so many revisions a person is told; and if it was not the work, CI alone
// takes the run on.
func TestCIStaysRed(t *testing.T) {
	h, made, _ := gated(t, "fixes: 1")
	h.write("home/build-revise", `echo "more" >>"$REPRISE_DIR/code.txt"`+"\n")
	j := h.comment("ada", "/run")
	var last string
	for range 2 {
		h.until("CI is asked", func() bool { now := h.tip(); return now != last && made.Asked(now) })
		last = h.tip()
		made.Set(last, githubtest.Check{Name: "test", Workflow: "ci.yml", Conclusion: "failure", Log: "red\n"})
	}
	j.end(exit.Failed).wants("status", "failed", "reason-code", "ci_failed")
	told := h.said("stop")
	if len(told) != 1 {
		t.Fatalf("told was %+v", told)
	}
	testenv.Has(t, "what people are told", told[0].Body, "@ada", "after 1 revision: test", "/retry")
	if got := h.calls(); got != "plan execute, build execute, build revise" || h.ready() {
		t.Errorf("the agent was called for %s", got)
	}
	commit := h.tip()
	made.Says(commit, "test", "success")
	h.start("workflow_run", "ada", made.RunPayload("reprise/issue-7", commit, "ci.yml", "ada"), "GITHUB_REF=refs/heads/main").end(exit.Done).wants("status", "completed")
	if !h.ready() {
		t.Error("the pull request is a draft although CI is good")
	}
}

// A commit that CI has not seen does not get ready with one that it has.
func TestCommitAfterCI(t *testing.T) {
	h, made, _ := gated(t, "")
	j := h.comment("ada", "/run")
	seen := h.asked(made)
	clone := h.path("theirs")
	h.git("clone", "--quiet", "--branch=reprise/issue-7", "file://"+h.path("origin.git"), clone)
	testenv.Put(t, clone+"/theirs.txt", "by hand\n")
	h.git("-C", clone, "add", "--all")
	h.git("-C", clone, "commit", "--quiet", "--message=by hand")
	h.git("-C", clone, "push", "--quiet")
	made.Says(seen, "test", "success")
	j.end(exit.Done).wants("status", "waiting", "reason-code", "awaiting_ci")
	if h.ready() {
		t.Error("a commit is ready that CI has not seen")
	}
	theirs := h.tip()
	made.Says(theirs, "test", "success")
	j = h.start("workflow_run", "ada", made.RunPayload("reprise/issue-7", theirs, "ci.yml", "ada"), "GITHUB_REF=refs/heads/main")
	h.until("CI is asked", func() bool {
		now := h.tip()
		made.Says(now, "test", "success")
		return made.Asked(now)
	})
	j.end(exit.Done).wants("status", "completed")
	if !h.ready() {
		t.Error("the pull request is a draft although CI is good")
	}
}

// Pushes with the token of a job start nothing: what the pipeline names is started on
// the commit, and awaited.
func TestCIIsStarted(t *testing.T) {
	h, made, _ := gated(t, `required: ["ci.yml"]`)
	delete(h.inputs, "github-token")
	j := h.comment("ada", "/run")
	commit := h.asked(made)
	h.until("the workflow is started", func() bool { return len(h.forge.Dispatches(hubRepo)) == 1 })
	if d := h.forge.Dispatches(hubRepo)[0]; d.Workflow != "ci.yml" || d.Ref != "reprise/issue-7" {
		t.Errorf("started is %+v", d)
	}
	made.Set(commit, githubtest.Check{Name: "other", Workflow: "other.yml", Conclusion: "failure"}) // which is not asked for
	made.Says(commit, "test", "success")
	j.end(exit.Done).wants("status", "completed")
	if !h.ready() || len(h.forge.Dispatches(hubRepo)) != 1 {
		t.Errorf("started were %+v", h.forge.Dispatches(hubRepo))
	}
	testenv.Lacks(t, "the live comment", h.ours("progress")[0].Body, "did not start")
}

// Where the token of the job may not start what the pipeline requires of CI, that is said
// before an agent is called.
func TestCIMayNotBeStarted(t *testing.T) {
	h, _, _ := gated(t, `required: ["ci.yml"]`)
	delete(h.inputs, "github-token")
	h.forge.Allow(hubToken, hubRepo, map[string]string{"issues": "write", "contents": "write", "pull_requests": "write", "checks": "read", "statuses": "read", "actions": "read"})
	id := h.say("ada", "/run")
	j := h.heard(id, "ada").end(exit.Failed).wants("reason-code", "credentials_missing")
	testenv.Has(t, "the summary", j.summary, "actions: write")
	testenv.Has(t, "the answer", h.replyTo(id), "actions: write")
	if got := h.calls(); got != "" || len(h.forge.Dispatches(hubRepo)) != 0 {
		t.Errorf("the agent was called for %s, and started were %+v", got, h.forge.Dispatches(hubRepo))
	}
}

// CI that could start, and does not, holds nothing up.
func TestCIStartsNothing(t *testing.T) {
	h, _, _ := gated(t, `wait: "1ms"`)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	if run := h.record(); run.CI == nil || !h.ready() {
		t.Errorf("what CI says is %+v", run.CI)
	}
}

// CI that looks at no draft has said nothing of the work, and that is told with the end of the
// run. It starts once the pull request is ready: that it fails then is told once, and the run
// stays as it is.
func TestCISkipsDrafts(t *testing.T) {
	h, made, _ := gated(t, `wait: "5s"`)
	j := h.comment("ada", "/run")
	commit := h.asked(made)
	made.Set(commit, githubtest.Check{Name: "test", Workflow: "ci.yml", Title: "CI", Conclusion: "skipped"})
	j.end(exit.Done).wants("status", "completed")
	if run := h.record(); run.CI == nil || run.CI.Commit != "" || !h.ready() {
		t.Errorf("what CI says is %+v", run.CI)
	}
	told := h.said("stop")
	if len(told) != 1 {
		t.Fatalf("people are told %+v", told)
	}
	testenv.Has(t, "what people are told", told[0].Body, "@ada", "Completed", "All of CI was skipped on "+commit[:7])
	h.late(made, commit, "ci.yml")
}

// late has CI fail on the commit of a completed run, which people are told of once, and then pass.
func (h *hub) late(made *githubtest.Checks, commit, workflow string) {
	h.t.Helper()
	ended := func(command string) *hubJob {
		h.inputs["command"] = command
		return h.start("workflow_run", "robot", made.RunPayload("reprise/issue-7", commit, workflow, "robot"), "GITHUB_REF=refs/heads/main").end(exit.Done)
	}
	ended("gate").wants("decision", "ignored", "reason-code", "nothing_done")
	made.Set(commit, githubtest.Check{Name: "late test", Workflow: workflow, Title: "CI", Conclusion: "failure"})
	for range 2 {
		ended("gate").wants("decision", "run", "issue", "7")
		ended("").wants("decision", "replied")
		late := h.said("late")
		if len(late) != 1 {
			h.t.Fatalf("of late CI people are told %+v", late)
		}
		testenv.Has(h.t, "that word", late[0].Body, "@ada", "CI fails on "+commit[:7]+": late test", "`/rollback PHASE REASON`", "`build`")
	}
	if run := h.record(); run.Status != metadata.Completed || h.tip() != commit || len(h.said("stop")) != 1 {
		h.t.Errorf("then the run is %s at %s", run.Status, h.tip())
	}
	made.Set(commit, githubtest.Check{Name: "late test", Workflow: workflow, Title: "CI", Conclusion: "success"})
	ended("gate").wants("decision", "ignored", "reason-code", "nothing_done")
	delete(h.inputs, "command")
}

// Where a pipeline asks nothing of CI, nobody waits for it, also if it fails. People are
// told, and nothing says that it was good.
func TestCIIsNotAsked(t *testing.T) {
	h, _, _ := gated(t, `required: []`)
	delete(h.inputs, "github-token")
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	if run := h.record(); run.CI != nil || !h.ready() {
		t.Errorf("what CI says is %+v", run.CI)
	}
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "The pipeline asks nothing of CI")
	if log, err := testenv.Git(h.path("origin.git"), "log", "--format=%s", "refs/reprise/records/issue-7", "reprise/issue-7"); err != nil || strings.Contains(log, "CI is good") {
		t.Errorf("the commits say (%v):\n%s", err, log)
	}
}

// Where there is no CI, people are told, and nobody waits.
func TestNoCI(t *testing.T) {
	h := newStage(t, twoSteps)
	h.inputs["notify"] = "commander"
	h.write("home/build-execute", changesCode)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	if run := h.record(); run.CI != nil || !h.ready() {
		t.Errorf("what CI says is %+v", run.CI)
	}
	told := func() string { return h.ours("progress")[0].Body + h.forge.Pulls(hubRepo)[0].Body }
	refused := func() { h.comment("ada", "/run").end(exit.Done).wants("status", "completed") }
	testenv.Is(t, "comment and pull request tell of it, in times:", strings.Count(told(), "No CI is configured"), 2)
	refused()
	testenv.Is(t, "after a command that does nothing they tell of it, in times:", strings.Count(told(), "No CI is configured"), 2)
	made := githubtest.NewChecks(h.forge, hubRepo, t.Cleanup)
	made.Says(h.tip(), "test", "success")
	refused()
	testenv.Is(t, "once CI has run they tell that there is none, in times:", strings.Count(told(), "No CI is configured"), 0)
	h.late(made, h.tip(), "ci.yml")
}
