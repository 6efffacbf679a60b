//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// shorten gives a hub the workflow that init writes of itself, which calls the one
// beside the action.
func (h *hub) shorten(agents ...string) {
	h.t.Helper()
	const install = ".github/action/agents/install"
	names := []string{setup.Jobs, ".github/action/agents/action.yml", install}
	for name := range setup.AgentInstalls() {
		names = append(names, "internal/setup/init_agents/"+name+"/package.json", "internal/setup/init_agents/"+name+"/package-lock.json")
	}
	for _, name := range names {
		h.write("action/"+name, h.source(name))
	}
	h.checkOutIn("action/" + setup.Jobs)
	testenv.Must(h.t, os.Chmod(filepath.Join(h.action, install), 0o755))
	for _, name := range []string{setup.File, setup.AgentsLock, setup.AgentsFile} {
		testenv.Must(h.t, os.Remove(filepath.Join(h.repo, name)))
	}
	args := []string{"init", "--workflow-only", "--uses", setup.DefaultUses()}
	for i, name := range agents {
		args = append(args, []string{"--agent", "--reviewer"}[i], name)
	}
	if out := h.reprise(args...); out.code != 0 {
		h.t.Fatalf("init: %s%s", out.stdout, out.stderr)
	}
	h.publish("Call the workflow of reprise")
}

// TestShortWiring shows what each job of the called workflow has: the keys only where
// agents work, and no step before them.
func TestShortWiring(t *testing.T) {
	h := newWiring(t)
	h.shorten("codex", "claude")
	h.secrets["OTHERS"] = `{"WORDBOOK": "hush-hush-1"}`
	h.workflow("    secrets: # by name: the workflow gets no other\n", "    secrets:\n      SECRETS: ${{ secrets.OTHERS }}\n")
	h.workflow("    with:\n", "    with:\n      runs-on: '[\"ubuntu-24.04\"]'\n")
	d := h.deliver("issue_comment", said("ann", "User", "/run"))
	if diff := cmp.Diff(bothJobs, d.results); diff != "" || d.code != 0 || !strings.Contains(d.log, "run: has Change the workflow of reprise\n") {
		t.Fatalf("exit code %d, jobs (-want +got):\n%s\n%s", d.code, diff, d.log)
	}
	gate, work := h.environOf("gate"), h.environOf("work")
	for name, want := range map[string][2]string{
		"ANTHROPIC_API_KEY":       {"", "test-key"},
		"OPENAI_API_KEY":          {"", "test-key"},
		"GEMINI_API_KEY":          {"", ""},
		"REPRISE_SECRETS":         {"", `{"WORDBOOK": "hush-hush-1"}`},
		"SECRETS":                 {"", ""},
		"CLAUDE_CODE_OAUTH_TOKEN": {"", ""},
		"INPUT_GITHUB_TOKEN":      {botToken, botToken},
		"INPUT_AGENT":             {"codex, claude", "codex, claude"},
		"INPUT_TIMEOUT":           {"5h30m", "5h30m"},
		"INPUT_LABEL":             {"reprise", "reprise"},
		"INPUT_CREATE_PR":         {"true", "true"},
		"GITHUB_ACTOR":            {"ann", "ann"},
	} {
		if got := [2]string{gate[name], work[name]}; got != want {
			t.Errorf("%s is %q in the gate and in the run, want %q", name, got, want)
		}
	}
	installed := h.read(h.root + "/npm/installed")
	for _, name := range []string{"codex", "claude"} {
		testenv.Has(t, "what was installed", installed, "/agents/"+name+" --ignore-scripts")
	}
	if d := h.deliver("issue_comment", said("other[bot]", "Bot", "/run")); len(d.results) > 0 && d.results["gate"] != "" {
		t.Errorf("a bot starts %v", d.results)
	}
}

// TestShortRun is the story of the README with the workflow that calls another one: a
// run, and the way back with a reason.
func TestShortRun(t *testing.T) {
	h := newActions(t, "claude")
	h.shorten("claude")
	h.workflow("agent: claude\n", "agent: rehearsal\n")
	_, d := h.comment("eve", "/run --pipeline fix")
	d.want(t, gateOnly, "gate/gate", "decision", "denied", "reason-code", "permission_denied")
	id, d := h.comment("ann", "/run --pipeline fix")
	d.want(t, bothJobs, "run/run", "decision", "run", "status", "completed", "issue", "7", "pr-number", "8")
	testenv.Is(t, "the comment has the signs", h.signs(id), "eyes rocket")
	_, d = h.comment("ann", "/rollback implement because the greeting must stay short")
	d.want(t, bothJobs, "run/run", "reason-code", "completed", "status", "completed", "pr-number", "8")
	if run := h.record(); run.Status != metadata.Completed || len(run.RollbackHistory) != 1 || run.RollbackHistory[0].By != "ann" {
		t.Errorf("the run is %s, its rollbacks are %+v", run.Status, run.RollbackHistory)
	}
}

// TestShortEnd shows that a job that is killed is told of in this form, too.
func TestShortEnd(t *testing.T) {
	h := newWiring(t)
	h.shorten("claude")
	h.env["CODE"] = "1"
	if d := h.deliver("issue_comment", said("ann", "User", "/run")); d.code == 0 || d.results["run"] != "failure" {
		t.Errorf("exit code %d, jobs %v\n%s", d.code, d.results, d.log)
	}
	if got := h.environOf("end"); got["INPUT_ISSUE"] != "7" || got["ANTHROPIC_API_KEY"] != "" {
		t.Errorf("the job end has issue %q and the key %q", got["INPUT_ISSUE"], got["ANTHROPIC_API_KEY"])
	}
}
