package gate

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// Programs in Java show no placeholder to a proxy. One of our own user need not.
func TestProgramsOfOurUserNeedNoPlaceholder(t *testing.T) {
	plain, secure := site(t, false), site(t, true)
	g := opened(t, Config{World: World{Allow: []string{plain}}})
	client := through(g, "http://"+g.address)
	if res, err := client.Get("http://" + plain); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("what is allowed: %+v, %v", res, err)
	}
	if _, err := client.Get("https://" + secure); err == nil || !strings.Contains(err.Error(), "Forbidden") {
		t.Errorf("what is not allowed: %v", err)
	}
	if r := g.Report(); len(r.Refused) != 1 || r.Refused[0].Host != secure {
		t.Errorf("refused: %+v", r.Refused)
	}
	for _, proxy := range []string{"http://reprise:guess@" + g.address, "http://reprise@" + g.address} {
		if res, err := through(g, proxy).Get("http://" + plain); err != nil || res.StatusCode != http.StatusProxyAuthRequired {
			t.Errorf("a wrong one, by %s: %+v, %v", proxy, res, err)
		}
	}
	// Models are for those alone who show it.
	m := before(t, Anthropic, Config{}, func(http.ResponseWriter, *http.Request) { t.Error("the model was asked") })
	if res, err := http.Post(m.URL("anthropic")+"/v1/messages", "application/json", strings.NewReader("{}")); err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a model: %+v, %v", res, err)
	}
}

// The owner of a connection is found in the system's own lists, of both versions, and
// only of the very connection.
func TestOwnerOfAConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	defer func() { _ = l.Close() }()
	c, err := net.Dial("tcp", l.Addr().String())
	testenv.Must(t, err)
	asked := func(from string) *http.Request {
		r, err := http.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, l.Addr()), http.MethodGet, "http://x", nil)
		testenv.Must(t, err)
		r.RemoteAddr = from
		return r
	}
	if !isOwn(asked(c.LocalAddr().String())) {
		t.Error("our own connection is taken for another user's")
	}
	if isOwn(asked("127.0.0.1:1")) || isOwn(asked("nonsense")) {
		t.Error("a connection that is not there is taken for ours")
	}
	// One that its client has closed belongs to nobody any more.
	testenv.Must(t, c.Close())
	if isOwn(asked(c.LocalAddr().String())) {
		t.Error("a closed connection is taken for ours")
	}
}

func TestOwns(t *testing.T) {
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	for name, c := range map[string]struct {
		line string
		owns bool
	}{
		"version 4":        {"   1: 0100007F:A9EB 0100007F:07E8 01 00000000:00000000 00:00000000 00000000  1001        0 372582 1 0 100", true},
		"version 6":        {"1: 0000000000000000FFFF00000100007F:A9EB 0000000000000000FFFF00000100007F:07E8 01 0:0 0:0 0  1001 0 37 1", true},
		"another user's":   {"1: 0100007F:A9EB 0100007F:07E8 01 0:0 0:0 0  1002 0 37 1", false},
		"a longer number":  {"1: 0100007F:A9EB 0100007F:07E8 01 0:0 0:0 0  10010 0 37 1", false},
		"the server's end": {"1: 0100007F:07E8 0100007F:A9EB 01 0:0 0:0 0  1001 0 37 1", false},
		"another server":   {"1: 0100007F:A9EB 0200007F:07E8 01 0:0 0:0 0  1001 0 37 1", false},
		"another port":     {"1: 0100007F:A9EB 0100007F:07E9 01 0:0 0:0 0  1001 0 37 1", false},
		"over":             {"1: 0100007F:A9EB 0100007F:07E8 06 0:0 0:0 0  1001 0 37 1", false},
		"without an owner": {"1: 0100007F:A9EB 0100007F:07E8 01 0:0 0:0 0  1001 0 0 1", false},
		"cut off":          {"1: 0100007F:A9EB 0100007F:07E8 01", false},
		"an odd address":   {"1: 0100007:A9EB 0100007F:07E8 01 0:0 0:0 0  1001 0 37 1", false},
	} {
		if got := owns([]byte(head+c.line+"\n"), 43499, 2024, 1001); got != c.owns {
			t.Errorf("%s: %v", name, got)
		}
	}
}
