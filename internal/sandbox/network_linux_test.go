package sandbox

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// world is what a program must not reach: servers on other addresses and ports of
// this machine stand for it. Its gate answers with a word.
type world struct {
	gate, tcp, tcp6, udp, elsewhere int // ports
}

func newWorld(t *testing.T) world {
	t.Helper()
	answering := func(network, address string) net.Listener {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, "gate\n")
				_ = c.Close()
			}
		}()
		return l
	}
	port := func(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }
	letters, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = letters.Close() })
	go func() {
		for letter := make([]byte, 1); ; {
			_, from, err := letters.ReadFrom(letter)
			if err != nil {
				return
			}
			_, _ = letters.WriteTo(letter, from)
		}
	}()
	gate := answering("tcp", "127.0.0.1:0")
	// A server elsewhere that has the port of the gate. No other server of these tests has that
	// address: it might have the port.
	elsewhere := answering("tcp", fmt.Sprintf("127.0.0.3:%d", port(gate)))
	return world{
		port(gate), port(answering("tcp", "127.0.0.2:0")), port(answering("tcp6", "[::1]:0")), letters.LocalAddr().(*net.UDPAddr).Port, port(elsewhere),
	}
}

// attempts to reach the world, for a shell.
func (w world) attempts() map[string]string {
	perl := func(text string) string { return `perl -MSocket=:all -e '` + text + ` or exit 1'` }
	connect := func(to string, port int) string {
		return fmt.Sprintf(`socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in(%d, inet_aton("%s"))) && <S> eq "gate\n"`, port, to)
	}
	ring := fmt.Sprintf(`($p = "\0" x 256) && syscall(%d, 4, $p) >= 0`, unix.SYS_IO_URING_SETUP)
	return map[string]string{
		"gate":       perl(connect("127.0.0.1", w.gate)),
		"same-port":  perl(connect("127.0.0.3", w.elsewhere)),
		"address":    perl(connect("127.0.0.2", w.tcp)),
		"address-6":  perl(fmt.Sprintf(`socket(S, AF_INET6, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in6(%d, inet_pton(AF_INET6, "::1")))`, w.tcp6)),
		"mapped":     perl(fmt.Sprintf(`socket(S, AF_INET6, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in6(%d, inet_pton(AF_INET6, "::ffff:127.0.0.2")))`, w.tcp)),
		"first-data": perl(fmt.Sprintf(`socket(S, AF_INET, SOCK_STREAM, 0) && defined send(S, "x", %d, pack_sockaddr_in(%d, inet_aton("127.0.0.2")))`, unix.MSG_FASTOPEN, w.tcp)),
		"datagram":   perl(fmt.Sprintf(`alarm 20; socket(S, AF_INET, SOCK_DGRAM, 0) && connect(S, pack_sockaddr_in(%d, inet_aton("127.0.0.1"))) && defined send(S, "x", 0) && defined recv(S, $x, 1, 0)`, w.udp)),
		"letters":    perl(`alarm 20; socket(S, AF_INET, SOCK_DGRAM, 17) && bind(S, pack_sockaddr_in(0, inet_aton("127.0.0.1"))) && defined send(S, "x", 0, getsockname(S)) && defined recv(S, $x, 1, 0)`),
		"letters-6":  perl(`socket(S, AF_INET6, SOCK_DGRAM, 0)`),
		"letter-raw": perl(`socket(S, AF_INET, SOCK_DGRAM, 1)`),
		"light":      perl(`socket(S, AF_INET, SOCK_DGRAM, 136)`),
		"name":       `getent ahostsv4 reprise.example.com | grep -q .`,
		"multipath":  perl(`socket(S, AF_INET, SOCK_STREAM, 262)`),
		"raw":        perl(`socket(S, AF_INET, SOCK_RAW, 1)`),
		"packets":    perl(`socket(S, 17, SOCK_RAW, 768)`),
		"machine":    perl(`socket(S, 40, SOCK_STREAM, 0)`), // of the machine that this one runs on
		"audit":      perl(fmt.Sprintf(`socket(S, AF_NETLINK, SOCK_RAW, %d)`, unix.NETLINK_AUDIT)) + ` || ` + perl(fmt.Sprintf(`socket(S, 16, SOCK_RAW, %d)`, unix.NETLINK_AUDIT)),
		"ring":       perl(ring),
		"server":     perl(`socket(S, AF_INET, SOCK_STREAM, 0) && bind(S, pack_sockaddr_in(0, inet_aton("127.0.0.1"))) && listen(S, 1) && socket(C, AF_INET, SOCK_STREAM, 0) && connect(C, getsockname(S))`),
		"bound":      perl(`socket(S, AF_INET, SOCK_STREAM, 0) && bind(S, pack_sockaddr_in(0, INADDR_ANY))`),
		"unbound":    perl(`socket(S, AF_INET, SOCK_STREAM, 0) && listen(S, 1)`),
	}
}

// Where nothing keeps a network closed, that is said, and lists of hosts with a
// sandbox that is required are refused.
func TestNetworkThatCannotBeClosed(t *testing.T) {
	t.Parallel()
	box := Sandbox{Lists: true, Closed: true}
	held := Held{Closed: true, NoNet: "none are made", Together: Namespaces, Signals: true, Sockets: true}
	for bond, want := range map[NetworkBond]string{
		OwnNetwork: "",
		PortAlone:  "where the pipeline closes the network, programs still reach any server that has the port of the call's proxy, and can start none themselves, because a call has no network of its own (none are made)",
		NoBond:     "where the pipeline closes the network, programs still reach all of it by TCP (Linux 6.7 or newer prevents that), because a call has no network of its own (none are made)",
	} {
		held.Network = bond
		if got := strings.Join(held.Lacks(), "\n"); got != want {
			t.Errorf("%q lacks %q, want %q", bond, got, want)
		}
		open := held
		if open.Closed = false; len(open.Lacks()) > 0 {
			t.Errorf("an open network lacks %q", open.Lacks())
		}
	}
	for abi, want := range map[int]NetworkBond{3: NoBond, 4: PortAlone} {
		if got := (separation{}).holder(abi); got != want {
			t.Errorf("Landlock %d: %q, want %q", abi, got, want)
		}
	}
	if err := box.refuses(NoBond, "none are made"); err == nil || !strings.Contains(err.Error(), "lists hosts, but nothing here keeps programs from others") {
		t.Errorf("lists of hosts: %v", err)
	}
	box.Lists = false
	if err := box.refuses(NoBond, ""); err != nil {
		t.Errorf("without lists: %v", err)
	}
}

// A program reaches of the network what its call has, and nothing else.
func TestNetwork(t *testing.T) {
	t.Parallel()
	const everywhere = "address address-6 bound datagram first-data gate letters letters-6 mapped multipath same-port server unbound"
	for _, tt := range []struct {
		name         string
		gate, listen bool
		own, without string // what works with a network of its own, and without one
	}{
		{"a gate", true, false, "gate unbound", "gate same-port"},
		{"a gate and servers", true, true, "bound gate letters letters-6 server unbound", "gate same-port"},
		{"nothing", false, false, "unbound", ""},
	} {
		for _, own := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, %v", tt.name, own), func(t *testing.T) {
				t.Parallel()
				c, w := newCell(t), newWorld(t)
				want := tt.own
				if own && !c.box.together.network {
					t.Logf("calls have no network of their own here: %s", c.box.together.noNet)
				}
				if c.box.together.network = c.box.together.network && own; !c.box.together.network {
					want = tt.without
				}
				c.network = &Network{Listen: tt.listen}
				if tt.gate {
					c.network.Port = uint16(w.gate)
				}
				if got := strings.Join(c.attempts(w.attempts()), " "); got != want {
					t.Errorf("what worked: %q, want %q", got, want)
				}
			})
		}
	}
	t.Run("open", func(t *testing.T) {
		t.Parallel()
		got := newCell(t).attempts(newWorld(t).attempts())
		for _, name := range strings.Fields(everywhere) {
			if !slices.Contains(got, name) {
				t.Errorf("%s does not work where the network is open, so it shows nothing: %q", name, got)
			}
		}
	})
}
