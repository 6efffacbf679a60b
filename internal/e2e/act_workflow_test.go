//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// standIn is a program in place of reprise. It writes down what it was given,
// and says what the gate would.
const standIn = `#!/bin/bash
name=${INPUT_COMMAND%% *} name=${name:-work}
mkdir -p "$REPRISE_HOME"
env > "$REPRISE_HOME/$name.env"
cp "$GITHUB_EVENT_PATH" "$REPRISE_HOME/$name.json"
echo "stands in as $name, $*"
if [ "$name" = gate ]; then
	printf 'issue=7\ndecision=%s\n' "${DECISION:-run}" >> "$GITHUB_OUTPUT"
	exit 0
fi
git --no-pager log -1 --format='has %s' && git status --porcelain
printf 'result<<end\n{"status":\n"success"}\nend\n' >> "$GITHUB_OUTPUT"
printf '# Done\n' >> "$GITHUB_STEP_SUMMARY"
exit ${CODE:-0}
`

// newWiring makes a hub with the stand-in, and CI that the workflow has to name.
func newWiring(t *testing.T) *hub {
	t.Helper()
	program := filepath.Join(t.TempDir(), "reprise")
	testenv.Must(t, os.WriteFile(program, []byte(standIn), 0o755))
	h := newHub(t, program, "claude")
	h.write("repo/.github/workflows/ci.yml", "name: CI\non: pull_request\njobs: {test: {runs-on: ubuntu-24.04, steps: [{run: 'true'}]}}\n")
	if out := h.reprise("init", "--workflow-only", "--force", "--uses", setup.DefaultUses()); out.code != 0 {
		t.Fatalf("init: %s%s", out.stdout, out.stderr)
	}
	h.checkOutHere()
	h.publish("Name CI in it")
	return h
}

type object = map[string]any

// said is the event of a comment on issue 7.
func said(by, kind, body string) object {
	user := object{"login": by, "type": kind}
	return object{
		"action": "created", "sender": user, "repository": object{"full_name": repository, "default_branch": "main"},
		"issue": object{"number": 7, "title": "Add a flag"}, "comment": object{"id": 1, "body": body, "user": user},
	}
}

// labeled is the event of a label on issue 7.
func labeled(by, label string) object {
	e := said(by, "User", "")
	e["action"], e["label"] = "labeled", object{"name": label}
	delete(e, "comment")
	return e
}

// closedBy is the event of issue 7 being closed, which a run may wait for.
func closedBy(who string) object {
	e := said(who, "User", "")
	e["action"] = "closed"
	delete(e, "comment")
	return e
}

// robot is a program that reports on commits.
var robot = object{"login": "ci[bot]", "type": "Bot"}

// ranOn is the event of a workflow that has ended on a branch.
func ranOn(branch, from string) object {
	run := object{"head_branch": branch, "head_repository": object{"full_name": from}}
	return object{"action": "completed", "workflow_run": run, "sender": robot}
}

// statusOn is the event of a status on the newest commit of some branches.
func statusOn(state string, branches ...string) object {
	on := []object{}
	for _, b := range branches {
		on = append(on, object{"name": b, "commit": object{"sha": "c1"}})
	}
	return object{"sha": "c1", "state": state, "context": "ci/build", "branches": on, "sender": robot}
}

// reviewed is the event of a review of the pull request of a branch.
func reviewed(state, branch, from, kind, body string) object {
	return object{
		"action": "submitted", "sender": object{"login": "ann", "type": kind}, "review": object{"state": state, "body": body},
		"pull_request": object{"number": 8, "head": object{"ref": branch, "repo": object{"full_name": from}}},
	}
}

// onLine is the event of a comment on a line of the pull request of issue 7.
func onLine(kind, body string) object {
	e := reviewed("commented", "reprise/issue-7", repository, kind, "")
	delete(e, "review")
	e["action"], e["comment"] = "created", object{"body": body}
	return e
}

func TestWorkflowStarts(t *testing.T) {
	none := map[string]string{}
	for _, tt := range []struct {
		name, event string
		payload     object
		want        map[string]string
	}{
		{"command", "issue_comment", said("ann", "User", "/run"), bothJobs},
		{"command in backticks", "issue_comment", said("ann", "User", "`/run`"), bothJobs},
		{"talk", "issue_comment", said("ann", "User", "see /run"), none},
		{"bot", "issue_comment", said("other[bot]", "Bot", "/run"), none},
		{"label", "issues", labeled("ann", "reprise"), bothJobs},
		{"other label", "issues", labeled("ann", "bug"), none},
		{"closed", "issues", closedBy("ann"), bothJobs},
		{"CI has ended", "workflow_run", ranOn("reprise/issue-7", repository), bothJobs},
		{"CI on another branch", "workflow_run", ranOn("feature", repository), none},
		{"CI of a fork", "workflow_run", ranOn("reprise/issue-7", "eve/widget"), none},
		{"checks of another program", "check_suite", object{"action": "completed", "check_suite": object{"head_branch": "reprise/issue-7"}, "sender": robot}, bothJobs},
		{"checks on another branch", "check_suite", object{"action": "completed", "check_suite": object{"head_branch": "main"}, "sender": robot}, none},
		{"a status", "status", statusOn("success", "main", "reprise/issue-7"), bothJobs},
		{"a status on another branch", "status", statusOn("failure", "main", "not-reprise/issue-7"), none},
		{"a status that is not over", "status", statusOn("pending", "reprise/issue-7"), none},
		{"a status on no branch", "status", statusOn("success"), none},
		{"changes requested", "pull_request_review", reviewed("changes_requested", "reprise/issue-7", repository, "User", "No."), bothJobs},
		{"an approval", "pull_request_review", reviewed("approved", "reprise/issue-7", repository, "User", ""), bothJobs},
		{"a review that only comments", "pull_request_review", reviewed("commented", "reprise/issue-7", repository, "User", "Nice."), none},
		{"a review with a command", "pull_request_review", reviewed("commented", "reprise/issue-7", repository, "User", "/rollback design no"), bothJobs},
		{"a review of another pull request", "pull_request_review", reviewed("changes_requested", "feature", repository, "User", "No."), none},
		{"a review of a fork", "pull_request_review", reviewed("changes_requested", "reprise/issue-7", "eve/widget", "User", "No."), none},
		{"a review by a bot", "pull_request_review", reviewed("changes_requested", "reprise/issue-7", repository, "Bot", "No."), none},
		{"a command on a line", "pull_request_review_comment", onLine("User", "/rollback design no"), bothJobs},
		{"talk on a line", "pull_request_review_comment", onLine("User", "Why /run?"), none},
		{"a bot on a line", "pull_request_review_comment", onLine("Bot", "/run"), none},
		{"by hand", "workflow_dispatch", object{"inputs": object{"issue": "7", "command": "/run"}, "sender": object{"login": "ann"}}, bothJobs},
		{"by a program", "repository_dispatch", object{"action": "reprise", "client_payload": object{"issue": "7"}, "sender": object{"login": "ann"}}, bothJobs},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newWiring(t).deliver(tt.event, tt.payload)
			if diff := cmp.Diff(tt.want, d.results); diff != "" || d.code != 0 {
				t.Errorf("exit code %d, jobs (-want +got):\n%s\n%s", d.code, diff, d.log)
			}
		})
	}
}

// TestWorkflowJobs shows what each job of the workflow has, and gives.
func TestWorkflowJobs(t *testing.T) {
	h := newWiring(t)
	d := h.deliver("issue_comment", said("ann", "User", "/run"))
	if d.code != 0 || !strings.Contains(d.log, "run: has Name CI in it\n") {
		t.Errorf("exit code %d\n%s", d.code, d.log)
	}
	gate, work := h.environOf("gate"), h.environOf("work")
	for name, want := range map[string][2]string{
		"ANTHROPIC_API_KEY":  {"", "test-key"},
		"INPUT_GITHUB_TOKEN": {botToken, botToken},
		"INPUT_AGENT":        {"", "claude"},
		"INPUT_TIMEOUT":      {"", "5h30m"},
		"INPUT_LABEL":        {"reprise", "reprise"},
		"INPUT_SANDBOX":      {"required", "required"},
		"GITHUB_API_URL":     {h.github.URL, h.github.URL},
		"GITHUB_ACTOR":       {"ann", "ann"},
	} {
		if got := [2]string{gate[name], work[name]}; got != want {
			t.Errorf("%s is %q in the gate and in the run, want %q", name, got, want)
		}
	}
	if got := h.read(h.root + "/npm/installed"); !strings.HasPrefix(got, "ci ") || !strings.Contains(got, "--ignore-scripts") {
		t.Errorf("installed: %q", got)
	}
	if d.outputs["gate/gate"]["decision"] != "run" || d.summary["run"] != "# Done\n" {
		t.Errorf("outputs %v, summary %q", d.outputs, d.summary)
	}
}

// environOf reads what the stand-in found in its environment.
func (h *hub) environOf(name string) map[string]string {
	h.t.Helper()
	vars := map[string]string{}
	for l := range strings.Lines(h.read(h.root + "/runs/1/" + name + ".env")) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(l, "\n"), "="); ok {
			vars[name] = value
		}
	}
	if len(vars) == 0 {
		h.t.Errorf("the program was not started as %s", name)
	}
	return vars
}

func TestWorkflowGate(t *testing.T) {
	h := newWiring(t)
	h.env["DECISION"] = "skip"
	d := h.deliver("issue_comment", said("mallory", "User", "/run"))
	if diff := cmp.Diff(gateOnly, d.results); diff != "" {
		t.Errorf("jobs (-want +got):\n%s\n%s", diff, d.log)
	}
}

func TestWorkflowFails(t *testing.T) {
	h := newWiring(t)
	h.env["CODE"] = "1"
	if d := h.deliver("issue_comment", said("ann", "User", "/run")); d.code == 0 || d.results["run"] != "failure" {
		t.Errorf("exit code %d, jobs %v\n%s", d.code, d.results, d.log)
	}
}

// TestWorkflowInjection shows that what somebody writes is data all the way.
func TestWorkflowInjection(t *testing.T) {
	h := newWiring(t)
	body := "/rollback design\"; touch " + h.root + "/PWNED; echo \"$(touch " + h.root + "/PWNED)`touch " + h.root + "/PWNED`\n::set-output name=decision::skip"
	payload := said("ann", "User", body)
	payload["issue"].(object)["title"] = "${{ secrets.ANTHROPIC_API_KEY }} $(touch " + h.root + "/PWNED)"
	d := h.deliver("issue_comment", payload)
	if d.code != 0 || d.results["run"] != "success" {
		t.Errorf("exit code %d, jobs %v\n%s", d.code, d.results, d.log)
	}
	if _, err := os.Stat(filepath.Join(h.root, "PWNED")); err == nil {
		t.Error("what the comment says was run")
	}
	if got := h.read(h.root + "/runs/1/work.json"); !strings.Contains(got, "touch "+h.root+"/PWNED") || strings.Contains(got, "test-key") {
		t.Errorf("the program got another event:\n%s", got)
	}
}

// TestWorkflowOtherBytes shows that a release that is not the pinned one is not
// run.
func TestWorkflowOtherBytes(t *testing.T) {
	h := newWiring(t)
	files, err := filepath.Glob(filepath.Join(h.root, "releases", released, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data := []byte(testenv.Read(t, files[0]))
	data[len(data)/2] ^= 1
	testenv.Put(t, files[0], string(data))
	d := h.deliver("issue_comment", said("ann", "User", "/run"))
	// What it says is tested where no act is between.
	if d.code == 0 || d.results["gate"] != "failure" || strings.Contains(d.log, "stands in") {
		t.Errorf("exit code %d, jobs %v\n%s", d.code, d.results, d.log)
	}
	if _, err := os.Stat(filepath.Join(h.root, "runs", "1")); err == nil {
		t.Error("the program was run")
	}
}

// TestWorkflowProgram shows that the real program gets from its archive into a
// job.
func TestWorkflowProgram(t *testing.T) {
	program := built(t)
	h := newHub(t, program, "codex")
	h.write("repo/.github/workflows/reprise.yml", "on: workflow_dispatch\njobs:\n  one:\n    runs-on: ubuntu-24.04\n    steps:\n"+
		"      - run: exec \"$ACTION/.github/action/start\" --version\n")
	h.env["ACTION"] = h.action
	if d := h.deliver("workflow_dispatch", object{"sender": object{"login": "ann"}}); d.code != 0 || !strings.Contains(d.log, "one: reprise ") {
		t.Errorf("exit code %d\n%s", d.code, d.log)
	}
}

// TestWorkflowOwn goes through the workflow of a repository that has the
// action in it: the program is built from what is checked out.
func TestWorkflowOwn(t *testing.T) {
	h := newWiring(t)
	for name, text := range map[string]string{
		"action.yml": h.source("action.yml"), ".github/action/start": h.source(".github/action/start"), "go.mod": "module example.com/demo\n",
		"cmd/reprise/main.go": `package main

import "os"

func main() {
	f, err := os.OpenFile(os.Getenv("GITHUB_OUTPUT"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	f.WriteString("decision=run\nissue=7\n")
	println("built for " + os.Getenv("INPUT_COMMAND") + "; the key is " + os.Getenv("ANTHROPIC_API_KEY"))
}
`,
	} {
		h.write("repo/"+name, text)
	}
	testenv.Must(t, os.Chmod(filepath.Join(h.repo, ".github/action/start"), 0o755))
	if out := h.reprise("init", "--force", "--uses", "./"); out.code != 0 {
		t.Fatalf("init: %s%s", out.stdout, out.stderr)
	}
	h.checkOutHere()
	h.publish("Add the action")
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	testenv.Must(t, err)
	h.env["GOCACHE"] = strings.TrimSpace(string(cache)) // or the standard library is compiled again
	d := h.deliver("issue_comment", said("ann", "User", "/run"))
	if diff := cmp.Diff(bothJobs, d.results); diff != "" || d.code != 0 {
		t.Fatalf("exit code %d, jobs (-want +got):\n%s\n%s", d.code, diff, d.log)
	}
	testenv.Has(t, "the log", d.log, "gate: built for gate; the key is \n", "run: built for ; the key is test-key\n")
	if strings.Count(d.log, "reprise: built from source") != 1 {
		t.Errorf("the job run has not taken what the job gate has built:\n%s", d.log)
	}
}

// TestWorkflowLint holds every workflow that init writes against actionlint, in
// a repository without a commit and in one that has a workflow.
func TestWorkflowLint(t *testing.T) {
	p := newPlace(t)
	lint, err := exec.Command("go", "tool", "-modfile=../tools.mod", "-n", "actionlint").Output()
	testenv.Must(t, err)
	const ci = "on: push\njobs: {test: {runs-on: ubuntu-24.04, steps: [{run: make test}]}}\n"
	p.write("repo/.github/workflows/ci.yml", ci)
	p.git(p.root, "init", "--quiet", "empty")
	for _, repo := range []string{"repo", "empty"} {
		// actionlint holds inputs and outputs against the action, if it is there.
		p.write(repo+"/action.yml", "name: x\ndescription: x\ninputs: {command: {}, agent: {}, issue: {}, timeout: {}}\noutputs: {decision: {value: x}, issue: {value: x}}\nruns: {using: composite, steps: []}\n")
		for _, args := range [][]string{
			{"--agent", "claude", "--uses", setup.DefaultUses()},
			{"--agent", "codex", "--reviewer", "gemini"},
			{"--workflow", "long", "--agent", "claude"},
			{"--workflow", "long", "--agent", "codex"},
			{"--workflow", "long", "--agent", "gemini"},
			{"--uses", "./"},
		} {
			if out := p.reprise(append([]string{"init", "--repo", filepath.Join(p.root, repo), "--force"}, args...)...); out.code != 0 {
				t.Fatalf("%s: init %s: %s%s", repo, args, out.stdout, out.stderr)
			}
			if out := p.exec(filepath.Join(p.root, repo), strings.TrimSpace(string(lint)), "-shellcheck=", "-pyflakes=", "-ignore", `unexpected key "queue" for "concurrency"`); out.code != 0 {
				t.Errorf("%s: init %s:\n%s%s", repo, args, out.stdout, out.stderr)
			}
		}
	}
	if got := p.read(filepath.Join(p.repo, ".github/workflows/ci.yml")); got != ci {
		t.Errorf("the workflow that was there is now\n%s", got)
	}
}
