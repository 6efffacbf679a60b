package agents

import (
	"os/exec"
	"testing"
	"time"
)

func TestEndLeftovers(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	start := func(tree string) *exec.Cmd {
		c := exec.Command("sleep", "60")
		c.Env = []string{treeVar + "=" + tree}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
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
	case <-time.After(5 * time.Second):
		t.Error("the leftover is still there")
	}
	if err := theirs.Process.Kill(); err != nil {
		t.Errorf("the process of another tree is gone: %v", err)
	}
	_ = theirs.Wait() // it was killed
}
