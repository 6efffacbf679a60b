package eval

import (
	"os/exec"
	"syscall"
)

// endWithParent has the system tell a program to stop when this process is gone: nobody
// would count what it goes on to spend. The signal comes when the thread ends that
// started the program; the goroutine stays on it as long as the program runs.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
