//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"net"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// relayFile is the descriptor by which the helper hands out its listener.
const relayFile = 4

// raiseLoopback starts the one device that a new network has.
func raiseLoopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, r)
}

// handOut listens on a port of loopback and gives the listener to reprise.
func handOut(port uint16) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	if err := unix.Bind(s, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err := unix.Listen(s, 128); err != nil {
		return err
	}
	return handOver(s)
}

// handOver gives a descriptor to reprise.
func handOver(file int) error {
	return unix.Sendmsg(relayFile, []byte{0}, unix.UnixRights(file), nil, 0)
}

// handled is what Landlock refuses of TCP. In a network of its own, only servers are left to guard.
func (n *closed) handled(all landlock.Config) landlock.AccessNetSet {
	switch {
	case n == nil, n.Own && n.Listen:
		return 0
	case n.Own:
		return ll.AccessNetBindTCP & all.HandledAccessNet
	}
	return (ll.AccessNetBindTCP | ll.AccessNetConnectTCP) & all.HandledAccessNet
}

// sockets are the parts of the filter of system calls that refuse sockets of other
// kinds than a closed network has. unixFiles says that sockets with files are left.
func (n *closed) sockets(when func(call uint32, part ...unix.SockFilter), unixFiles bool) {
	if n == nil {
		return
	}
	refuse, allow := give(refused), give(allowed)
	when(unix.SYS_IO_URING_SETUP, give(unknown)) // makes sockets past this filter
	when(unix.SYS_SOCKET, n.families(unixFiles)...)
	// Any other family may send to whom it likes, paired or not.
	when(unix.SYS_SOCKETPAIR, load(atFirst), equal(unix.AF_UNIX, 1, 0), refuse, load(atNumber))
	if !n.Own || !n.Listen && !unixFiles {
		when(unix.SYS_LISTEN, refuse) // it takes a port by itself where none was bound, and Landlock before 4 guards none
	}
	if n.Own {
		return
	}
	// Sockets come with their connection, see lender; what opens one with its first data would open another.
	if n.Port != 0 {
		when(unix.SYS_CONNECT, give(unix.SECCOMP_RET_USER_NOTIF))
	}
	for call, flags := range map[uint32]uint32{unix.SYS_SENDTO: atFourth, unix.SYS_SENDMSG: atThird, unix.SYS_SENDMMSG: atFourth} {
		when(call, load(flags), unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.MSG_FASTOPEN, Jf: 1}, refuse, allow)
	}
}

// families is the part about the families of sockets.
func (n *closed) families(unixFiles bool) []unix.SockFilter {
	part := []unix.SockFilter{load(atFirst)}
	add := func(more ...unix.SockFilter) { part = append(part, more...) }
	if unixFiles {
		add(equal(unix.AF_UNIX, 0, 1), give(allowed))
	}
	if n.Own { // the addresses and routes of its own network; some libraries cannot do without
		add(equal(unix.AF_NETLINK, 0, 4), load(atThird), equal(unix.NETLINK_ROUTE, 0, 1), give(allowed), give(refused))
	}
	if n.Port != 0 || n.Own {
		tcp := uint32(allowed)
		if !n.Own {
			tcp = unix.SECCOMP_RET_USER_NOTIF
		}
		// The rest of a socket's type are flags.
		add(equal(unix.AF_INET, 2, 0), equal(unix.AF_INET6, 1, 0), give(refused), load(atSecond), and(0xf))
		if n.Own && n.Listen { // UDP stays in there; Java asks by it for the addresses of the machine
			add(equal(unix.SOCK_DGRAM, 0, 4), load(atThird), equal(0, 1, 0), equal(unix.IPPROTO_UDP, 0, 1), give(allowed), load(atSecond), and(0xf))
		}
		add(equal(unix.SOCK_STREAM, 1, 0), give(refused), load(atThird), equal(0, 2, 0), equal(unix.IPPROTO_TCP, 1, 0), give(refused), give(tcp))
	}
	return append(part, give(refused))
}

// lent says whether the sockets of a call come from reprise.
func (n *closed) lent() bool { return n != nil && !n.Own && n.Port != 0 }

// open gives what the helper of a call inherits to hand out its listener by, and
// answers what comes to that once it has. Without a gate there is nothing to lead to.
func (r *relay) open(p policy) ([]*os.File, error) {
	if p.Network == nil || p.Network.Port == 0 {
		return nil, nil
	}
	ours, theirs, err := handover()
	if err != nil {
		return nil, err
	}
	if err := r.lead(ours, p); err != nil {
		_ = theirs.Close()
		return nil, err
	}
	return []*os.File{theirs}, nil
}

// handover is a connection by which a helper hands out its listener.
func handover() (ours *net.UnixConn, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	theirs = os.NewFile(uintptr(pair[1]), "relay")
	end := os.NewFile(uintptr(pair[0]), "relay")
	c, err := net.FileConn(end)
	_ = end.Close() // the connection has a copy
	if err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	return c.(*net.UnixConn), theirs, nil
}

// lead answers what comes to the listener that a helper hands out: connections in its own network, or calls that ask for
// a socket.
func (r *relay) lead(from *net.UnixConn, p policy) error {
	if !r.keep(from) {
		return errors.New("the call is over")
	}
	go func() {
		file, err := receive(from)
		if err != nil {
			return // the program was not started
		}
		if p.Network.lent() {
			if stop, end, err := os.Pipe(); err != nil || !r.keep(end) {
				_ = unix.Close(file)
			} else {
				v, _ := landlockABI() // it is there: the call is in the sandbox
				lender{file, p.Network.Port, p.Sockets || v >= socketABI}.serve(stop)
			}
			return
		}
		f := os.NewFile(uintptr(file), "listener")
		defer f.Close() // the listener has a copy
		if l, err := net.FileListener(f); err == nil && r.keep(l) {
			r.serve(l, p.Network.Port)
		}
	}()
	return nil
}

// receive waits for the descriptor that a helper hands out.
func receive(c *net.UnixConn) (int, error) {
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := c.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return 0, errors.New("no listener was handed out")
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return 0, err
	}
	return files[0], nil
}
