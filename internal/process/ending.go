package process

import (
	"os"
	"syscall"
)

// Ending is how a program ended.
type Ending struct {
	Cause  Cause
	Why    string           // what it used up too much of, if that ended it
	State  *os.ProcessState // nil if it could not be ended at all
	Stdout string           // head and tail
	Stderr string           // tail
	Cut    int              // lines that were too long
	Left   int              // processes it had left behind, now ended
	report report
}

// Cause is what made a program end.
type Cause int

// The causes.
const (
	Exited    Cause = iota // by itself
	TimedOut               // over its time
	WentIdle               // no output for too long
	Cancelled              // the caller asked
	Lingered               // it stayed after its result
	Stopped                // a line said that nothing good will come
	Overfull               // it filled the disk
)

// Signal is the one that ended the program; 0 if none did.
func (e Ending) Signal() syscall.Signal {
	if e.State == nil {
		return 0
	}
	if ws, ok := e.State.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal()
	}
	return syscall.Signal(e.report.Signal)
}

// Code is the exit code of a program that has ended; -1 if a signal ended it.
func (e Ending) Code() int {
	if e.Signal() != 0 {
		return -1
	}
	return e.State.ExitCode()
}
