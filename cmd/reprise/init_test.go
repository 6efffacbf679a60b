package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// TestOwnWorkflow holds this project to what it gives to others.
func TestOwnWorkflow(t *testing.T) {
	files, err := setup.Workflow{Form: setup.Long, Uses: setup.LocalAction, Awaited: setup.Checking(os.DirFS("../../" + setup.WorkflowsFolder)), Agents: []string{setup.DefaultAgent}}.Files()
	testenv.Must(t, err)
	for _, f := range files {
		got := []byte(testenv.Read(t, "../../"+f.Name))
		if diff := cmp.Diff(f.Text, string(got)); diff != "" {
			t.Errorf("%s is not what init writes; run: go run ./cmd/reprise init --uses ./ --workflow-only --force\n(-want +got):\n%s", f.Name, diff)
		}
	}
}

// TestWorkflowKeys shows that a key is in one step of the job that works, and
// nowhere else.
func TestWorkflowKeys(t *testing.T) {
	for _, agent := range slices.Sorted(maps.Keys(setup.AgentInstalls())) {
		text, err := setup.Workflow{Form: setup.Long, Uses: setup.DefaultUses(), Agents: []string{agent}}.Text()
		testenv.Must(t, err)
		gate, work, _ := strings.Cut(text, "\n  run:\n")
		testenv.Lacks(t, "the gate for "+agent, gate, "secrets", "checkout")
		if n := strings.Count(work, "secrets."); n != 1 {
			t.Errorf("%s: %d keys, want 1:\n%s", agent, n, work)
		}
	}
}

// TestAgentVersions shows that people get the versions that the end-to-end
// tests drive.
func TestAgentVersions(t *testing.T) {
	data := []byte(testenv.Read(t, "../../internal/e2e/package.json"))
	var tested struct{ Dependencies map[string]string }
	testenv.Must(t, json.Unmarshal(data, &tested))
	for _, a := range setup.AgentInstalls() {
		if want, ok := tested.Dependencies[a.Package]; ok && want != a.Version {
			t.Errorf("%s: init installs %s, the end-to-end tests drive %s", a.Package, a.Version, want)
		}
	}
}

func TestDefaultUses(t *testing.T) {
	old := environ.Version
	defer func() { environ.Version = old }()
	for in, want := range map[string]string{
		"dev": "reprise-ci/reprise@v1", "v1.2.3": "reprise-ci/reprise@v1", "v12.0.0-rc.1": "reprise-ci/reprise@v12",
	} {
		if environ.Version = in; setup.DefaultUses() != want {
			t.Errorf("%s: %s, want %s", in, setup.DefaultUses(), want)
		}
	}
}

// newRepository makes a repository with one commit.
func newRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main", dir},
		{"-C", dir, "-c", "user.name=Tester", "-c", "user.email=tester@example.com", "commit", "--quiet", "--allow-empty", "--message=start"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	return dir
}
