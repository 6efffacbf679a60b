//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// standIn is a program in place of reprise. It writes down what it was given,
// and says what the gate would.
const standIn = `#!/bin/bash
name=${INPUT_COMMAND:-work}
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

// newWiring makes a hub with the stand-in.
func newWiring(t *testing.T) *hub {
	t.Helper()
	program := filepath.Join(t.TempDir(), "reprise")
	if err := os.WriteFile(program, []byte(standIn), 0o755); err != nil {
		t.Fatal(err)
	}
	return newHub(t, program, "claude")
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

func TestWorkflowStarts(t *testing.T) {
	both := map[string]string{"gate": "success", "run": "success"}
	none := map[string]string{}
	for _, tt := range []struct {
		name, event string
		payload     object
		want        map[string]string
	}{
		{"command", "issue_comment", said("ann", "User", "/run"), both},
		{"command in backticks", "issue_comment", said("ann", "User", "`/run`"), both},
		{"talk", "issue_comment", said("ann", "User", "see /run"), none},
		{"bot", "issue_comment", said("other[bot]", "Bot", "/run"), none},
		{"label", "issues", labeled("ann", "reprise"), both},
		{"other label", "issues", labeled("ann", "bug"), none},
		{"by hand", "workflow_dispatch", object{"inputs": object{"issue": "7", "command": "/run"}, "sender": object{"login": "ann"}}, both},
		{"by a program", "repository_dispatch", object{"action": "reprise", "client_payload": object{"issue": "7"}, "sender": object{"login": "ann"}}, both},
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
	if d.code != 0 || !strings.Contains(d.log, "run: has Add the workflow of reprise\n") {
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
	if got := h.read(h.root + "/npm/installed"); !strings.Contains(got, "--ignore-scripts") || !strings.Contains(got, "@anthropic-ai/claude-code@") {
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
	if diff := cmp.Diff(map[string]string{"gate": "success"}, d.results); diff != "" {
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
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(files[0], data, 0o644); err != nil {
		t.Fatal(err)
	}
	d := h.deliver("issue_comment", said("ann", "User", "/run"))
	if d.code == 0 || strings.Contains(d.log, "stands in") || !strings.Contains(d.log, "It was not run") {
		t.Errorf("exit code %d\n%s", d.code, d.log)
	}
}

// TestWorkflowProgram shows that the real program gets from its archive into a
// job.
func TestWorkflowProgram(t *testing.T) {
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	h := newHub(t, program, "codex")
	h.write("repo/.github/workflows/reprise.yml", "on: workflow_dispatch\njobs:\n  one:\n    runs-on: ubuntu-24.04\n    steps:\n"+
		"      - run: exec \"$ACTION/.github/action/start\" version\n")
	h.env["ACTION"] = h.action
	if d := h.deliver("workflow_dispatch", object{"sender": object{"login": "ann"}}); d.code != 0 || !strings.Contains(d.log, "one: reprise ") {
		t.Errorf("exit code %d\n%s", d.code, d.log)
	}
}

// TestWorkflowLint holds every workflow that init writes against actionlint.
func TestWorkflowLint(t *testing.T) {
	p := newPlace(t)
	out, err := exec.Command("go", "tool", "-modfile=../tools.mod", "-n", "actionlint").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--agent", "claude"}, {"--agent", "codex"}, {"--agent", "gemini"}, {"--uses", "./"}} {
		if out := p.reprise(append([]string{"init", "--force"}, args...)...); out.code != 0 {
			t.Fatalf("init %s: %s%s", args, out.stdout, out.stderr)
		}
		p.write("repo/action.yml", "name: x\ndescription: x\ninputs: {command: {}, agent: {}, timeout: {}}\noutputs: {decision: {value: x}, issue: {value: x}}\nruns: {using: composite, steps: []}\n")
		if out := p.exec(p.repo, strings.TrimSpace(string(out)), "-shellcheck=", "-pyflakes="); out.code != 0 {
			t.Errorf("init %s:\n%s%s", args, out.stdout, out.stderr)
		}
	}
}
