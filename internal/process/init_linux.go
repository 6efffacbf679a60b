package process

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Heard reports whether somebody is there who will read the report: if not,
// reprise has ended.
func Heard() bool {
	unix.CloseOnExec(reportFile)
	pipe := []unix.PollFd{{Fd: reportFile}}
	_, err := unix.Poll(pipe, 0)
	return err == nil && pipe[0].Revents&(unix.POLLERR|unix.POLLNVAL) == 0
}

// LookAfter starts a program from the first process of a namespace, which this is, passes on what reprise asks of it,
// and ends as it does. It returns only if the program does not start.
func LookAfter(path string, argv, environ []string) error {
	orphans, asked := make(chan os.Signal, 1), make(chan os.Signal, 8)
	signal.Reset(unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	signal.Notify(orphans, unix.SIGCHLD) // several at once count as one
	signal.Notify(asked, unix.SIGTERM)
	// Programs beside it may be of the same user, and must not look into it.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env: environ, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return err
	}
	letGo()
	for {
		select {
		case sig := <-asked:
			_ = unix.Kill(-pid, sig.(syscall.Signal)) // it may be over
		case <-orphans:
			if status, over := collect(pid); over {
				conclude(pid, status)
			}
		}
	}
}

// letGo closes standard input and output here, which are the program's now.
func letGo() {
	none, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return // a system without it
	}
	for fd := range 3 {
		_ = unix.Dup3(int(none.Fd()), fd, 0)
	}
	_ = none.Close() // the copies stay
}

// collect takes the status of all processes that have ended, and says whether
// the program is among them.
func collect(program int) (status unix.WaitStatus, over bool) {
	for {
		var s unix.WaitStatus
		pid, err := unix.Wait4(-1, &s, unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR:
		case pid <= 0:
			return status, over
		case pid == program:
			status, over = s, true
		}
	}
}

// conclude ends this process, and with it all that the program has left, as the program has ended. What shares its
// group does not count as left.
func conclude(program int, status unix.WaitStatus) {
	r := report{}
	for _, p := range processes() {
		if group, err := unix.Getpgid(p.pid); err == nil && p.pid != os.Getpid() && !p.dead && group != program {
			r.Left++
		}
	}
	code := status.ExitStatus()
	if status.Signaled() {
		r.Signal, code = int(status.Signal()), 1
	}
	r.tell(os.NewFile(reportFile, "report"))
	os.Exit(code)
}
