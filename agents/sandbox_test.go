package agents

import (
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

// A login is copied into the program's home and back when it was renewed.
// Nothing else that a program leaves there gets out or stays.
func TestLoginsInTheSandbox(t *testing.T) {
	c := newCell(t)
	user, own := filepath.Join(c.user, ".codex", "auth.json"), filepath.Join(c.root, "homes", "codex-tree", ".codex")
	c.task.Access = pipelines.AccessTree
	for _, tt := range []struct {
		name, does, want string
	}{
		{"renewed", `echo '{"n":2}' > ~/.codex/auth.json; echo x > ~/.codex/config.toml`, `{"n":2}` + "\n"},
		{"read again", `grep '"n":1' ~/.codex/auth.json && ! test -e ~/.codex/config.toml && echo '{"n":3}' > ~/.codex/auth.json`, `{"n":3}` + "\n"},
		{"broken", `echo nonsense > ~/.codex/auth.json`, `{"n":1}`},
		{"removed", `rm ~/.codex/auth.json`, `{"n":1}`},
		{"a pipe", `rm ~/.codex/auth.json; mkfifo ~/.codex/auth.json`, `{"n":1}`},
		{"a link", `rm ~/.codex/auth.json; ln -s ` + strconv.Quote(c.temp) + `/token ~/.codex/auth.json`, `{"n":1}`},
		{"the folder a link", `rm -r ~/.codex; ln -s ` + strconv.Quote(c.temp) + ` ~/.codex`, `{"n":1}`},
		{"and then", `grep '"n":1' ~/.codex/auth.json && echo '{"n":4}' > ~/.codex/auth.json`, `{"n":4}` + "\n"},
	} {
		c.write(user, `{"n":1}`)
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
