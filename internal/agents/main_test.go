package agents

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// TestMain lets the test binary be every fake agent: "fake NAME ARGUMENT..."
// on its command line makes it that one, or, where it runs as a link to it, the
// same words in a file beside the link.
func TestMain(m *testing.M) {
	words := os.Args[1:]
	if beside, err := os.ReadFile(os.Args[0] + ".words"); err == nil {
		words = strings.Split(string(beside), "\x00")
	}
	if len(words) > 1 && words[0] == "fake" {
		syscall.Exit(fakes()[words[1]](words[2:])) // os.Exit takes a second with the race detector
	}
	testenv.Main(m)
}

// bench is a place where a fake stands in for an agent's program.
type bench struct {
	t    testing.TB
	dir  string // the work tree
	bin  string // the only folder in PATH besides the system's
	opts Options
	task engine.Task
}

func newBench(t testing.TB) *bench {
	t.Helper()
	root := t.TempDir()
	b := &bench{t: t, dir: filepath.Join(root, "tree"), bin: filepath.Join(root, "bin")}
	b.write(filepath.Join(b.dir, "main.go"), "package main\n")
	b.opts = Options{
		Environ: []string{"PATH=" + b.bin + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + t.TempDir(), "LANG=C.UTF-8"},
		Temp:    t.TempDir(),
		Grace:   100 * time.Millisecond,
		Linger:  time.Minute,
	}
	b.task = engine.Task{
		Issue: "7", Title: "Add a greeting", Phase: "planning", Step: metadata.Execute, Attempt: 1, Goal: "A plan.",
		Prompt: "Write the plan.", Dir: b.dir, Artifact: filepath.Join(b.dir, ".reprise", "issue-7", "00_planning", "planning.md"),
		Access: pipelines.AccessArtifacts, Session: uuid.NewString(), Timeout: 5 * time.Minute, Idle: 5 * time.Minute,
	}
	return b
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) read(name string) string {
	b.t.Helper()
	return testenv.Read(b.t, name)
}

// install makes a fake the program of that name. The folder of the bench is
// its first argument.
func (b *bench) install(program, fake string, args ...string) {
	b.t.Helper()
	link := filepath.Join(b.bin, program)
	b.write(link+".words", strings.Join(append([]string{"fake", fake, b.dir}, args...), "\x00"))
	_ = os.Remove(link) // there may be none
	if err := os.Symlink(testenv.Self(b.t), link); err != nil {
		b.t.Fatal(err)
	}
}

// agent is the agent of that name.
func (b *bench) agent(name string) engine.Agent {
	b.t.Helper()
	a, err := For(name, pipelines.Agent{Use: name, Command: []string{"worker"}}, b.opts)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

// run carries out the task, and holds the agent to ending all it started.
func (b *bench) run(name string) (engine.Result, *engine.AgentError) {
	b.t.Helper()
	r, err := b.agent(name).Run(b.t.Context(), b.task)
	if left := b.processes(); len(left) > 0 {
		b.t.Errorf("processes are left: %q", left)
	}
	if files, _ := os.ReadDir(b.opts.Temp); len(files) > 0 {
		b.t.Errorf("temporary files are left: %v", files)
	}
	var fault *engine.AgentError
	if err != nil && !errors.As(err, &fault) {
		b.t.Fatalf("error %v (%T), want an AgentError", err, err)
	}
	return r, fault
}

// processes finds those whose command line names a folder of the bench.
func (b *bench) processes() []string { return testenv.StartedWith(b.t, filepath.Dir(b.dir)) }

// recording gives the absolute path of a recorded stream.
func recording(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name+".jsonl"))
	testenv.Must(t, err)
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}
