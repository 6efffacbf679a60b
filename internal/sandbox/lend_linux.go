//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A call that has no network of its own gets its sockets from reprise: each is connected to the gate before the program
// has it. The filter of system calls passes on what asks for one, see seccomp_unotify(2); only numbers are read from
// that, which nobody changes meanwhile. No connect of a program ever reaches the kernel, so a socket cannot be led
// elsewhere; its options, its events and whether it blocks are those of any other.

// The requests that golang.org/x/sys does not name, see seccomp_unotify(2).
const (
	notifyValid = 0x40082102 // SECCOMP_IOCTL_NOTIF_ID_VALID
	notifyAdd   = 0x40182103 // SECCOMP_IOCTL_NOTIF_ADDFD
)

// question is a system call that waits for its answer: struct seccomp_notif.
type question struct {
	id         uint64
	pid, flags uint32 // of the thread
	call       int32
	machine    uint32
	at         uint64
	args       [6]uint64
}

// answer is struct seccomp_notif_resp.
type answer struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// addition is struct seccomp_notif_addfd.
type addition struct {
	id                 uint64
	flags, file        uint32
	number, numberWith uint32
}

// lender answers for the sockets of a call.
type lender struct {
	listener int
	port     uint16 // of the gate
	files    bool   // programs may have sockets with files, whose connections are Landlock's to judge
}

// serve answers until stop is closed or no program is left.
func (l lender) serve(stop *os.File) {
	defer func() { _ = stop.Close(); _ = unix.Close(l.listener) }() // whoever still waits is told that there is no such call
	for {
		ready := []unix.PollFd{{Fd: int32(l.listener), Events: unix.POLLIN}, {Fd: int32(stop.Fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if ready[1].Revents != 0 || ready[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
			return
		}
		var q question
		if ready[0].Revents == 0 || request(l.listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&q)) != nil {
			continue // the program has ended or been disturbed meanwhile
		}
		a := answer{id: q.id}
		var errno unix.Errno
		switch {
		case q.call == unix.SYS_CONNECT && l.lets(q):
			a.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
		case q.call == unix.SYS_CONNECT && !l.gate(q):
			a.errno = -int32(unix.EACCES)
		case q.call == unix.SYS_CONNECT: // it is connected
		case errors.As(l.lend(q), &errno):
			a.errno = -int32(errno)
		default:
			continue // it is answered with its socket
		}
		_ = request(l.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)) // who asked may have ended
	}
}

// lend gives a program its socket.
func (l lender) lend(q question) error {
	kind := int(uint32(q.args[1]))
	s, err := unix.Socket(int(uint32(q.args[0])), unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s) // the program has it
	var to unix.Sockaddr = &unix.SockaddrInet4{Port: int(l.port), Addr: [4]byte{127, 0, 0, 1}}
	if uint32(q.args[0]) == unix.AF_INET6 {
		to = &unix.SockaddrInet6{Port: int(l.port), Addr: [16]byte(net.IPv4(127, 0, 0, 1))}
	}
	if err := unix.SetsockoptTimeval(s, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Sec: 10}); err != nil {
		return err
	}
	if connect(s, to) != nil {
		return unix.EACCES // the gate is closed, and so will be the call
	}
	err = errors.Join(unix.SetsockoptTimeval(s, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{}), unix.SetNonblock(s, kind&unix.SOCK_NONBLOCK != 0))
	if err != nil {
		return err
	}
	return request(l.listener, notifyAdd, unsafe.Pointer(&addition{
		id: q.id, flags: unix.SECCOMP_ADDFD_FLAG_SEND, file: uint32(s), numberWith: uint32(kind & unix.SOCK_CLOEXEC),
	}))
}

// connect connects a socket that blocks. A signal, of which Go has many, breaks that off where it has a time limit, see
// signal(7); asked once more, the system goes on.
func connect(s int, to unix.Sockaddr) error {
	for {
		if err := unix.Connect(s, to); err != unix.EINTR {
			return err
		}
	}
}

// gate says whether a connection is to go where the socket leads already. An address that cannot be read is taken for
// that: the answer opens nothing.
func (l lender) gate(q question) bool {
	to := l.address(q)
	switch {
	case to == nil:
		return true
	case len(to) < 8 || binary.BigEndian.Uint16(to[2:]) != l.port:
		return false
	}
	switch family := binary.NativeEndian.Uint16(to); {
	case family == unix.AF_INET:
		return net.IP(to[4:8]).Equal(net.IPv4(127, 0, 0, 1))
	case family == unix.AF_INET6 && len(to) >= 24:
		return net.IP(to[8:24]).Equal(net.IPv4(127, 0, 0, 1))
	}
	return false
}

// lets says whether a connection is one of sockets with files, which goes on: TCP is not lent a way by that, since
// Landlock refuses all of it.
func (l lender) lets(q question) bool {
	if !l.files {
		return false
	}
	if to := l.address(q); to != nil {
		return binary.NativeEndian.Uint16(to) == unix.AF_UNIX
	}
	return q.args[2] != unix.SizeofSockaddrInet4 && q.args[2] != unix.SizeofSockaddrInet6
}

// address gives the address of a connection, of 2 bytes or more; nil: it cannot be read.
func (l lender) address(q question) []byte {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", q.pid))
	if err != nil {
		return nil // of a program that hides it
	}
	defer memory.Close() // opened for reading
	if request(l.listener, notifyValid, unsafe.Pointer(&q.id)) != nil {
		return nil // it may be another program's by now
	}
	to := make([]byte, min(q.args[2], unix.SizeofSockaddrUnix))
	if n, err := memory.ReadAt(to, int64(q.args[1])); err != nil || n < 2 {
		return nil
	}
	return to
}

// request is ioctl(2) with what a pointer leads to.
func request(file int, which uintptr, with unsafe.Pointer) error {
	for {
		switch _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(file), which, uintptr(with)); errno {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return errno
		}
	}
}
