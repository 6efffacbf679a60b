package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// A dry run writes nothing to the forge, and says what would be.
func TestDryRunOfTheAction(t *testing.T) {
	h := newStage(t, twoSteps)
	h.inputs["dry-run"] = "true"
	before := h.forge.Counts().Writes
	id := h.say("ada", "/run")
	j := h.heard(id, "ada").end(exit.Done).wants("decision", "run", "reason-code", "completed", "status", "completed")
	h.nothing()
	h.signs(id, "")
	if after := h.forge.Counts().Writes; after != before || h.calls() != "" {
		t.Errorf("%d writes to the forge, the agent was called for %q", after-before, h.calls())
	}
	testenv.Has(t, "the summary", j.summary, "plan", "build", "completed")
	testenv.Has(t, "the log", j.said.String(), "Nothing was left behind.")
	for _, body := range []string{"/rollback plan x", "/help", "/rolback x", "/cancel"} {
		h.comment("ada", body).end(exit.Done)
	}
	if after := h.forge.Counts().Writes; after != before {
		t.Errorf("%d writes to the forge", after-before)
	}
	h.nothing()
}

// Where outputs and summary cannot be written, the job says so.
func TestOutputsCannotBeWritten(t *testing.T) {
	h := newStage(t, twoSteps)
	for name, env := range map[string]string{
		"GITHUB_OUTPUT":       "GITHUB_OUTPUT=" + h.path("nowhere/output"),
		"GITHUB_STEP_SUMMARY": "GITHUB_STEP_SUMMARY=" + h.dir,
	} {
		j := h.comment("ada", "/help", env).end(exit.Failed)
		testenv.Has(t, "the log", j.said.String(), name, "write to "+name)
		testenv.Lacks(t, "the log", j.said.String(), "goroutine")
		// Neither does it get lost behind another error.
		h.inputs["timeout"] = "soon"
		testenv.Has(t, "the log", h.comment("ada", "/help", env).end(exit.Failed).said.String(), "write to "+name, "soon")
		delete(h.inputs, "timeout")
	}
}

// What an agent prints does not act on the job.
func TestAgentCannotGiveWorkflowCommands(t *testing.T) {
	h := newStage(t, twoSteps)
	h.inputs["show-output"] = "true"
	h.write("home/build-execute", `
printf '::set-output name=decision::evil\n::add-mask::main\n##[error]evil\n::error::evil\n::stop-commands::x\n::x::\n\r::error::evil\n' >&2
printf '::error::evil\n' >"$REPRISE_ARTIFACT"
printf '%s\n' '{"text": "\n::error::evil\n##[error]evil\r::set-output name=x::evil"}'
[ "$(grep -c build "$HOME/calls")" -gt 1 ] || exit 7
exit 0
`)
	j := h.comment("ada", "/run").end(exit.Done).wants("decision", "run", "status", "completed")
	testenv.Lacks(t, "what acts in the log", acting(j.said.String()), "evil", "::add-mask::main")
	testenv.Has(t, "the log", j.said.String(), "evil")
	for line := range strings.Lines(j.said.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), "##[") { // an old form that nothing stops
			t.Errorf("a line of the log is %q", line)
		}
	}
}

// acting gives the lines of a log that the runner takes for commands.
func acting(log string) string {
	var out []string
	stopped := ""
	for _, line := range regexp.MustCompile(`\r\n|\r|\n`).Split(log, -1) {
		line = strings.TrimSpace(line)
		switch {
		case stopped != "" && line == "::"+stopped+"::":
			stopped = ""
		case stopped == "" && strings.HasPrefix(line, "::stop-commands::"):
			stopped = strings.TrimPrefix(line, "::stop-commands::")
		case stopped == "" && (strings.HasPrefix(line, "::") || strings.HasPrefix(line, "##[")):
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// All mistakes in the workflow file are told at once, and nothing is done.
func TestInputsMistaken(t *testing.T) {
	h := newStage(t, twoSteps)
	for name, value := range map[string]string{
		"issue": "seven", "allowed-users": "ada, *", "allowed-bots": "app?", "dispatch": "../ci.yml", "budget-usd": "-1", "timeout": "5",
		"branch-prefix": "a..b", "base-branch": "-x", "language": "de", "sandbox": "on", "dry-run": "yes", "create-pr": "maybe", "agent": "a b",
		"command": "frobnicate", "prefix": "robot",
	} {
		h.inputs[name] = value
	}
	id := h.say("ada", "/run")
	j := h.heard(id, "ada").end(exit.Failed).wants("decision", "denied", "reason-code", "config_invalid")
	names := []string{
		"input issue", "input allowed-users", "input allowed-bots", "input dispatch", "input budget-usd", "input timeout", "input branch-prefix",
		"input base-branch", "input language", "input sandbox", "input dry-run", "input create-pr", "agent", "input command",
	}
	testenv.Has(t, "the log", acting(j.said.String()), names...)
	testenv.Has(t, "the summary", j.summary, append(names, "config_invalid")...)
	h.nothing()
	h.signs(id, "")
	if n := len(h.forge.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

// The workflow file may name an issue and a command.
func TestRunByStep(t *testing.T) {
	h := newStage(t, twoSteps)
	h.inputs["command"], h.inputs["issue"] = "run --phases ..plan", "7"
	h.start("schedule", "ada", []byte(`{"schedule": "0 0 * * *", "repository": {"full_name": "acme/widget"}}`)).end(exit.Done).wants("status", "completed", "issue", "7")
	h.called("plan execute")
	h.inputs["command"] = "status"
	j := h.start("schedule", "ada", []byte(`{"schedule": "0 0 * * *", "repository": {"full_name": "acme/widget"}}`)).end(exit.Done).wants("decision", "replied")
	testenv.Has(t, "the summary", j.summary, "Completed")
}

// Every way to end leaves the outputs that a workflow can go by, and the
// results where they are asked for.
func TestOutputsOnEveryEnding(t *testing.T) {
	h := newStage(t, twoSteps)
	results := "REPRISE_RESULTS=" + h.path("results")
	always := func(j *hubJob) {
		t.Helper()
		if j.outputs["decision"] == "" || j.summary == "" {
			t.Errorf("the outputs are %v, the summary is %q\n%s", j.outputs, j.summary, j.said.String())
		}
	}
	always(h.comment("ada", "What do you think?").end(exit.Done))
	always(h.comment("eve", "/run").end(exit.Done))
	always(h.comment("ada", "/help").end(exit.Done))
	always(h.start("push", "ada", []byte(`{"ref": "refs/heads/main", "repository": {"full_name": "acme/widget"}, "sender": {"login": "ada"}}`)).end(exit.Done))
	for name, event := range map[string]string{"no JSON": "{", "nothing": "", "a list": "[1]", "another form": `{"issue": 7}`} {
		j := h.start("issue_comment", "ada", []byte(event)).end(anyCode)
		if always(j); j.outputs["decision"] == "run" || strings.Contains(j.said.String(), "goroutine") {
			t.Errorf("an event that is %s gave %v\n%s", name, j.outputs, j.said.String())
		}
	}
	h.write("home/build-execute", "exit 7\n")
	failed := h.comment("ada", "/run", results).end(anyCode)
	if always(failed); failed.outputs["status"] == "" || failed.outputs["head-sha"] != h.origin("7") || failed.outputs["comment-id"] == "" {
		t.Errorf("the outputs are %v", failed.outputs)
	}
	var result struct {
		Code string `json:"reason_code"`
	}
	data := []byte(testenv.Read(t, filepath.Join(h.path("results"), "result.json")))
	if jsonOf(t, string(data), &result); result.Code != "agent_failed" || strings.TrimSpace(string(data)) != failed.outputs["result"] {
		t.Errorf("the result is %s", data)
	}
}
