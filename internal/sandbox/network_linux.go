package sandbox

import (
	"errors"
	"net"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// tcpABI is the first version of Landlock that guards TCP.
const tcpABI = 4

// relayFile is the descriptor by which the helper hands out its listener.
const relayFile = 4

// raiseLoopback starts the one device that a new network has.
func raiseLoopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(s) }()
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
	defer func() { _ = unix.Close(s) }()
	if err := unix.Bind(s, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err := unix.Listen(s, 128); err != nil {
		return err
	}
	return unix.Sendmsg(relayFile, []byte{0}, unix.UnixRights(s), nil, 0)
}

// rules adds what Landlock handles and allows of TCP. In a network of its own, only servers are left to guard.
func (n *closed) rules(all landlock.Config) (handled landlock.AccessNetSet, rules []landlock.Rule) {
	switch {
	case n == nil:
		return 0, nil
	case n.Own && n.Listen:
		return 0, nil
	case n.Own:
		return ll.AccessNetBindTCP & all.HandledAccessNet, nil
	}
	handled = (ll.AccessNetBindTCP | ll.AccessNetConnectTCP) & all.HandledAccessNet
	if n.Port != 0 && handled != 0 {
		rules = append(rules, landlock.ConnectTCP(n.Port))
	}
	return handled, rules
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
	if n.Own {
		return
	}
	// What opens a connection with its first data is not asked about by Landlock.
	for call, flags := range map[uint32]uint32{unix.SYS_SENDTO: atFourth, unix.SYS_SENDMSG: atThird, unix.SYS_SENDMMSG: atFourth} {
		when(call, load(flags), unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.MSG_FASTOPEN, Jf: 1}, refuse, allow)
	}
	when(unix.SYS_LISTEN, refuse) // it takes a port by itself where none was bound
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
		// The rest of a socket's type are flags.
		add(equal(unix.AF_INET, 2, 0), equal(unix.AF_INET6, 1, 0), give(refused), load(atSecond), and(0xf))
		if n.Own && n.Listen { // UDP stays in there; Java asks by it for the addresses of the machine
			add(equal(unix.SOCK_DGRAM, 0, 4), load(atThird), equal(0, 1, 0), equal(unix.IPPROTO_UDP, 0, 1), give(allowed), load(atSecond), and(0xf))
		}
		add(equal(unix.SOCK_STREAM, 1, 0), give(refused), load(atThird), equal(0, 2, 0), equal(unix.IPPROTO_TCP, 1, 0), give(refused), give(allowed))
	}
	return append(part, give(refused))
}

// holder says what keeps the network of a call closed here.
func (s separation) holder(abi int) NetworkBond {
	switch {
	case s.network:
		return OwnNetwork
	case abi >= tcpABI && filtersCalls():
		return PortAlone
	}
	return NoBond
}

// open gives what the helper of a call inherits to hand out its listener by, and
// begins to relay once it has. Without a gate there is nothing to lead to.
func (r *relay) open(port uint16) ([]*os.File, error) {
	if port == 0 {
		return nil, nil
	}
	ours, theirs, err := handover()
	if err != nil {
		return nil, err
	}
	if err := r.lead(ours, port); err != nil {
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

// lead relays what comes from the listener that a helper hands out.
func (r *relay) lead(from *net.UnixConn, port uint16) error {
	if !r.keep(from) {
		return errors.New("the call is over")
	}
	go func() {
		if l, err := receive(from); err == nil && r.keep(l) {
			r.serve(l, port)
		}
	}()
	return nil
}

// receive waits for the listener that a helper hands out.
func receive(c *net.UnixConn) (net.Listener, error) {
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := c.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("no listener was handed out")
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(files[0]), "listener")
	defer func() { _ = f.Close() }() // the listener has a copy
	return net.FileListener(f)
}
