//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// world is what a program must not reach: servers on other addresses and ports of
// this machine stand for it. They and the gate say who they are.
type world struct {
	gate, tcp, tcp6, udp, elsewhere int // ports
}

func newWorld(t *testing.T) world {
	t.Helper()
	answering := func(network, address, word string) net.Listener {
		l, err := net.Listen(network, address)
		testenv.Must(t, err)
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, word+"\n")
				_ = c.Close()
			}
		}()
		return l
	}
	port := func(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }
	letters, err := net.ListenPacket("udp", "127.0.0.1:0")
	testenv.Must(t, err)
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
	gate := answering("tcp", "127.0.0.1:0", "gate")
	// A server elsewhere that has the port of the gate. No other server of these tests has that
	// address: it might have the port.
	elsewhere := answering("tcp", fmt.Sprintf("127.0.0.3:%d", port(gate)), "world")
	return world{
		port(gate), port(answering("tcp", "127.0.0.2:0", "world")), port(answering("tcp6", "[::1]:0", "world")), letters.LocalAddr().(*net.UDPAddr).Port, port(elsewhere),
	}
}

// attempts to reach the world, for a shell.
func (w world) attempts() map[string]string {
	perl := func(text string) string { return `perl -MSocket=:all -e '` + text + ` or exit 1'` }
	const hide, later = "syscall(%d, %d, 0, 0, 0, 0) == 0 && ", 30 // TCP_FASTOPEN_CONNECT
	connect := func(to string, port int, word, before string) string {
		return fmt.Sprintf(`socket(S, AF_INET, SOCK_STREAM, 0) && %s connect(S, pack_sockaddr_in(%d, inet_aton("%s"))) && <S> eq "%s\n"`, before, port, to, word)
	}
	hidden := fmt.Sprintf(hide, unix.SYS_PRCTL, unix.PR_SET_DUMPABLE)
	gate := fmt.Sprintf(`pack_sockaddr_in(%d, inet_aton("127.0.0.1"))`, w.gate)
	ring := fmt.Sprintf(`($p = "\0" x 256) && syscall(%d, 4, $p) >= 0`, unix.SYS_IO_URING_SETUP)
	return map[string]string{
		"gate":       perl(connect("127.0.0.1", w.gate, "gate", "")),
		"gate-hides": perl(connect("127.0.0.1", w.gate, "gate", hidden)), // its memory cannot be read
		"gate-waits": perl(fmt.Sprintf(`use IO::Select; socket(S, AF_INET, SOCK_STREAM|%d, 0) && (connect(S, %s) || $!{EINPROGRESS}) && (fcntl(S, 3, 0) & %[1]d) && IO::Select->new(\*S)->can_read(20) && <S> eq "gate\n"`, unix.SOCK_NONBLOCK, gate)),
		"same-port":  perl(connect("127.0.0.3", w.elsewhere, "world", "")),
		"address":    perl(connect("127.0.0.2", w.tcp, "world", "")),
		"hides":      perl(connect("127.0.0.2", w.tcp, "world", hidden)),
		"again":      perl(connect("127.0.0.2", w.tcp, "world", fmt.Sprintf(`(connect(S, %s), shutdown(S, 2), connect(S, "\0" x 16), 1) && `, gate))),
		"later":      perl(connect("127.0.0.2", w.tcp, "world", fmt.Sprintf(`setsockopt(S, 6, %d, pack("i", 1)) &&`, later))),
		"left-open":  `[ -e /proc/$$/fd/3 ] || [ -e /proc/$$/fd/4 ]`,
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

// Where nothing keeps a network closed, that is said, and a sandbox that is required is refused.
func TestNetworkThatCannotBeClosed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		box  Sandbox
		abi  int
		bond networkBond
		want string // what it lacks
	}{
		{Sandbox{together: separation{network: true}}, 4, OwnNetwork, ""},
		{Sandbox{together: separation{noNet: "none are made"}}, 3, GateAlone, "where the pipeline closes the network, programs can start no servers themselves, because a call has no network of its own (none are made)"},
		{Sandbox{together: separation{noNet: "none are made", noGate: "filtered"}}, 9, noBond, "where the pipeline closes the network, programs still reach all of it, because a call has no network of its own (none are made), and cannot be given its sockets (filtered)"},
		{Sandbox{Sockets: true, together: separation{network: true}}, 8, noBond, "where the pipeline closes the network, programs still reach all of it, because services with a socket file lead there, which they may ask, as the pipeline says `sandbox: sockets: true`"},
		{Sandbox{Sockets: true, together: separation{network: true}}, 9, OwnNetwork, ""},
	} {
		held := Held{Closed: true, NoNet: tt.box.together.noNet, Together: Namespaces, Signals: true, Sockets: true}
		held.Network, held.NoGate = tt.box.holder(tt.abi >= socketABI)
		if got := strings.Join(held.Lacks(), "\n"); held.Network != tt.bond || got != tt.want {
			t.Errorf("%+v: %q lacks %q, want %q and %q", tt.box, held.Network, got, tt.bond, tt.want)
		}
		if held.Closed = false; len(held.Lacks()) > 0 {
			t.Errorf("an open network lacks %q", held.Lacks())
		}
	}
	if v, err := landlockABI(); err != nil || v >= socketABI {
		t.Fatalf("this test is for a machine with Landlock 1 to %d, here are %d and %v: have it tell this machine otherwise", socketABI-1, v, err)
	}
	for _, asked := range []bool{true, false} {
		box := Sandbox{Helper: []string{testenv.Self(t), "sandboxed"}, State: t.TempDir(), Closed: true, Asked: asked, Sockets: true}
		_, _, err := box.Prepare(Required, os.Environ())
		if (err != nil) != asked || asked && !strings.Contains(err.Error(), "the sandbox is required, and where the pipeline closes the network, programs still reach all of it") {
			t.Errorf("asked %v: %v", asked, err)
		}
	}
}

// A program reaches of the network what its call has, and nothing else.
func TestNetwork(t *testing.T) {
	t.Parallel()
	const everywhere = "address address-6 again bound datagram first-data gate gate-hides gate-waits hides later letters letters-6 mapped multipath same-port server unbound"
	for _, tt := range []struct {
		name         string
		gate, listen bool
		own, without string // what works with a network of its own, and without one
	}{
		{"a gate", true, false, "gate gate-hides gate-waits", "gate gate-hides gate-waits"},
		{"a gate and servers", true, true, "bound gate gate-hides gate-waits letters letters-6 server unbound", "gate gate-hides gate-waits"},
		{"nothing", false, false, "", ""},
	} {
		for _, how := range []string{"its own", "its own with Landlock 2", "none"} {
			t.Run(tt.name+", "+how, func(t *testing.T) {
				t.Parallel()
				c, w, own := newCell(t), newWorld(t), how != "none"
				want := tt.own
				switch {
				case tt.listen:
				case how == "its own with Landlock 2", c.box.held().Landlock < 4: // a port is not guarded, and leads nowhere without a server
					want = strings.TrimSpace("bound " + want)
				case c.box.held().Own: // where socket files are left, this takes a port that nobody outside reaches
					want = strings.TrimSpace(want + " unbound")
				}
				if how == "its own with Landlock 2" {
					c.box.Helper = []string{testenv.Self(t), "fake", "enter an old one", "2"}
				}
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

// Where programs are left their sockets with files, these lead where they did, and others to the gate.
func TestSocketsWithFilesBesideTheGate(t *testing.T) {
	t.Parallel()
	c, w := newCell(t), newWorld(t)
	c.box.together.network, c.box.Sockets, c.network = false, true, &Network{Port: uint16(w.gate)}
	service, err := net.Listen("unix", filepath.Join(c.temp, "service"))
	testenv.Must(t, err)
	defer func() { _ = service.Close() }()
	tried := w.attempts()
	tried["service"] = fmt.Sprintf(`perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un(%q)) or exit 1'`, service.Addr())
	want := "gate gate-hides gate-waits"
	if c.box.held().Landlock < socketABI { // which keeps those of others back
		want += " service"
	}
	if got := strings.Join(c.attempts(tried), " "); got != want {
		t.Errorf("what worked: %q, want %q", got, want)
	}
}
