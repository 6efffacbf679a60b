package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

const canary = "canary-8c1f"

func TestEnvironment(t *testing.T) {
	base := []string{
		"PATH=/bin", "LANG=C.UTF-8", "LC_ALL=C", "HTTPS_PROXY=http://p", "HOME=/home/me", "TMPDIR=/tmp", "TERM=xterm", "EDITOR=vi", "RUSTUP_HOME=/opt/rustup",
		"GITHUB_TOKEN=" + canary, "GH_TOKEN=" + canary, "ACTIONS_RUNTIME_TOKEN=" + canary, "RUNNER_TEMP=" + canary, "INPUT_TOKEN=" + canary,
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN=" + canary, "ACTIONS_ID_TOKEN_REQUEST_URL=" + canary, "ANTHROPIC_ORGANIZATION_ID=o", "ANTHROPIC_IDENTITY_TOKEN=" + canary,
		"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_OAUTH_TOKEN=", "LD_PRELOAD=/x.so", "NPM_TOKEN=n", "DEPLOY_KEY=d",
		"ANTHROPIC_API_KEY=a", "OPENAI_API_KEY=o", "GEMINI_API_KEY=g", "AWS_SECRET_ACCESS_KEY=w", "CLOUD_ML_REGION=r",
	}
	common := []string{"GIT_TERMINAL_PROMPT=0", "HOME=/home/me", "HTTPS_PROXY=http://p", "LANG=C.UTF-8", "LC_ALL=C", "NO_COLOR=1", "NPM_TOKEN=n", "PATH=/bin", "RUSTUP_HOME=/opt/rustup", "TERM=dumb", "TMPDIR=/own"}
	for _, tt := range []struct {
		name  string
		more  []string
		extra []string
	}{
		{"claude", nil, []string{"ANTHROPIC_API_KEY=a"}},
		{"claude", []string{"CLAUDE_CODE_USE_BEDROCK=1"}, []string{"ANTHROPIC_API_KEY=a", "AWS_SECRET_ACCESS_KEY=w", "CLAUDE_CODE_USE_BEDROCK=1"}},
		{"claude", []string{"CLAUDE_CODE_USE_VERTEX=1"}, []string{"ANTHROPIC_API_KEY=a", "CLOUD_ML_REGION=r", "CLAUDE_CODE_USE_VERTEX=1"}},
		{"codex", nil, []string{"OPENAI_API_KEY=o"}},
		{"gemini", nil, []string{"GEMINI_API_KEY=g"}},
		{"command", nil, nil},
	} {
		t.Run(tt.name+strings.Join(tt.more, ""), func(t *testing.T) {
			c := newCLI(tt.name, pipelines.Agent{Command: []string{"x"}, Env: []string{"NPM_TOKEN"}}, Options{Environ: slices.Concat(base, tt.more)})
			got := c.environ(&Call{Call: sandbox.Call{Home: "/home/me", Temp: "/own"}})
			want := slices.Sorted(slices.Values(slices.Concat(common, tt.extra)))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithheldVariables(t *testing.T) {
	for _, name := range []string{"GITHUB_TOKEN", "github_token", "GH_TOKEN", "GITHUB_ENV", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "RUNNER_TOOL_CACHE", "INPUT_X", "REPRISE_TASK", "LD_PRELOAD", "A=B", "A*", ""} {
		_, err := For("command", pipelines.Agent{Command: []string{"x"}, Env: []string{name}}, Options{})
		if err == nil || !strings.Contains(err.Error(), "env: "+name+": ") {
			t.Errorf("%q: error %v, want it refused by name", name, err)
		}
	}
	if _, err := For("command", pipelines.Agent{Command: []string{"x"}, Env: []string{"NPM_TOKEN"}}, Options{}); err != nil {
		t.Error(err)
	}
}

// showEnvironment is an agent that looks for secrets wherever it can, and
// leaves a process behind.
func showEnvironment(args []string) int {
	spawn(args, "hang without ears", &syscall.SysProcAttr{Setsid: true})
	seen := strings.Join(os.Environ(), "\n")
	for _, pid := range []string{"self", fmt.Sprint(os.Getppid())} {
		for _, name := range []string{"environ", "cmdline"} {
			data, err := os.ReadFile("/proc/" + pid + "/" + name)
			seen += fmt.Sprintf("\n%s %s: %s (%v)", pid, name, data, err)
		}
		fds, err := os.ReadDir("/proc/" + pid + "/fd")
		seen += fmt.Sprintf("\n%s fd: %d (%v)", pid, len(fds), err)
	}
	out, _ := json.Marshal(map[string]string{"text": seen})
	fmt.Printf("%s\n", out)
	return 0
}

// beReprise is a process that has the token in its environment, and runs the
// agent above: beReprise(bench, "harden" or not).
func beReprise(args []string) int {
	if args[1] == "harden" {
		if err := process.Harden(); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	exe, _ := os.Executable()
	opts := Options{Temp: args[0]}
	a, err := For("command", pipelines.Agent{Command: []string{exe, "fake", "show environment", args[0]}}, opts)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	r, err := a.Run(context.Background(), engine.Task{Dir: args[0]})
	fmt.Println(r.Text, err)
	return 0
}

// The token is out of reach of an agent of the same user: in its own
// environment always, in that of reprise once it is hardened. That holds for
// users other than root.
func TestTokenIsOutOfReach(t *testing.T) {
	dir, err := os.MkdirTemp("", "reprise-test-") // a place that another user reaches
	testenv.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	exe := filepath.Join(dir, "reprise")
	data, err := os.ReadFile(testenv.Self(t))
	if err == nil {
		err = os.WriteFile(exe, data, 0o755)
	}
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	testenv.Must(t, err)
	for _, tt := range []struct {
		how  string
		seen bool
	}{{"harden", false}, {"leave open", true}} {
		cmd := exec.Command(exe, "fake", "be reprise", dir, tt.how)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "GITHUB_TOKEN=" + canary, "GITHUB_PATH=" + canary}
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "PATH=/usr/bin:/bin") {
			t.Fatalf("%v\n%s", err, out)
		}
		if left := testenv.StartedWith(t, dir); len(left) > 0 {
			t.Errorf("%s: processes are left: %q", tt.how, left)
		}
		if got := strings.Contains(string(out), canary); got != tt.seen {
			t.Errorf("%s: the token was seen is %v, want %v\n%s", tt.how, got, tt.seen, out)
		}
	}
}
