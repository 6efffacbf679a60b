package agents

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// enterSandbox is the helper: the test binary that becomes the agent.
func enterSandbox(args []string) int {
	if err := sandbox.Enter(args, os.Environ()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 126
	}
	return 0
}

// cell is a place with things an agent must not reach, and a sandbox.
type cell struct {
	*bench
	root string // of the run: tree, git, homes
	user string // the user's home
	repo string // the user's checkout
	temp string // a folder of somebody else's
	bare string // origin
}

func newCell(t *testing.T) *cell {
	t.Helper()
	c := &cell{bench: newBench(t), user: t.TempDir(), repo: t.TempDir(), temp: t.TempDir(), bare: t.TempDir()}
	c.root = filepath.Dir(c.dir)
	for _, file := range []string{".ssh/id_ed25519", ".netrc", ".aws/credentials", ".config/gh/hosts.yml", ".docker/config.json", ".git-credentials", ".claude.json", ".profile"} {
		c.write(filepath.Join(c.user, file), canary)
	}
	c.write(filepath.Join(c.user, ".gitconfig"), "[url \"https://"+canary+"@github.com/\"]\n\tinsteadOf = gh:\n")
	c.write(filepath.Join(c.temp, "token"), canary)
	c.write(filepath.Join(c.root, "git", "config"), "[core]\n")
	c.write(filepath.Join(c.root, "lock"), "")
	c.git(c.bare, "init", "--quiet", "--bare", ".")
	c.git(c.repo, "init", "--quiet", "-b", "main", ".")
	c.write(filepath.Join(c.repo, "main.go"), "package main\n")
	c.git(c.repo, "add", ".")
	c.git(c.repo, "commit", "--quiet", "-m", "Start")
	c.git(c.repo, "config", "http.extraheader", canary)
	testenv.Must(t, os.RemoveAll(c.dir))
	c.git(c.root, "clone", "--quiet", "--shared", c.repo, c.dir)
	tools, err := exec.LookPath("go")
	testenv.Must(t, err)
	c.opts.Environ = []string{"PATH=" + filepath.Dir(tools) + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + c.user, "LANG=C.UTF-8", "RUNNER_TEMP=" + c.temp}
	c.contain(sandbox.Limits{})
	return c
}

// contain puts the programs of the cell into a sandbox.
func (c *cell) contain(l sandbox.Limits) {
	c.t.Helper()
	o, note, err := c.opts.Contain(sandbox.Required, sandbox.Sandbox{
		Helper: []string{testenv.Self(c.t), "fake", "enter the sandbox"}, State: filepath.Join(c.root, "homes"),
		Objects: []string{filepath.Join(c.repo, ".git", "objects")}, Limits: l,
	})
	if err != nil || note != "" || !o.Contained {
		c.t.Fatalf("note %q, error %v: these tests need a Linux with Landlock", note, err)
	}
	c.opts = o
}

func (c *cell) git(dir string, args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Checks run with the rights of "tree" and nobody's login, and build tools find
// their caches.
func TestSandboxOfChecks(t *testing.T) {
	c := newCell(t)
	c.write(filepath.Join(c.user, ".codex", "auth.json"), `"`+canary+`"`)
	c.write(filepath.Join(c.dir, "go.mod"), "module demo\n\ngo 1.26\n")
	c.write(filepath.Join(c.dir, "main.go"), "package main\n\nfunc main() { println(1) }\n")
	c.write(filepath.Join(c.dir, "Makefile"), "all:\n\techo made > made.txt\n")
	for run, pass := range map[string]bool{
		"go list -deps .": true,
		"git status":      true,
		// On machines that have them.
		"command -v node >/dev/null || exit 0; node -e 0": true,
		"command -v make >/dev/null || exit 0; make":      true,
		fmt.Sprintf("git push %q HEAD:main", c.bare):      false,
		fmt.Sprintf("cat %q", c.temp+"/token"):            false,
		fmt.Sprintf("echo > %q", c.repo+"/x"):             false,
		"grep -r canary ~":                                false,
	} {
		r, err := c.opts.Check(t.Context(), c.dir, pipelines.Check{Name: "it", Run: run, Timeout: pipelines.Duration(time.Minute)})
		if err != nil || r.Pass != pass {
			t.Errorf("%s: error %v, passed is %v, want %v\n%s", run, err, r.Pass, pass, r.Output)
		}
	}
}

// codexLogin is a login of Codex: for an account, and renewed on a day.
func codexLogin(account string, day int) string {
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"https://auth.openai.com","sub":"` + account + `"}`))
	return fmt.Sprintf(`{"OPENAI_API_KEY":null,"tokens":{"id_token":"e30.%[1]s.c2ln","access_token":"e30.%[1]s.c2lnbmF0dXJl%[2]d","refresh_token":"rt_refresh-number-%[2]d","account_id":%[3]q},"last_refresh":"2026-11-%02[2]dT07:00:00Z"}`, claims, day, account)
}

// A login is copied into the program's home and back when it was renewed.
// Nothing else that a program leaves there gets out or stays.
func TestLoginsInTheSandbox(t *testing.T) {
	c := newCell(t)
	user, own := filepath.Join(c.user, ".codex", "auth.json"), filepath.Join(c.root, "homes", "codex-tree", ".codex")
	c.task.Access = pipelines.AccessTree
	var learned []string
	c.opts.Learn = func(agent string, found []string) { learned = append(learned, found...) }
	ours := codexLogin("ada", 1)
	put := func(login string) string { return "cat > ~/.codex/auth.json <<'END'\n" + login + "\nEND\n" }
	for _, tt := range []struct {
		name, does, want string
	}{
		{"renewed", put(codexLogin("ada", 2)) + `echo x > ~/.codex/config.toml`, codexLogin("ada", 2) + "\n"},
		{"read again", `grep rt_refresh-number-1 ~/.codex/auth.json && ! test -e ~/.codex/config.toml || exit 0; ` + put(codexLogin("ada", 3)), codexLogin("ada", 3) + "\n"},
		{"somebody else's", put(codexLogin("eve", 4)), ours},
		{"somebody else's in part", put(strings.Replace(codexLogin("eve", 4), `"account_id":"eve"`, `"account_id":"ada"`, 1)), ours},
		{"a key", put(strings.Replace(codexLogin("ada", 4), "null", `"sk-of-a-stranger-123"`, 1)), ours},
		{"with more", put(strings.Replace(codexLogin("ada", 4), "{", `{"base_url":"https://stranger.example",`, 1)), ours},
		{"older", put(codexLogin("ada", 0)), ours},
		{"broken", `echo nonsense > ~/.codex/auth.json`, ours},
		{"removed", `rm ~/.codex/auth.json`, ours},
		{"a pipe", `rm ~/.codex/auth.json; mkfifo ~/.codex/auth.json`, ours},
		{"a link", `rm ~/.codex/auth.json; ln -s ` + strconv.Quote(c.temp) + `/token ~/.codex/auth.json`, ours},
		{"the folder a link", `rm -r ~/.codex; ln -s ` + strconv.Quote(c.temp) + ` ~/.codex`, ours},
		{"and then", `grep rt_refresh-number-1 ~/.codex/auth.json || exit 0; ` + put(codexLogin("ada", 4)), codexLogin("ada", 4) + "\n"},
	} {
		c.write(user, ours)
		c.opts.Environ[0] = "PATH=" + c.bin + ":/usr/bin:/bin"
		c.write(filepath.Join(c.bin, "codex"), "#!/bin/sh\n"+tt.does+"\n")
		testenv.Must(t, os.Chmod(filepath.Join(c.bin, "codex"), 0o755))
		_, _ = c.agent("codex").Run(t.Context(), c.task) // it gives no result
		if got := c.read(user); got != tt.want {
			t.Errorf("%s: the login reads %q, want %q", tt.name, got, tt.want)
		}
		if files, err := os.ReadDir(c.temp); err != nil || len(files) != 1 || c.read(filepath.Join(c.temp, "token")) != canary {
			t.Errorf("%s: files %v, error %v", tt.name, files, err)
		}
	}
	if info, err := os.Stat(filepath.Join(own, "auth.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy is %v, error %v", info, err)
	}
	for _, secret := range []string{"rt_refresh-number-1", "rt_refresh-number-2", "sk-of-a-stranger-123"} {
		if !slices.Contains(learned, secret) {
			t.Errorf("%s is not known as a secret", secret)
		}
	}
	if slices.ContainsFunc(learned, func(s string) bool { return len(s) < minSecret || strings.HasPrefix(s, "2026-") }) {
		t.Errorf("known as secrets: %q", learned)
	}
}

// Which texts of a login or of settings are secrets.
func TestSecretsIn(t *testing.T) {
	for _, tt := range []struct {
		name   string
		secret bool
		text   string
		want   []string
	}{
		{"Claude Code", true, `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-aaaaaaaa","scopes":["user:sessions:claude_code"],"rateLimitTier":"default_claude_max_20x"}}`, []string{"sk-ant-oat01-aaaaaaaa"}},
		{"settings", false, `{"model":"claude-opus-4-1-20250805","env":{"SOME_API_KEY":"0123456789abcdef"}}`, []string{"0123456789abcdef"}},
		{"AWS", true, "[default]\nregion = eu-central-1-of-ours\naws_secret_access_key = abcdefghijklmnopqrst\n", []string{"abcdefghijklmnopqrst"}},
		{"config.toml", false, "model = \"gpt-5.2-codex-of-ours\"\nexperimental_bearer_token = \"0123456789abcdef\"\n", []string{"0123456789abcdef"}},
		{"Google", true, `{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\n-----END PRIVATE KEY-----\n"}`, []string{"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\n-----END PRIVATE KEY-----\n"}},
		{"a short one", true, `{"key":"0123456789abcde"}`, nil},
	} {
		if diff := cmp.Diff(tt.want, secretsIn(login{secret: tt.secret}, []byte(tt.text))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A renewal of each program's login, as its files have it.
func TestRenewals(t *testing.T) {
	claude := `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-a","refreshToken":"sk-ant-ort01-a","expiresAt":1000,"scopes":["user:inference"]}}`
	gemini := `{"access_token":"ya29.a","refresh_token":"1//a","token_type":"Bearer","expiry_date":1000,"scope":"x"}`
	for _, tt := range []struct {
		agent, before, after string
		want                 bool
	}{
		{"claude", claude, `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-b","refreshToken":"sk-ant-ort01-b","expiresAt":2000,"scopes":["user:inference","user:profile"],"subscriptionType":"max"}}`, true},
		{"claude", claude, `{"claudeAiOauth":{"accessToken":"sk-ant-api03-b","refreshToken":"sk-ant-ort01-b","expiresAt":2000,"scopes":[]}}`, false},
		{"claude", claude, `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-b","refreshToken":"sk-ant-ort01-b","expiresAt":1000,"scopes":[]}}`, false},
		{"claude", claude, `{}`, false},
		{"gemini", gemini, `{"access_token":"ya29.b","refresh_token":"1//a","token_type":"Bearer","expiry_date":2000,"scope":"x"}`, true},
		{"gemini", gemini, `{"access_token":"ya29.b","refresh_token":"1//a","token_type":"Bearer","expiry_date":2000,"scope":"x","type":"external_account"}`, false},
		{"gemini", gemini, `[]`, false},
	} {
		if got := programs()[tt.agent].Renewal.renews([]byte(tt.before), []byte(tt.after)); got != tt.want {
			t.Errorf("%s is a renewal: %v, want %v", tt.after, got, tt.want)
		}
	}
}

// A link in the place of the artifact's folder does not open what it leads to.
func TestArtifactFolderIsNoLink(t *testing.T) {
	c := newCell(t)
	c.write(filepath.Join(c.dir, ".reprise", "x"), "")
	testenv.Must(t, os.Symlink(c.temp, filepath.Join(c.dir, ".reprise", "issue-7")))
	a, err := For("command", pipelines.Agent{Command: []string{"/bin/true"}}, c.opts)
	testenv.Must(t, err)
	if _, err = a.Run(t.Context(), c.task); err == nil || !strings.Contains(err.Error(), "artifact's folder") {
		t.Errorf("error %v", err)
	}
	c.task.Artifact = filepath.Join(c.dir, "plan.md")
	if _, err = a.Run(t.Context(), c.task); err == nil || !strings.Contains(err.Error(), "in no folder of the work tree") {
		t.Errorf("error %v", err)
	}
}

// A program that does not start says so as any other that breaks down.
func TestProgramThatDoesNotStartInTheSandbox(t *testing.T) {
	c := newCell(t)
	file := filepath.Join(c.temp, "agent")
	c.write(file, "#!/no/such/interpreter\n")
	testenv.Must(t, os.Chmod(file, 0o755))
	a, err := For("command", pipelines.Agent{Command: []string{file}}, c.opts)
	testenv.Must(t, err)
	var fault *engine.AgentError
	if _, err = a.Run(t.Context(), c.task); !errors.As(err, &fault) || fault.Class != metadata.Crash || !strings.Contains(fault.Stderr+err.Error(), "starting "+file) {
		t.Errorf("error %v (%+v)", err, fault)
	}
}

// A login that a program renewed before it filled the disk is not lost with its
// home.
func TestLoginOutlivesAFullDisk(t *testing.T) {
	t.Parallel()
	c := newCell(t)
	c.contain(sandbox.Limits{Disk: 4 << 20})
	c.task.Access = pipelines.AccessTree
	user := filepath.Join(c.user, ".codex", "auth.json")
	c.write(user, codexLogin("ada", 1))
	c.opts.Environ[0] = "PATH=" + c.bin + ":/usr/bin:/bin"
	c.write(filepath.Join(c.bin, "codex"), "#!/bin/sh\ncat > ~/.codex/auth.json <<'END'\n"+codexLogin("ada", 2)+"\nEND\nhead -c 5M /dev/zero > ~/b; sleep 60\n")
	testenv.Must(t, os.Chmod(filepath.Join(c.bin, "codex"), 0o755))
	_, err := c.agent("codex").Run(t.Context(), c.task)
	var fault *engine.AgentError
	if !errors.As(err, &fault) || fault.Class != metadata.Disk {
		t.Errorf("error %v", err)
	}
	if got := c.read(user); got != codexLogin("ada", 2)+"\n" {
		t.Errorf("the login reads %q", got)
	}
	r, err := c.opts.Check(t.Context(), c.dir, pipelines.Check{Name: "it", Run: "head -c 5M /dev/zero > c; sleep 60", Timeout: pipelines.Duration(time.Minute)})
	if err != nil || r.Pass || !strings.Contains(r.Output, "it wrote more than the 4 MB that a call may; if it needs more, say so in the pipeline with `sandbox: disk`; the check was ended") {
		t.Errorf("a check: %+v, error %v", r, err)
	}
	if exists(filepath.Join(c.root, "homes", "codex-tree")) {
		t.Error("its home is still there")
	}
}
