//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// ways are the attempts to get out of a network that is closed. $WORLD and $WORLD6
// are ports of servers on other addresses of this machine, which stand for the rest
// of the world, and $LETTERS is one for datagrams. $GATE is the port of the gate.
func ways() []attempt {
	const (
		network = "the closed network"
		sockets = "the rules for sockets"
		gate    = "the proxy"
	)
	perl := func(text string) string { return "perl -MSocket=:all -e '" + text + " or exit 1'" }
	// A request to the gate, and the first line of an answer that would be success.
	ask := func(request string) string {
		return `perl -MSocket=:all -MMIME::Base64 -e '$k = $ENV{ANTHROPIC_API_KEY}; $b = encode_base64("reprise:$k", ""); $w = $ENV{WORLD}; ` +
			`socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in($ENV{GATE}, inet_aton("127.0.0.1"))) or exit 1; ` +
			`syswrite S, "` + request + `"; exit(<S> =~ m{^HTTP/1.. 200} ? 0 : 1)'`
	}
	return []attempt{
		{"gate", "connect to its proxy", perl(`socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in($ENV{GATE}, inet_aton("127.0.0.1")))`), "", "its way to the model", ""},
		{"address", "connect to an address", perl(`socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in($ENV{WORLD}, inet_aton("127.0.0.2")))`), network, "", "all"},
		{"address-6", "the same with IPv6", perl(`socket(S, AF_INET6, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in6($ENV{WORLD6}, inet_pton(AF_INET6, "::1")))`), network, "", "all"},
		{"mapped", "the same with IPv4 written as IPv6", perl(`socket(S, AF_INET6, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in6($ENV{WORLD}, inet_pton(AF_INET6, "::ffff:127.0.0.2")))`), network, "", "all"},
		{"first-data", "connect by sending data with the first packet", perl(fmt.Sprintf(`socket(S, AF_INET, SOCK_STREAM, 0) && defined send(S, "x", %d, pack_sockaddr_in($ENV{WORLD}, inet_aton("127.0.0.2")))`, unix.MSG_FASTOPEN)), network, "", "all"},
		{"again", "lead its connection to the proxy elsewhere", perl(`socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in($ENV{GATE}, inet_aton("127.0.0.1"))) && (connect(S, "\0" x 16), 1) && connect(S, pack_sockaddr_in($ENV{WORLD}, inet_aton("127.0.0.2")))`), network, "", "all"},
		{"multipath", "connect with multipath TCP", perl(fmt.Sprintf(`socket(S, AF_INET, SOCK_STREAM, %d) && connect(S, pack_sockaddr_in($ENV{WORLD}, inet_aton("127.0.0.2")))`, unix.IPPROTO_MPTCP)), network, "", "all"},
		{"datagram", "send UDP packets, as for a DNS query", perl(`socket(S, AF_INET, SOCK_DGRAM, 0) && defined send(S, "x", 0, pack_sockaddr_in($ENV{LETTERS}, inet_aton("127.0.0.1")))`), network, "", "all"},
		{"raw", "send raw packets", perl(`socket(S, AF_INET, SOCK_RAW, 1) || socket(S, 17, SOCK_RAW, 768)`), network, "", ""},
		{"host", "connect from a virtual machine to its host", perl(`socket(S, 40, SOCK_STREAM, 0)`), network, "", ""},
		{"audit", "ask the kernel about more than its own network", perl(fmt.Sprintf(`socket(S, 16, SOCK_RAW, %d)`, unix.NETLINK_AUDIT)), network, "", "all"},
		{"socket-file", "ask a service with a socket file", `cd $PLACE/other && ` + perl(`socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un("service"))`), sockets, "", "all"},
		{"socket-name", "the same with an abstract socket", perl(`socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack("Sa*", AF_UNIX, "\0" . $ENV{PLACE}))`), sockets, "", "all"},
		{"socket-letter", "send a datagram to such a service", `cd $PLACE/other && ` + perl(`socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) && defined send(A, "x", 0, pack_sockaddr_un("letters"))`), sockets, "", "all"},
		{"server", "start a server", perl(`socket(S, AF_INET, SOCK_STREAM, 0) && bind(S, pack_sockaddr_in(0, INADDR_ANY)) && listen(S, 1)`), network, "", "all"},
		{"tunnel", "make the proxy connect elsewhere", ask(`CONNECT 127.0.0.2:$w HTTP/1.1\r\nHost: 127.0.0.2:$w\r\nProxy-Authorization: Basic $b\r\n\r\n`), gate, "", ""},
		{"tunnel-key", "the same with another placeholder", ask(`CONNECT 127.0.0.2:$w HTTP/1.1\r\nHost: 127.0.0.2:$w\r\nProxy-Authorization: Basic YTpi\r\n\r\n`), gate, "", ""},
		{"tunnel-model", "the same to the model's service, with a key of its own", ask(`CONNECT 127.0.0.1:$ENV{PORT} HTTP/1.1\r\nHost: 127.0.0.1:$ENV{PORT}\r\nProxy-Authorization: Basic $b\r\n\r\n`), gate, "", ""},
		{"request", "make the proxy pass on a request", ask(`GET http://127.0.0.2:$w/ HTTP/1.1\r\nHost: 127.0.0.2\r\nProxy-Authorization: Basic $b\r\n\r\n`), gate, "", ""},
		{"model-key", "ask the model with another key", ask(`GET /anthropic/v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: other\r\n\r\n`), gate, "", ""},
	}
}

// samePort needs another machine; TestNetwork of the sandbox tries it with an address.
func samePort() attempt {
	return attempt{name: "same-port", wish: "connect to another machine at the port of the proxy", stop: "the closed network"}
}

// world opens servers that must not be reached, and gives their ports as variables.
func (p *place) world() string {
	p.t.Helper()
	listen := func(network, address string) int {
		l, err := net.Listen(network, address)
		testenv.Must(p.t, err)
		p.t.Cleanup(func() { _ = l.Close() })
		return l.Addr().(*net.TCPAddr).Port
	}
	letters, err := net.ListenPacket("udp", "127.0.0.1:0")
	testenv.Must(p.t, err)
	p.t.Cleanup(func() { _ = letters.Close() })
	return fmt.Sprintf("export WORLD=%d WORLD6=%d LETTERS=%d GATE=%s\n", listen("tcp", "127.0.0.2:0"), listen("tcp6", "[::1]:0"), letters.LocalAddr().(*net.UDPAddr).Port,
		`$(echo "$REPRISE_MODEL_URL" | sed 's,^http://[^:]*:\([0-9]*\).*,\1,')`)
}

// flee makes the attempts to get out of a closed network, and gives those that worked.
func (p *place) flee(tried []attempt, sandbox string) []string {
	p.t.Helper()
	p.shell("flee.sh", p.world()+p.attackScript(tried, p.victim()))
	text := strings.Replace(p.read(filepath.Join(p.root, "attack.cue")), `env: ["ATTACKED"]`, `env: ["ATTACKED", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"]`, 1)
	p.write("attack.cue", text+"network: \"model\"\n")
	p.want(0, p.under("run", "--issue-file", "../issue.md", "--pipeline", "../attack.cue", "--sandbox", sandbox))
	return p.worked()
}

// Nothing leads out of a closed network but the gate.
func TestWaysOut(t *testing.T) {
	everyMachine(t, func(t *testing.T, user int, m machine) {
		testenv.Same(t, "what worked", []string{"gate"}, besieged(t, user, m).flee(ways(), "required"))
	})
}

// Where there is no sandbox, the same ways are open.
func TestWaysOutAreLive(t *testing.T) {
	everyUser(t, func(t *testing.T, user int) {
		var tried []attempt
		var want []string
		for _, a := range ways() {
			if a.live == "all" {
				tried, want = append(tried, a), append(want, a.name)
			}
		}
		slices.Sort(want)
		testenv.Same(t, "what worked without a sandbox", want, besieged(t, user, machine{}).flee(tried, "off"))
	})
}
