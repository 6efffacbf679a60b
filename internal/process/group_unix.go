//go:build unix && !linux

package process

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

// Apart gives a program a session, and so a process group, of its own.
func Apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Namespaces is for systems that have a sandbox: here nothing asks for it.
func Namespaces(bool) *syscall.SysProcAttr { return Apart() }

func prepareThread() {}

func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

func (c *child) ask()  { _ = syscall.Kill(-c.pid(), syscall.SIGTERM) }
func (c *child) kill() { _ = syscall.Kill(-c.pid(), syscall.SIGKILL) }

// sweep finds nothing here: processes that leave the group of their program
// are not adopted, and live on.
func sweep(int, string) int { return 0 }

// ofCall finds nothing here either.
func ofCall(int, string) []int { return nil }

// EndLeftovers ends nothing here: this system does not tell which process
// belongs to a work tree.
func EndLeftovers(string) int { return 0 }
