//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socketABI is the first version of Landlock that guards the files of sockets.
const socketABI = 9

// filterCalls takes system calls from this process, for good, that reach past
// what Landlock guards:
//
//   - The limits, the priority and the processors of other processes: reprise
//     would end at its next file if a program gave it a limit of none.
//   - The keyrings of the user, and memory, queues and semaphores in the manner
//     of System V, which belong to a user and stay after the call.
//   - For who judges, what reaches into another process of the call: code under
//     review that a reviewer runs would answer in its name.
//   - Where Landlock cannot tell whose they are, the sockets that have files:
//     whoever asks Docker's, a terminal multiplexer's or the desktop's for it has
//     a program started outside of the sandbox. A filter sees the kind of a
//     socket but not what it is connected to, so a program has none at all;
//     pairs of connected sockets that it makes for itself are left.
//   - Where the network is closed, sockets that lead past the gate: all but TCP. Where a call has no network of its own,
//     reprise gives it these: what asks for one is passed on to the listener.
//   - Before Landlock 3, to cut files to nothing without opening them for writing.
//
// A sandbox that leaves programs their sockets leaves them System V, too: a
// database needs both.
func (p policy) filterCalls() error {
	v, err := landlockABI()
	if err != nil {
		return err
	}
	filter := callFilter(filterMachine, p.Judge, !p.Sockets, !p.Sockets && v < socketABI, v < truncateABI, p.Network)
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	flags := uintptr(0)
	if p.Network.lent() {
		flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("filtering system calls: %w", err)
	}
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("filtering system calls: %w", errno)
	}
	if flags == 0 || p.Trial {
		return nil
	}
	err = handOver(int(listener))
	return errors.Join(err, unix.Close(int(listener)), unix.Close(relayFile))
}

// What the filter reads of a call: its number is at 0, the machine at 4 and the
// low halves of its arguments from 16 on, see seccomp(2).
const (
	loadWord = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	isEqual  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	isLeast  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	andWith  = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	giveBack = unix.BPF_RET | unix.BPF_K

	atNumber, atMachine, atFirst, atSecond, atThird, atFourth = 0, 4, 16, 24, 32, 40

	allowed = unix.SECCOMP_RET_ALLOW
	refused = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	unknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS) // as a kernel without the call answers
)

// The steps of a filter: to load a word, to go so many steps further if it is equal or if it
// is not, to take some of its bits, and to answer.
func load(at uint32) unix.SockFilter { return unix.SockFilter{Code: loadWord, K: at} }

func equal(k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: isEqual, Jt: yes, Jf: no, K: k}
}

func and(bits uint32) unix.SockFilter { return unix.SockFilter{Code: andWith, K: bits} }

func give(answer uint32) unix.SockFilter { return unix.SockFilter{Code: giveBack, K: answer} }

// callFilter is the filter as a program for the kernel, for one machine.
func callFilter(machine uint32, judge, systemV, sockets, truncate bool, network *closed) []unix.SockFilter {
	const otherABI = 0x40000000 // calls from here on are those of a second kind of program
	f := []unix.SockFilter{
		// Programs of another machine could ask in their own way.
		load(atMachine),
		equal(machine, 1, 0),
		give(unknown),
		load(atNumber),
		{Code: isLeast, K: otherABI, Jf: 1},
		give(unknown),
	}
	// The number of the call is loaded, and stays so after each of these parts.
	refuse := func(call, with uint32) {
		f = append(f, equal(call, 0, 1), give(with))
	}
	when := func(call uint32, part ...unix.SockFilter) {
		f = append(append(f, equal(call, 0, uint8(len(part)))), part...)
	}
	for _, call := range keyCalls() {
		refuse(call, unknown)
	}
	if judge {
		for _, call := range reachingCalls() {
			refuse(call, refused)
		}
	}
	if systemV {
		for _, call := range systemVCalls() {
			refuse(call, unknown)
		}
	}
	for _, call := range ofProcess() { // the first argument is a process, and 0 is the caller
		when(
			call,
			load(atFirst),
			equal(0, 0, 1),
			give(allowed),
			give(refused),
		)
	}
	for _, k := range ofKind() {
		when(
			k.call,
			load(atFirst),
			equal(k.user, 3, 0), // 0 is the user of the caller here, who has other processes
			load(atSecond),
			equal(0, 0, 1),
			give(allowed),
			give(refused),
		)
	}
	if truncate {
		refuse(unix.SYS_TRUNCATE, refused)
		refuse(unix.SYS_OPENAT2, unknown) // its flags are in memory
		for call, flags := range openingCalls() {
			when(call, load(flags), and(unix.O_ACCMODE|unix.O_TRUNC), equal(unix.O_RDONLY|unix.O_TRUNC, 0, 1), give(refused), give(allowed))
		}
	}
	network.sockets(when, !sockets)
	if sockets {
		const kind = 0xf                         // the rest of a socket's type are flags
		refuse(unix.SYS_IO_URING_SETUP, unknown) // makes sockets past this filter
		when(
			unix.SYS_SOCKET,
			load(atFirst),
			equal(unix.AF_UNIX, 1, 0),
			give(allowed),
			give(refused),
		)
		when(
			unix.SYS_SOCKETPAIR,
			load(atSecond),
			and(kind),
			equal(unix.SOCK_STREAM, 2, 0),
			equal(unix.SOCK_SEQPACKET, 1, 0),
			give(refused), // any other kind sends to whom it likes, paired or not
			give(allowed),
		)
	}
	return append(f, give(allowed))
}
