//go:build amd64 || arm64

package sandbox

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// filterMachine is the machine whose system calls the filter knows, in the
// numbers of the kernel.
var filterMachine = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]

// keyCalls are those of the keyrings.
func keyCalls() []uint32 {
	return []uint32{unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL}
}

// reachingCalls are those by which a process reads and writes what others have in memory and open.
func reachingCalls() []uint32 {
	return []uint32{unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD}
}

// systemVCalls are those of memory, queues and semaphores that are System V's.
func systemVCalls() []uint32 {
	return []uint32{
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
		unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	}
}

// ofProcess are the calls that change a process or a thread named by their first
// argument. A thread changes itself with 0 alone.
func ofProcess() []uint32 {
	return []uint32{
		unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR,
	}
}

// openingCalls are those that open files, and where their flags are.
func openingCalls() map[uint32]uint32 {
	calls := map[uint32]uint32{unix.SYS_OPENAT: atThird}
	if runtime.GOARCH == "amd64" {
		calls[2] = atSecond // open, which newer machines do not have
	}
	return calls
}

// kindCall is a call that changes a process, a group of them, or all of a user: its first argument says which.
type kindCall struct {
	call uint32
	user uint32 // the first argument that stands for a user
}

func ofKind() []kindCall {
	return []kindCall{{unix.SYS_SETPRIORITY, unix.PRIO_USER}, {unix.SYS_IOPRIO_SET, 3}} // IOPRIO_WHO_USER, see ioprio_set(2)
}
