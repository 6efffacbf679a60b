package agents

import (
	"fmt"
	"runtime"
	"unsafe"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// socketABI is the first version of Landlock that guards the files of sockets.
const socketABI = 9

// machines are those whose system calls the filter knows.
func machines() map[string]uint32 {
	return map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}
}

// filtersSockets says whether the filter knows this machine.
func filtersSockets() bool { return machines()[runtime.GOARCH] != 0 }

// closeSockets takes from this process, for good, the sockets that have files:
// whoever asks Docker's, a terminal multiplexer's or the desktop's for it has a
// program started outside of the sandbox. A filter sees the kind of a socket but
// not what it is connected to, so a program has none at all; pairs of connected
// sockets that it makes for itself are left. Landlock of a later version is
// finer. A sandbox that leaves programs their sockets leaves out the filter.
func (p policy) closeSockets() error {
	machine := machines()[runtime.GOARCH]
	if v, err := ll.LandlockGetABIVersion(); p.Sockets || machine == 0 || err == nil && v >= socketABI {
		return nil // Landlock has done it, or Held says that nothing does
	}
	filter := socketFilter(machine)
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("closing the sockets of services: %w", errno)
	}
	return nil
}

// socketFilter is the filter as a program for the kernel. Where a call is
// described, its number is at 0, the machine at 4 and the low halves of the first
// two arguments at 16 and 24.
func socketFilter(machine uint32) []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		and   = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
		end   = unix.BPF_RET | unix.BPF_K
		kind  = 0xf        // the rest of a socket's type are flags
		other = 0x40000000 // calls from here on are those of a second kind of program
	)
	return []unix.SockFilter{
		{Code: load, K: 4},
		{Code: equal, K: machine, Jf: 14}, // programs of another machine could ask in their own way
		{Code: load, K: 0},
		{Code: least, K: other, Jt: 12},
		{Code: equal, K: unix.SYS_IO_URING_SETUP, Jt: 11}, // makes sockets past this filter
		{Code: equal, K: unix.SYS_SOCKETPAIR, Jt: 4},
		{Code: equal, K: unix.SYS_SOCKET, Jf: 2},
		{Code: load, K: 16},
		{Code: equal, K: unix.AF_UNIX, Jt: 6},
		{Code: end, K: unix.SECCOMP_RET_ALLOW},
		{Code: load, K: 24},
		{Code: and, K: kind},
		{Code: equal, K: unix.SOCK_STREAM, Jt: 1},
		{Code: equal, K: unix.SOCK_SEQPACKET, Jf: 1}, // any other kind sends to whom it likes, paired or not
		{Code: end, K: unix.SECCOMP_RET_ALLOW},
		{Code: end, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: end, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
	}
}
