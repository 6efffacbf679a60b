package sandbox

import (
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
