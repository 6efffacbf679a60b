//go:build unix && !linux

package agents

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
)

// Harden says that this system has no way to do it.
func Harden() error {
	return fmt.Errorf("on %s, reprise cannot keep its environment from other processes of the same user", runtime.GOOS)
}

// apart gives a program a session, and so a process group, of its own.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func prepareThread() {}

func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

func (c *child) ask()  { _ = syscall.Kill(-c.pid(), syscall.SIGTERM) }
func (c *child) kill() { _ = syscall.Kill(-c.pid(), syscall.SIGKILL) }

// sweep finds nothing here: processes that leave the group of their program
// are not adopted, and live on.
func sweep(int, string) int { return 0 }
