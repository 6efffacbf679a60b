package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func TestEndLeftovers(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	start := func(tree string) *exec.Cmd {
		c := exec.Command("sleep", "300")
		c.Env = []string{treeVar + "=" + tree}
		testenv.Must(t, c.Start())
		return c
	}
	mine, theirs := start(dir), start(other)
	if got := EndLeftovers(dir); got != 1 {
		t.Errorf("ended %d processes, want 1", got)
	}
	gone := make(chan error, 1)
	go func() { gone <- mine.Wait() }()
	select {
	case <-gone:
	case <-time.After(5 * time.Minute):
		t.Error("the leftover is still there")
	}
	if err := theirs.Process.Kill(); err != nil {
		t.Errorf("the process of another tree is gone: %v", err)
	}
	_ = theirs.Wait() // it was killed
}

// A process whose first thread has ended is ended with its call all the same.
func TestHeadlessIsEnded(t *testing.T) {
	dir := t.TempDir()
	e, err := program(testenv.Self(t), "fake", "daemon without a head", dir).Run(t.Context())
	if err != nil || e.Left != 1 {
		t.Errorf("it ended with %+v, error %v", e, err)
	}
	still(t, dir)
}

// still fails if somebody goes on writing the file of loseHead: a process
// without its first thread shows no command line.
func still(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(dir, "alive")
	before, err := os.ReadFile(file)
	if err != nil {
		return // nobody ever did
	}
	time.Sleep(50 * time.Millisecond)
	if after, err := os.ReadFile(file); err != nil || len(after) > len(before) {
		t.Errorf("a process works on (%v)", err)
	}
}

// A process is not over while one of its threads works on, and those in its
// session belong to it whatever environment they show.
func TestEndLeftoversOfEveryKind(t *testing.T) {
	dir, tree := t.TempDir(), t.TempDir()
	headless := exec.Command(testenv.Self(t), "fake", "daemon without a head", dir)
	headless.Env, headless.SysProcAttr = []string{treeVar + "=" + tree}, &syscall.SysProcAttr{Setsid: true}
	session := exec.Command("/bin/sh", "-c", "env -i sleep 60 & echo $!; wait")
	session.Env, session.SysProcAttr = []string{treeVar + "=" + tree, "PATH=" + os.Getenv("PATH")}, &syscall.SysProcAttr{Setsid: true}
	testenv.Must(t, headless.Run())
	out, err := session.StdoutPipe()
	if err == nil {
		err = session.Start()
	}
	testenv.Must(t, err)
	line := make([]byte, 32)
	if _, err := out.Read(line); err != nil { // both are there
		t.Fatal(err)
	}
	if got := EndLeftovers(tree); got != 3 {
		t.Errorf("ended %d processes, want 3", got)
	}
	still(t, dir)
	_ = session.Wait() // it was killed
	if got := EndLeftovers(tree); got != 0 {
		t.Errorf("%d processes were still there", got)
	}
}
