package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// TestMain lets the test binary be programs that the tests start: "fake NAME
// ARGUMENT..." on its command line makes it that one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "fake" {
		syscall.Exit(fakes()[os.Args[2]](os.Args[3:])) // os.Exit takes a second with the race detector
	}
	testenv.Main(m)
}

const canary = "canary-8c1f"

// enterSandbox is the helper: the test binary that becomes the program.
func enterSandbox(args []string) int {
	if err := Enter(args, os.Environ()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 126
	}
	return 0
}

// cell is a place with things a program must not reach, and a sandbox.
type cell struct {
	t        testing.TB
	box      *Sandbox
	dir      string // the work tree
	artifact string
	access   pipelines.Access
	environ  []string
	network  *Network

	root string // of the run: tree, git, homes
	user string // the user's home
	repo string // the user's checkout
	temp string // a folder of somebody else's
	bare string // origin
}

func newCell(t *testing.T) *cell {
	t.Helper()
	c := &cell{t: t, root: t.TempDir(), user: t.TempDir(), repo: t.TempDir(), temp: t.TempDir(), bare: t.TempDir(), access: pipelines.AccessTree}
	c.dir = filepath.Join(c.root, "tree")
	c.artifact = filepath.Join(c.dir, ".reprise", "issue-7", "00_planning", "planning.md")
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
	c.git(c.root, "clone", "--quiet", "--shared", c.repo, c.dir)
	c.environ = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + c.user, "LANG=C.UTF-8", "RUNNER_TEMP=" + c.temp}
	box, note, err := Sandbox{
		Helper: []string{testenv.Self(t), "fake", "enter the sandbox"}, State: filepath.Join(c.root, "homes"),
		Objects: []string{filepath.Join(c.repo, ".git", "objects")},
	}.Prepare(Required, c.environ)
	if err != nil || note != "" || box == nil {
		t.Fatalf("note %q, error %v: these tests need a Linux with Landlock", note, err)
	}
	c.box = box
	return c
}

func (c *cell) write(name, text string) {
	c.t.Helper()
	testenv.Put(c.t, name, text)
}

func (c *cell) read(name string) string {
	c.t.Helper()
	return testenv.Read(c.t, name)
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

// run runs a shell command as a program in the sandbox.
func (c *cell) run(command string, timeout time.Duration) ended {
	c.t.Helper()
	e, err := inside(c.t.Context(), c.box, c.call(command), process.Program{Whole: timeout, Grace: 100 * time.Millisecond})
	if err != nil {
		c.t.Fatal(err)
	}
	return e
}

// call is a call of a shell command.
func (c *cell) call(command string) Call {
	call := Call{Argv: []string{"/bin/sh", "-c", command}, Dir: c.dir, User: c.user, Access: c.access, Artifact: c.artifact, Network: c.network}
	call.Env = c.environ
	return call
}

// ended is how a program ended, with what it printed.
type ended struct {
	process.Ending
	Stdout string
}

// inside runs a call in a sandbox as reprise does.
func inside(ctx context.Context, box *Sandbox, c Call, p process.Program) (ended, error) {
	return insideOf(ctx, box, c, Home{Program: "sh"}, p)
}

// insideOf does so with a home.
func insideOf(ctx context.Context, box *Sandbox, c Call, what Home, p process.Program) (ended, error) {
	temp, err := os.MkdirTemp("", "reprise-")
	if err != nil {
		return ended{}, err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	c.Temp, c.Env = temp, process.SetVar(c.Env, "TMPDIR", temp)
	leave, err := box.MoveIn(ctx, &c, what)
	if err != nil {
		return ended{}, err
	}
	full := false
	defer func() { leave(full) }()
	if c, err = box.Hold(c); err != nil {
		return ended{}, err
	}
	p.Argv, p.Env, p.Dir, p.Watch = c.Argv, c.Env, c.Dir, box.WatchDisk(c).Watch
	p.Own, p.Network, p.Files, p.Sealed = c.Own, c.Apart, c.Files, !c.Access.Writes()
	if p.Line == nil {
		p.Line = func([]byte) process.Reaction { return process.GoOn }
	}
	out := &process.Excerpt{HeadMax: 64 << 10, TailMax: 192 << 10}
	p.Output = out
	e, err := p.Run(ctx)
	full = e.Cause == process.Overfull
	return ended{e, out.String()}, err
}

// attempts runs shell commands as a program and says which of them worked. The
// folders of the cell are variables there, which are not split at spaces.
func (c *cell) attempts(commands map[string]string) []string {
	c.t.Helper()
	script := fmt.Sprintf("IFS=; artifact=%q repo=%q user=%q root=%q temp=%q bare=%q\n", c.artifact, c.repo, c.user, c.root, c.temp, c.bare)
	for name, command := range commands {
		script += fmt.Sprintf("if (%s) >&2; then ok=\"$ok %s\"; fi\n", command, name)
	}
	script += `printf '%s' "$ok"`
	e := c.run(script, time.Minute)
	c.t.Logf("%s", e.Stderr)
	if e.Code() != 0 {
		c.t.Errorf("the attempts were not all made: %+v", e)
	}
	worked := strings.Fields(e.Stdout)
	slices.Sort(worked)
	return worked
}
