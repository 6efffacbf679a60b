package agents

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// enterSandbox is the helper: the test binary that becomes the agent.
func enterSandbox(args []string) int {
	fmt.Fprintln(os.Stderr, Enter(args, os.Environ()))
	return 126
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
	if err := os.RemoveAll(c.dir); err != nil {
		t.Fatal(err)
	}
	c.git(c.root, "clone", "--quiet", "--shared", c.repo, c.dir)
	tools, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	c.opts.Environ = []string{"PATH=" + filepath.Dir(tools) + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + c.user, "LANG=C.UTF-8", "RUNNER_TEMP=" + c.temp}
	c.opts = c.contain(c.opts)
	return c
}

func (c *cell) contain(o Options) Options {
	c.t.Helper()
	o, note, err := o.Contain(Required, Sandbox{
		Helper: []string{self(c.t), "fake", "enter the sandbox"}, State: filepath.Join(c.root, "homes"),
		Objects: []string{filepath.Join(c.repo, ".git", "objects")},
	})
	if err != nil || note != "" || !o.Contained {
		c.t.Fatalf("note %q, error %v: these tests need Linux 6.2 or newer with Landlock", note, err)
	}
	return o
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

// attempts runs shell commands as an agent and says which of them worked. The
// folders of the cell are variables there, which are not split at spaces.
func (c *cell) attempts(commands map[string]string) []string {
	c.t.Helper()
	script := fmt.Sprintf("IFS=; artifact=%q repo=%q user=%q root=%q temp=%q bare=%q\n", c.task.Artifact, c.repo, c.user, c.root, c.temp, c.bare)
	for name, command := range commands {
		script += fmt.Sprintf("if (%s) >&2; then ok=\"$ok %s\"; fi\n", command, name)
	}
	script += `printf '{"text":"%s"}' "$ok"`
	a, err := For("command", pipelines.Agent{Command: []string{"/bin/sh", "-c", script}}, c.opts)
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := a.Run(c.t.Context(), c.task)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Logf("%s", r.Stderr)
	worked := strings.Fields(r.Text)
	slices.Sort(worked)
	return worked
}

// What a program may do depends on its access level and on nothing else. Most
// of these attempts work for everybody outside of the sandbox.
func TestSandbox(t *testing.T) {
	always := []string{"git-log", "own-home", "own-temp", "null", "read-system", "read-tree", "signal-own"}
	for access, more := range map[pipelines.Access][]string{
		pipelines.AccessNone:      {},
		pipelines.AccessRead:      {},
		pipelines.AccessArtifacts: {"artifact"},
		pipelines.AccessTree:      {"artifact", "rename", "tree", "tree-git"},
	} {
		t.Run(string(access), func(t *testing.T) {
			t.Parallel()
			c := newCell(t)
			c.task.Access = access
			c.write(c.task.Artifact, "# Plan\n")
			c.write(filepath.Join(c.dir, "a", "file"), "")
			c.write(filepath.Join(c.dir, "b", "file"), "")
			commands := map[string]string{
				"git-log": "git log", "own-home": "echo > ~/x", "own-temp": "echo > $TMPDIR/x", "null": "echo > /dev/null",
				"read-system": "cat /etc/passwd", "read-tree": "cat main.go", "signal-own": "sleep 9 & kill $!",
				"artifact": "echo >> $artifact", "tree": "echo > new.txt", "rename": "mv a/file b/moved", "tree-git": "echo > .git/x",
				"write-repo": "echo > $repo/x", "append-repo": "echo >> $repo/main.go", "cut-repo": "truncate -s 0 $repo/main.go",
				"remove-repo": "rm $repo/main.go", "objects": "echo > $repo/.git/objects/x", "link": "ln $repo/main.go here",
				"write-home": "echo >> $user/.profile", "write-root": "echo > $root/x", "write-git": "echo >> $root/git/config",
				"write-lock": "echo >> $root/lock", "other-home": "mkdir $root/homes/x", "write-temp": "echo > $temp/x", "new-temp": "echo > /tmp/reprise-escaped-" + filepath.Base(c.dir),
				"read-home": "cat $user/.ssh/id_ed25519", "list-home": "ls $user", "link-home": "ln -s $user/.ssh $TMPDIR/s && cat $TMPDIR/s/id_ed25519",
				"read-netrc": "cat $user/.netrc", "read-aws": "cat $user/.aws/credentials", "read-gh": "cat $user/.config/gh/hosts.yml",
				"read-docker": "cat $user/.docker/config.json", "read-git-login": "cat $user/.git-credentials", "read-gitconfig": "cat $user/.gitconfig",
				"read-state": "cat $user/.claude.json", "read-repo-config": "cat $repo/.git/config", "read-temp": "cat $temp/token", "list-temp": "ls /tmp",
				"push": "git push $bare HEAD:main", "push-back": "git push $repo HEAD:other",
				"signal": "kill -0 $PPID", "trace": "cat /proc/$PPID/environ", "descriptors": "readlink /proc/$PPID/fd/0", "around": "cat /proc/$PPID/root$temp/token",
				"memory": "head -c 1 /proc/$PPID/mem", "device": "mknod $TMPDIR/disk b 1 0", "terminals": "ls /dev/pts", "kernel": "echo x > /proc/sys/kernel/domainname",
			}
			want := slices.Sorted(slices.Values(append(more, always...)))
			if diff := cmp.Diff(want, c.attempts(commands)); diff != "" {
				t.Errorf("what worked (-want +got):\n%s", diff)
			}
			if c.git(c.bare, "for-each-ref") != "" || c.read(filepath.Join(c.repo, "main.go")) != "package main\n" {
				t.Error("origin or the user's checkout has changed")
			}
		})
	}
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
		if err := os.Chmod(filepath.Join(c.bin, "codex"), 0o755); err != nil {
			t.Fatal(err)
		}
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

// In a home that is kept, sessions and caches are found again, and nothing that
// tells the program or its tools what to do. Locked folders do not keep it.
func TestKeptHome(t *testing.T) {
	c := newCell(t)
	own := filepath.Join(c.root, "homes", "claude-tree")
	kept := []string{".claude/projects/-tree/0a1b.jsonl", ".cache/x/y", ".npm/_cacache/z"}
	for _, name := range append(kept, ".claude/projects/-tree/memory/MEMORY.md", ".claude/skills/x/SKILL.md", ".claude/shell-snapshots/s.sh", ".claude.json", ".npmrc", ".bashrc") {
		c.write(filepath.Join(own, name), "x")
	}
	for _, dir := range []string{".claude/projects/-tree", ".claude/skills"} {
		if err := os.Chmod(filepath.Join(own, dir), 0o500); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(c.temp, filepath.Join(own, ".cargo")); err != nil {
		t.Fatal(err)
	}
	h, err := c.opts.box.home("claude", pipelines.AccessTree, nil)
	if err != nil {
		t.Fatal(err)
	}
	h.close()
	var left []string
	err = filepath.WalkDir(own, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(own, name) // it lies below
			left = append(left, rel)
		}
		return err
	})
	slices.Sort(kept)
	if diff := cmp.Diff(kept, left); err != nil || diff != "" {
		t.Errorf("error %v, what is left (-want +got):\n%s", err, diff)
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
		file, before, after string
		want                bool
	}{
		{".credentials.json", claude, `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-b","refreshToken":"sk-ant-ort01-b","expiresAt":2000,"scopes":["user:inference","user:profile"],"subscriptionType":"max"}}`, true},
		{".credentials.json", claude, `{"claudeAiOauth":{"accessToken":"sk-ant-api03-b","refreshToken":"sk-ant-ort01-b","expiresAt":2000,"scopes":[]}}`, false},
		{".credentials.json", claude, `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-b","refreshToken":"sk-ant-ort01-b","expiresAt":1000,"scopes":[]}}`, false},
		{".credentials.json", claude, `{}`, false},
		{"oauth_creds.json", gemini, `{"access_token":"ya29.b","refresh_token":"1//a","token_type":"Bearer","expiry_date":2000,"scope":"x"}`, true},
		{"oauth_creds.json", gemini, `{"access_token":"ya29.b","refresh_token":"1//a","token_type":"Bearer","expiry_date":2000,"scope":"x","type":"external_account"}`, false},
		{"oauth_creds.json", gemini, `[]`, false},
	} {
		if got := renewals()[tt.file].renews([]byte(tt.before), []byte(tt.after)); got != tt.want {
			t.Errorf("%s is a renewal: %v, want %v", tt.after, got, tt.want)
		}
	}
}

// A link in the place of the artifact's folder does not open what it leads to.
func TestArtifactFolderIsNoLink(t *testing.T) {
	c := newCell(t)
	c.write(filepath.Join(c.dir, ".reprise", "x"), "")
	if err := os.Symlink(c.temp, filepath.Join(c.dir, ".reprise", "issue-7")); err != nil {
		t.Fatal(err)
	}
	a, err := For("command", pipelines.Agent{Command: []string{"/bin/true"}}, c.opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = a.Run(t.Context(), c.task); err == nil || !strings.Contains(err.Error(), "artifact's folder") {
		t.Errorf("error %v", err)
	}
	c.task.Artifact = filepath.Join(c.dir, "plan.md")
	if _, err = a.Run(t.Context(), c.task); err == nil || !strings.Contains(err.Error(), "in no folder of the work tree") {
		t.Errorf("error %v", err)
	}
}

func TestContain(t *testing.T) {
	none := errors.New("this kernel has no Landlock")
	for _, tt := range []struct {
		how        Containment
		missing    error
		contained  bool
		note, fail string
	}{
		{Required, nil, true, "", ""},
		{BestEffort, nil, true, "", ""},
		{Uncontained, nil, false, "", ""},
		{Required, none, false, "", "the sandbox is required, but this kernel has no Landlock: use Linux 6.2 or newer with Landlock, or do without (best-effort or off)"},
		{BestEffort, none, false, "there is no sandbox: this kernel has no Landlock; agents and checks can reach all that you can", ""},
		{Uncontained, none, false, "", ""},
		{"always", nil, false, "", `sandbox: "always" is not one of required, best-effort, off`},
	} {
		o, note, err := Options{}.contain(tt.how, Sandbox{}, tt.missing)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if o.Contained != tt.contained || (o.Sandbox != nil) != tt.contained || note != tt.note || said != tt.fail {
			t.Errorf("%s, %v: contained %v, note %q, error %q", tt.how, tt.missing, o.Contained, note, said)
		}
	}
}

// Who calls the helper without limits gets no program.
func TestEnterWithoutLimits(t *testing.T) {
	for _, tt := range []struct{ policy, want string }{
		{"", "for reprise itself"}, {"{", "reading its limits"},
	} {
		if err := Enter([]string{"/bin/true"}, []string{policyVar + "=" + tt.policy}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v", tt.policy, err)
		}
	}
}

// A program that does not start says so as any other that breaks down.
func TestProgramThatDoesNotStartInTheSandbox(t *testing.T) {
	c := newCell(t)
	file := filepath.Join(c.temp, "agent")
	c.write(file, "#!/no/such/interpreter\n")
	if err := os.Chmod(file, 0o755); err != nil {
		t.Fatal(err)
	}
	a, err := For("command", pipelines.Agent{Command: []string{file}}, c.opts)
	if err != nil {
		t.Fatal(err)
	}
	var fault *phases.AgentError
	if _, err = a.Run(t.Context(), c.task); !errors.As(err, &fault) || fault.Class != metadata.Crash || !strings.Contains(fault.Stderr+err.Error(), "starting "+file) {
		t.Errorf("error %v (%+v)", err, fault)
	}
}

// What is hidden stays so where a service's home or a checkout lies in a folder
// of the system.
func TestHiddenInTheSystem(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"opt/go/bin", "opt/runner/_work/_temp", "opt/runner/_work/_tool/bin", "opt/src/repo/.git/objects", "opt/src/other", "home"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	apart := resolved(hidden([]string{"RUNNER_TEMP=" + root + "/opt/runner/_work/_temp"}, []string{root + "/opt/src/repo/.git/objects"}))
	for dir, want := range map[string]string{
		"opt":                        "opt/go opt/src/other",
		"opt/go":                     "opt/go",
		"opt/runner/_work/_tool/bin": "opt/runner/_work/_tool/bin",
		"opt/src/repo/.git":          "",
	} {
		got := strings.ReplaceAll(strings.Join(around(filepath.Join(root, dir), apart), " "), root+"/", "")
		if got != want {
			t.Errorf("%s: %q is read, want %q", dir, got, want)
		}
	}
}

// What installations look like, and what is read of them.
func TestInstallation(t *testing.T) {
	home := filepath.Join(t.TempDir(), "people", "me")
	for dir, want := range map[string]string{
		home:                          "",
		filepath.Dir(home):            "",
		home + "/.local/bin":          "bin,lib",
		home + "/.cargo/bin":          "bin,lib",
		home + "/go/bin":              "bin,lib",
		home + "/checkout":            "",
		home + "/checkout/bin":        "bin,lib",
		home + "/sdk/bin":             "bin,lib,share",
		home + "/p/node_modules/.bin": "node_modules",
		home + "/gone":                "",
	} {
		if dir != home+"/gone" {
			for _, d := range []string{dir, filepath.Join(dir, "../lib"), filepath.Join(dir, "../share"), home + "/checkout/.git"} {
				if err := os.MkdirAll(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}
		var got []string
		for _, path := range resolved(installation(dir, home)) {
			got = append(got, filepath.Base(path))
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s: %q, want %s", dir, got, want)
		}
	}
}
