package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// TestVersionAsksTheTerminalNothing has a terminal that does not answer. Some
// libraries ask it for its colours when a program starts.
func TestVersionAsksTheTerminalNothing(t *testing.T) {
	screen, terminal := testenv.OpenTerminal(t)
	c := exec.Command("reprise", "--version")
	c.Env = append(os.Environ(), "TERM=xterm-256color")
	c.Stdin, c.Stdout, c.Stderr = terminal, terminal, terminal
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // only who is in the foreground would ask
	testenv.Must(t, c.Run())
	if got := testenv.ReadScreen(screen, terminal); !strings.HasPrefix(got, "reprise ") || strings.Contains(got, "\x1b") {
		t.Errorf("got %q", got)
	}
}
