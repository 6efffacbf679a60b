package setup

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// TestActionInputs shows that every input of the action reaches the program,
// and as data only.
func TestActionInputs(t *testing.T) {
	text := testenv.Read(t, "../../action.yml")
	for _, name := range keysOf(t, text, "inputs") {
		line := "INPUT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + ": ${{ inputs." + name + " }}\n"
		if !strings.Contains(text, line) {
			t.Errorf("input %s: action.yml has not the line %s", name, line)
		}
	}
	for _, name := range keysOf(t, text, "outputs") {
		if line := "value: ${{ steps.reprise.outputs." + name + " }}\n"; strings.Count(text, line) != 1 {
			t.Errorf("output %s: action.yml has not once the line %s", name, line)
		}
	}
}

// commented are the lines of a workflow that say what a job, or its permission, is for.
var commented = regexp.MustCompile(`(?m)^((?:  # .*\n)+)  ([a-z]+):$|^      ([a-z-]+: (?:read|write))(?: # (.*))?$`)

// TestActionPage makes the page of the reference from what the action, and the workflow that others call, say of themselves.
func TestActionPage(t *testing.T) {
	type field struct{ Default, Description string }
	var action, jobs struct {
		Inputs, Outputs map[string]field
		On              struct {
			Call struct{ Inputs, Secrets map[string]field } `yaml:"workflow_call"`
		}
	}
	text, called := testenv.Read(t, "../../action.yml"), testenv.Read(t, "../../"+Jobs)
	testenv.Must(t, errors.Join(yaml.Unmarshal([]byte(text), &action), yaml.Unmarshal([]byte(called), &jobs)))
	page := "# Inputs and outputs\n\n[On GitHub](../github.md) says how to use them.\n\n" +
		"## Inputs\n\n| input | default | in a short workflow | what it is |\n|---|---|---|---|\n"
	for _, name := range keysOf(t, text, "inputs") {
		short, taken := jobs.On.Call.Inputs[name]
		page += fmt.Sprintf("| `%s` | `%s` | %s | %s |\n", name, action.Inputs[name].Default, map[bool]string{true: "`" + short.Default + "`", false: "no"}[taken], action.Inputs[name].Description)
		delete(jobs.On.Call.Inputs, name)
	}
	for _, name := range slices.Sorted(maps.Keys(jobs.On.Call.Inputs)) {
		page += fmt.Sprintf("| `%s` | no | `%s` | %s |\n", name, jobs.On.Call.Inputs[name].Default, jobs.On.Call.Inputs[name].Description)
	}
	page += "\n## Outputs\n\n| output | what it is |\n|---|---|\n"
	for _, name := range keysOf(t, text, "outputs") {
		page += fmt.Sprintf("| `%s` | %s |\n", name, action.Outputs[name].Description)
	}
	page += "\n## Secrets of a short workflow\n\n| secret | what it is |\n|---|---|\n"
	for _, name := range slices.Sorted(maps.Keys(jobs.On.Call.Secrets)) {
		page += fmt.Sprintf("| `%s` | %s |\n", name, jobs.On.Call.Secrets[name].Description)
	}
	page += "\n## Jobs and their permissions\n"
	for _, m := range commented.FindAllStringSubmatch(called, -1) {
		if m[2] != "" {
			page += fmt.Sprintf("\n### %s\n\n%s\n| permission | for |\n|---|---|\n", m[2], strings.ReplaceAll(m[1], "  # ", ""))
			continue
		}
		page += fmt.Sprintf("| `%s` | %s |\n", m[3], m[4])
	}
	progresstest.Golden(t, "../../../docs/reference/action.md", strings.ReplaceAll(page, "``", ""))
}

// TestNoExpressionInScripts shows that nothing is written into a script before
// the shell reads it: what somebody wrote in an issue would be run.
func TestNoExpressionInScripts(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	for _, file := range append(files, "../../action.yml") {
		for _, script := range scriptsOf(testenv.Read(t, file)) {
			if strings.Contains(script, "${{") {
				t.Errorf("%s: an expression in a script:\n%s", file, script)
			}
		}
	}
	bad := "steps:\n  - run: |\n      a\n\n      b ${{ x }}\n    env:\n      C: ${{ d }}\n  - run: e\n"
	if diff := cmp.Diff([]string{"|\n      a\n\n      b ${{ x }}\n", "e\n"}, scriptsOf(bad)); diff != "" {
		t.Errorf("scripts (-want +got):\n%s", diff)
	}
}

// TestPinnedActions shows that the actions of others are named by commit, with
// the version behind it for people and for bots that bring newer ones.
func TestPinnedActions(t *testing.T) {
	text := testenv.Read(t, "../../action.yml") + testenv.Read(t, "init_workflow.yml") + testenv.Read(t, "../../"+Jobs)
	uses := regexp.MustCompile(`(?m)^ *(?:- )?uses: (.*)$`).FindAllStringSubmatch(text, -1)
	pinned := regexp.MustCompile(`^[^ @]+@[0-9a-f]{40} # v[0-9]`)
	for _, m := range uses {
		if own := regexp.MustCompile(`^reprise-ci/reprise(/\.github/action/agents)?@v1$`); m[1] != "<<.Uses>>" && !own.MatchString(m[1]) && !pinned.MatchString(m[1]) {
			t.Errorf("not pinned: %s", m[1])
		}
	}
	if len(uses) < 5 {
		t.Errorf("only %d actions found", len(uses))
	}
}

// runKey is the key of a step; a job may have the name, too.
var runKey = regexp.MustCompile(`^( *(?:- )?)run: *(\S.*\n)$`)

// scriptsOf gives what the run keys of a workflow hold.
func scriptsOf(text string) []string {
	var scripts []string
	indent := -1
	for line := range strings.Lines(text) {
		if m := runKey.FindStringSubmatch(line); m != nil {
			scripts, indent = append(scripts, m[2]), len(m[1])
			continue
		}
		deep := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case indent < 0:
		case strings.TrimSpace(line) == "" || deep > indent:
			scripts[len(scripts)-1] += line
		default:
			indent = -1
		}
	}
	return scripts
}

// keysOf gives the keys right below a key at the left edge of a YAML file.
func keysOf(t *testing.T, text, key string) []string {
	t.Helper()
	_, section, ok := strings.Cut(text, "\n"+key+":\n")
	if !ok {
		t.Fatalf("there is no %s", key)
	}
	if end := regexp.MustCompile(`(?m)^\S`).FindStringIndex(section); end != nil {
		section = section[:end[0]]
	}
	var keys []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(section, -1) {
		keys = append(keys, m[1])
	}
	if len(keys) == 0 || len(slices.Compact(slices.Sorted(slices.Values(keys)))) != len(keys) {
		t.Fatalf("%s: %q", key, keys)
	}
	return keys
}
