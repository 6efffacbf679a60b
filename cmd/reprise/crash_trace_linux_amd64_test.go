package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// traced runs a program, all its threads but not its children, and does
// something to it at one of the steps that the system sees:
//
//	traced WHAT NUMBER LOG PROGRAM [ARGUMENT]...
//
// A step is the end of a system call that has changed something outside the
// program, see callNames; for the start of a program its beginning as well, and
// that a program is over is one, too. They are counted from 1. What is done to
// the program at any other moment finds the world as the step before has left
// it, but for what its children do meanwhile. WHAT is one of
//
//	count     nothing
//	kill      kill the program
//	kill-all  kill it and the git commands it has started
//	term      tell it to stop (SIGTERM)
//	ENOSPC    have the call fail with that error; any name of an error will do
//	ENOSPC+   that call and all that come after it
//
// For an error a step is the beginning of a call that works on files. LOG is
// written when the program is over: the number of the step, 0 if the program was
// over before, how long it then went on, and a line for each step up to there.
func traced() {
	runtime.LockOSThread() // the thread that starts a program is the one that traces it
	code, err := trace(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "traced:", err)
		os.Exit(125)
	}
	os.Exit(code)
}

// errnoOf gives the error of that name; 0 if there is none.
func errnoOf(name string) syscall.Errno {
	for n := syscall.Errno(1); n < 134; n++ {
		if unix.ErrnoName(n) == name {
			return n
		}
	}
	return 0
}

// tracer follows one program.
type tracer struct {
	what    string
	at      int
	fails   syscall.Errno // at that step; 0 for none
	ever    bool          // and from there on
	leader  int
	threads map[int]*thread
	files   map[uint64]rune // what descriptors are, see kind
	steps   bytes.Buffer
	count   int
	hit     int // the step at which it was done; 0: not yet
	when    time.Time
}

// thread is a thread of the program, and the system call it is in.
type thread struct {
	call  syscallInfo
	fails syscall.Errno
}

// syscallInfo is what PTRACE_GET_SYSCALL_INFO tells.
type syscallInfo struct {
	op   uint8 // 1: a call begins, 2: it ends
	_    [3]uint8
	_    uint32
	_, _ uint64
	// Of a call that begins: its number, then its arguments. Of one that ends:
	// what it returns.
	nr   uint64
	args [6]uint64
	_    [4]uint64
}

const getSyscallInfo = 0x420e // PTRACE_GET_SYSCALL_INFO, of Linux 5.3

func trace(args []string) (int, error) {
	if len(args) < 4 {
		return 0, fmt.Errorf("usage: traced WHAT NUMBER LOG PROGRAM [ARGUMENT]..., not %q", args)
	}
	t := &tracer{what: args[0], threads: map[int]*thread{}, files: map[uint64]rune{}}
	var err error
	if t.at, err = strconv.Atoi(args[1]); err != nil {
		return 0, err
	}
	t.fails, t.ever = errnoOf(strings.TrimSuffix(t.what, "+")), strings.HasSuffix(t.what, "+")
	c := exec.Command(args[3], args[4:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := c.Start(); err != nil {
		return 0, err
	}
	t.leader = c.Process.Pid
	code, err := t.follow()
	if err == nil {
		err = os.WriteFile(args[2], append(fmt.Appendln(nil, t.hit, t.took()), t.steps.Bytes()...), 0o644)
	}
	return code, err
}

// took is the time since it was done.
func (t *tracer) took() time.Duration {
	if t.hit == 0 {
		return 0
	}
	return time.Since(t.when)
}

// follow lets the program run to its end.
func (t *tracer) follow() (int, error) {
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
	for first := true; ; first = false {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return 0, fmt.Errorf("waiting: %w", err)
		case status.Exited() && pid == t.leader:
			return status.ExitStatus(), nil
		case status.Signaled() && pid == t.leader:
			return 128 + int(status.Signal()), nil
		case !status.Stopped():
			delete(t.threads, pid)
			continue
		case first:
			if err := syscall.PtraceSetOptions(pid, options); err != nil {
				return 0, fmt.Errorf("tracing: %w", err)
			}
		}
		_, known := t.threads[pid]
		if !known {
			t.threads[pid] = &thread{}
		}
		give := 0 // the signal to hand on
		switch sig := status.StopSignal(); {
		case sig == syscall.SIGTRAP|0x80:
			err = t.step(pid)
		case sig == syscall.SIGTRAP && (first || status.TrapCause() > 0): // it has begun, or has a new thread
		case sig == syscall.SIGSTOP && !known: // that is how a thread begins
		default:
			give = int(sig)
		}
		if err == nil {
			err = t.resume(pid, give)
		}
		if err != nil && err != syscall.ESRCH { // it may have been killed
			return 0, fmt.Errorf("following %d: %w", pid, err)
		}
	}
}

// resume lets a thread go on: to its next step, or for good.
func (t *tracer) resume(pid, signal int) error {
	if t.hit > 0 && !t.ever && t.threads[pid].fails == 0 {
		return syscall.PtraceCont(pid, signal)
	}
	return syscall.PtraceSyscall(pid, signal)
}

// step looks at a thread at the beginning or the end of a system call.
func (t *tracer) step(pid int) error {
	th := t.threads[pid]
	var info syscallInfo
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, getSyscallInfo, uintptr(pid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return errno
	}
	if info.op == 1 {
		th.call = info
		name := t.name(info)
		if t.fails != 0 && ofFiles(name) || t.fails == 0 && (name == stepStart || name == stepExit) {
			return t.point(pid, name+" begins")
		}
		return nil
	}
	result := int64(info.nr)
	if th.fails != 0 {
		err := setResult(pid, -int64(th.fails))
		th.fails = 0
		return err
	}
	name := t.name(th.call)
	t.note(th.call, result)
	if th.call.nr == unix.SYS_WAITID && result == 0 {
		name = "program is over"
	}
	if name == "" || result < 0 || t.fails != 0 {
		return nil
	}
	return t.point(pid, name)
}

// point counts a step, and does what is to be done there.
func (t *tracer) point(pid int, name string) error {
	t.count++
	if t.hit > 0 && t.ever {
		return t.fail(pid)
	}
	if t.hit > 0 {
		return nil
	}
	fmt.Fprintf(&t.steps, "%d %s\n", t.count, name)
	if t.count != t.at {
		return nil
	}
	t.hit, t.when = t.at, time.Now()
	switch {
	case t.fails != 0:
		return t.fail(pid)
	case t.what == "term":
		return syscall.Kill(t.leader, syscall.SIGTERM)
	case t.what == "kill", t.what == "kill-all":
		if err := syscall.Kill(t.leader, syscall.SIGKILL); err != nil {
			return err
		}
	}
	if t.what == "kill-all" {
		for _, p := range session(os.Getpid()) {
			if p != os.Getpid() {
				_ = syscall.Kill(p, syscall.SIGKILL) // it may be over already
			}
		}
	}
	return nil
}

// Steps that are counted at their beginning as well.
const (
	stepStart = "start program"
	stepExit  = "exit"
)

// ofFiles reports whether a call of that name works on files.
func ofFiles(name string) bool {
	return name == "write file" || name != "" && name != stepExit && !strings.Contains(name, " ")
}

// fail has the call that begins not be done.
func (t *tracer) fail(pid int) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(pid, &r); err != nil {
		return err
	}
	r.Orig_rax = ^uint64(0)
	t.threads[pid].fails = t.fails
	return syscall.PtraceSetRegs(pid, &r)
}

func setResult(pid int, result int64) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(pid, &r); err != nil {
		return err
	}
	r.Rax = uint64(result)
	return syscall.PtraceSetRegs(pid, &r)
}

// callNames are the calls that are steps: what they do can be seen from outside
// the program. Of those that write and open, see name.
var callNames = map[uint64]string{
	unix.SYS_RENAME: "rename", unix.SYS_RENAMEAT: "rename", unix.SYS_RENAMEAT2: "rename",
	unix.SYS_LINK: "link", unix.SYS_LINKAT: "link", unix.SYS_SYMLINK: "symlink", unix.SYS_SYMLINKAT: "symlink",
	unix.SYS_UNLINK: "unlink", unix.SYS_UNLINKAT: "unlink", unix.SYS_RMDIR: "rmdir",
	unix.SYS_MKDIR: "mkdir", unix.SYS_MKDIRAT: "mkdir",
	unix.SYS_TRUNCATE: "truncate", unix.SYS_FTRUNCATE: "truncate", unix.SYS_FALLOCATE: "fallocate",
	unix.SYS_CHMOD: "chmod", unix.SYS_FCHMOD: "chmod", unix.SYS_FCHMODAT: "chmod", unix.SYS_UTIMENSAT: "utimes",
	unix.SYS_FSYNC: "fsync", unix.SYS_FDATASYNC: "fsync", unix.SYS_FLOCK: "flock",
	unix.SYS_CONNECT: "connect socket", unix.SYS_KILL: "send signal", unix.SYS_PIDFD_SEND_SIGNAL: "send signal", unix.SYS_EXIT_GROUP: stepExit,
}

// name names a call that is a step, or gives "".
func (t *tracer) name(c syscallInfo) string {
	switch c.nr {
	case unix.SYS_OPEN, unix.SYS_OPENAT:
		flags := c.args[1]
		if c.nr == unix.SYS_OPENAT {
			flags = c.args[2]
		}
		if flags&(unix.O_WRONLY|unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC) != 0 {
			return "open"
		}
	case unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_PWRITE64, unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDFILE:
		return t.write(c.args[0])
	case unix.SYS_COPY_FILE_RANGE, unix.SYS_SPLICE:
		return t.write(c.args[2])
	case unix.SYS_CLONE, unix.SYS_VFORK, unix.SYS_FORK:
		if c.nr != unix.SYS_CLONE || c.args[0]&unix.CLONE_THREAD == 0 {
			return stepStart
		}
	default:
		return callNames[c.nr]
	}
	return ""
}

// write names a write by what is written to.
func (t *tracer) write(fd uint64) string {
	switch t.files[fd] {
	case 'e':
		return "" // that is how threads wake each other
	case 'f':
		return "write file"
	case 's':
		return "write socket"
	}
	return "write stream"
}

// note keeps what descriptors are.
func (t *tracer) note(c syscallInfo, result int64) {
	if result < 0 {
		return
	}
	switch c.nr {
	case unix.SYS_OPEN, unix.SYS_OPENAT:
		t.files[uint64(result)] = 'f'
	case unix.SYS_SOCKET, unix.SYS_ACCEPT4:
		t.files[uint64(result)] = 's'
	case unix.SYS_EVENTFD2:
		t.files[uint64(result)] = 'e'
	case unix.SYS_CLOSE:
		delete(t.files, c.args[0])
	case unix.SYS_FCNTL:
		if c.args[1] == unix.F_DUPFD_CLOEXEC {
			t.files[uint64(result)] = t.files[c.args[0]]
		}
	}
}
