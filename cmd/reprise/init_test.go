package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/setup"
)

// initIn runs init in a folder, and gives its exit code and what it said.
func initIn(t *testing.T, dir string, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	env := environ.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Environ: os.Environ()}
	code := run(t.Context(), append([]string{"init", "--repo", dir}, args...), env)
	return code, out.String()
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

func TestInit(t *testing.T) {
	dir := newRepository(t)
	file := filepath.Join(dir, setup.File)

	code, out := initIn(t, dir)
	for _, want := range []string{"Wrote " + setup.File, "gh secret set ANTHROPIC_API_KEY", "approve pull requests", "/run"} {
		if !strings.Contains(out, want) {
			t.Errorf("exit code %d; does not say %q:\n%s", code, want, out)
		}
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if code, out := initIn(t, dir); code != exit.Done || !strings.Contains(out, "is up to date") {
		t.Errorf("again: exit code %d\n%s", code, out)
	}

	if _, err := os.Stat(filepath.Join(dir, setup.AgentsLock)); err == nil || !strings.Contains(string(written), "/"+setup.Jobs+"@v1\n") {
		t.Errorf("the workflow is not short (%v):\n%s", err, written)
	}
	if code, out := initIn(t, dir, "--agent", "codex"); code != exit.Usage || !strings.Contains(out, "--force") {
		t.Errorf("over another workflow: exit code %d\n%s", code, out)
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, written) {
		t.Errorf("refused, and yet the workflow changed (%v)", err)
	}
	code, out = initIn(t, dir, "--agent", "codex", "--force")
	if now, err := os.ReadFile(file); err != nil || code != exit.Done || !strings.Contains(string(now), "secrets.OPENAI_API_KEY") {
		t.Errorf("--force: exit code %d, %v\n%s", code, err, out)
	}
	// A workflow that has its jobs itself keeps them, unless another form is asked for.
	if code, out := initIn(t, dir, "--agent", "codex", "--workflow", "long", "--upgrade"); code != exit.Done || !strings.Contains(out, setup.AgentsLock) {
		t.Errorf("--workflow long: exit code %d\n%s", code, out)
	}
	if code, out := initIn(t, dir, "--agent", "codex"); code != exit.Done || !strings.Contains(out, "is up to date") {
		t.Errorf("the long form is not kept: exit code %d\n%s", code, out)
	}
}

// A workflow may be the first file of a repository.
func TestInitFirst(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "--quiet", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	if code, out := initIn(t, dir); code != exit.Done || !strings.Contains(out, "Wrote "+setup.File) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if _, err := os.Stat(filepath.Join(dir, setup.File)); err != nil {
		t.Error(err)
	}
}

func TestInitRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"an agent without a package", []string{"--agent", "rehearsal"}, "claude, codex, gemini"},
		{"an action without a version", []string{"--uses", "reprise-ci/reprise"}, "OWNER/REPO@VERSION"},
		{"YAML as an action", []string{"--uses", "a/b@v1\n        with: {x: y}"}, "OWNER/REPO@VERSION"},
		{"a form that there is not", []string{"--workflow", "tiny"}, "short and long"},
		{"another repository's jobs in its own", []string{"--workflow", "short", "--uses", "./"}, "leave out one"},
		{"a folder that is no repository", []string{"--repo", t.TempDir()}, "repository"},
		{"an argument", []string{"here"}, "takes no argument"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := newRepository(t)
			code, out := initIn(t, dir, tt.args...)
			if code == exit.Done || !strings.Contains(out, tt.want) {
				t.Errorf("exit code %d; does not say %q:\n%s", code, tt.want, out)
			}
			if _, err := os.Stat(filepath.Join(dir, ".github")); err == nil {
				t.Error("refused, and yet something was written")
			}
		})
	}
}

// A repository from elsewhere may have links in it.
func TestInitLeavesTheRepositoryAlone(t *testing.T) {
	dir, outside := newRepository(t), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, ".github")); err != nil {
		t.Fatal(err)
	}
	code, out := initIn(t, dir, "--force")
	if code == exit.Done {
		t.Errorf("done:\n%s", out)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("written outside: %v, %v", entries, err)
	}
}

// TestOwnWorkflow holds this project to what it gives to others.
func TestOwnWorkflow(t *testing.T) {
	files, err := setup.GeneratedFiles(setup.Long, setup.LocalAction, setup.Checking(os.DirFS("../../"+setup.WorkflowsFolder)), setup.DefaultAgent)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		got, err := os.ReadFile("../../" + f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(f.Text, string(got)); diff != "" {
			t.Errorf("%s is not what init writes; run: go run ./cmd/reprise init --uses ./ --workflow-only --force\n(-want +got):\n%s", f.Name, diff)
		}
	}
}

// The lock file is as much a person's own as the workflow: nothing is written if
// one of the two was changed.
func TestInitKeepsAChangedLock(t *testing.T) {
	dir := newRepository(t)
	if code, out := initIn(t, dir, "--workflow", "long"); code != exit.Done {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	if err := os.Remove(filepath.Join(dir, setup.File)); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, setup.AgentsLock)
	if err := os.WriteFile(lock, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out := initIn(t, dir, "--workflow", "long")
	if code != exit.Usage || !strings.Contains(out, setup.AgentsLock) || !strings.Contains(out, "--force") {
		t.Errorf("exit code %d; does not say %q and --force:\n%s", code, setup.AgentsLock, out)
	}
	if _, err := os.Stat(filepath.Join(dir, setup.File)); err == nil {
		t.Error("refused, and yet the workflow was written")
	}
	if now, err := os.ReadFile(lock); err != nil || string(now) != "{}\n" {
		t.Errorf("refused, and yet the lock file is %q, %v", now, err)
	}
}

// TestWorkflowKeys shows that a key is in one step of the job that works, and
// nowhere else.
func TestWorkflowKeys(t *testing.T) {
	for _, agent := range slices.Sorted(maps.Keys(setup.AgentInstalls())) {
		text, err := setup.WorkflowText(setup.Long, setup.DefaultUses(), nil, agent)
		if err != nil {
			t.Fatal(err)
		}
		gate, work, _ := strings.Cut(text, "\n  run:\n")
		if strings.Contains(gate, "secrets") || strings.Contains(gate, "checkout") {
			t.Errorf("%s: the gate sees a key or code:\n%s", agent, gate)
		}
		if n := strings.Count(work, "secrets."); n != 1 {
			t.Errorf("%s: %d keys, want 1:\n%s", agent, n, work)
		}
	}
}

// TestAgentVersions shows that people get the versions that the end-to-end
// tests drive.
func TestAgentVersions(t *testing.T) {
	data, err := os.ReadFile("../../internal/e2e/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var tested struct{ Dependencies map[string]string }
	if err := json.Unmarshal(data, &tested); err != nil {
		t.Fatal(err)
	}
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
