package gate

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func TestPermits(t *testing.T) {
	w := World{Allow: []string{"registry.npmjs.org", "*.Example.com:443", "own.test:8443", "10.0.0.7:80", "localhost:5000", "[::1]:90", "169.254.169.254"}}
	rules, err := w.rules()
	testenv.Must(t, err)
	for address, want := range map[string]permit{
		"registry.npmjs.org:443":      {true, private},
		"REGISTRY.npmjs.org.:80":      {true, private},
		"registry.npmjs.org:22":       {},
		"evil-registry.npmjs.org:443": {},
		"a.example.com:443":           {true, public},
		"a.b.example.com:443":         {true, public},
		"example.com:443":             {},
		"notexample.com:443":          {},
		"a.example.com:80":            {},
		"own.test:8443":               {true, private},
		"own.test:443":                {},
		"10.0.0.7:80":                 {true, local},
		"[::ffff:10.0.0.7]:80":        {true, local},
		"localhost:5000":              {true, local},
		"[0:0:0:0:0:0:0:1]:90":        {true, local},
		"169.254.169.254:80":          {true, local},
	} {
		host, port, err := splitAddress(address)
		testenv.Must(t, err)
		if got := permits(rules, World{}, host, port); got != want {
			t.Errorf("%s: %+v, want %+v", address, got, want)
		}
		if got := permits(rules, World{All: true}, host, port); got != (permit{true, local}) {
			t.Errorf("%s, where programs reach all: %+v", address, got)
		}
		if got := permits(rules, World{Open: true}, host, port); !got.ok || got.near != want.near {
			t.Errorf("%s, where all is open: %+v", address, got)
		}
	}
}

func TestRulesThatAreNone(t *testing.T) {
	for _, s := range []string{"", "*", "*.", "https://example.com", "example.com/path", "example.com:0", "example.com:99999", "example.com:http", "a.*.com", "user@host", "a b", ":443"} {
		if _, err := Open(Config{World: World{Allow: []string{s}}}); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
}

func TestReach(t *testing.T) {
	for text, want := range map[string]reach{
		"8.8.8.8": public, "2606:4700::1": public, "64:ff9b::808:808": public,
		"10.1.2.3": private, "192.168.0.1": private, "172.16.0.1": private, "100.64.0.1": private, "fc00::1": private, "::ffff:10.0.0.1": private, "64:ff9b::a00:1": private,
		"127.0.0.1": local, "127.8.8.8": local, "::1": local, "0.0.0.0": local, "::": local, "169.254.169.254": local, "fe80::1%eth0": local,
		"fd00:ec2::254": local, "168.63.129.16": local, "100.100.100.200": local, "224.0.0.1": local, "ff02::1": local, "255.255.255.255": local,
		"64:ff9b::7f00:1": local, "2002:7f00:1::": local, "::127.0.0.1": local,
	} {
		if got := reachOf(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// site is a server that stands for a host of the world.
func site(t *testing.T, secure bool) (address string) {
	t.Helper()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "" {
			t.Error("it was told the placeholder")
		}
		io.WriteString(w, "here is "+r.Host)
	})
	s := httptest.NewUnstartedServer(h)
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.Listener.Addr().String()
}

// through gives a client that goes through the gate.
func through(g *gate, address string) *http.Client {
	proxy, _ := url.Parse(address)
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
}

// names resolves those of a test.
func names(all map[string]string) func(context.Context, string) ([]netip.Addr, error) {
	return func(_ context.Context, host string) (out []netip.Addr, err error) {
		for a := range strings.FieldsSeq(all[host]) {
			out = append(out, netip.MustParseAddr(a))
		}
		if len(out) == 0 {
			err = errors.New("no such host")
		}
		return out, err
	}
}

func TestTheWorldThroughTheGate(t *testing.T) {
	plain, secure := site(t, false), site(t, true)
	_, port, _ := net.SplitHostPort(secure)
	g := opened(t, Config{
		World: World{Allow: []string{plain, "localhost:" + port, "inside.test:" + port, "*.wild.test:" + port, "gone.test"}},
		Lookup: names(map[string]string{
			"localhost": "::1 127.0.0.1", "inside.test": "127.0.0.1", "a.wild.test": "10.0.0.1 fd00::1", "else.test": "93.184.216.34",
		}),
	})
	client := through(g, g.proxyURL())
	for address, want := range map[string]string{
		"http://" + plain + "/x":            "here is " + plain,
		"https://localhost:" + port:         "here is localhost:" + port,
		"http://else.test/":                 "does not allow this host",
		"https://else.test/":                "Forbidden",
		"https://inside.test:" + port:       "Forbidden", // a name that leads to this machine
		"https://a.wild.test:" + port:       "Forbidden", // one that leads into the user's network
		"https://127.0.0.1:" + port:         "Forbidden",
		"https://[::1]:" + port:             "Forbidden",
		"http://gone.test/":                 "no such host",
		"http://169.254.169.254/latest":     "does not allow this host",
		"https://" + g.address + "/openai/": "Forbidden",
	} {
		got := ""
		res, err := client.Get(address)
		if err != nil {
			got = err.Error()
		} else {
			got = textOf(t, res)
			res.Body.Close()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	want := []refused{
		{g.address, 1},
		{"127.0.0.1:" + port, 1},
		{"169.254.169.254:80", 1},
		{"[::1]:" + port, 1},
		{"a.wild.test:" + port, 1},
		{"else.test:443", 1},
		{"else.test:80", 1},
		{"inside.test:" + port, 1},
	}
	less := cmp.Transformer("set", func(all []refused) map[refused]bool {
		set := map[refused]bool{}
		for _, r := range all {
			set[r] = true
		}
		return set
	})
	if d := cmp.Diff(want, g.Report().Refused, less); d != "" {
		t.Errorf("refused (-want +got):\n%s", d)
	}
}

// Another user who does not know the placeholder gets nowhere, not even to what is allowed.
func TestTheProxyBelongsToTheCall(t *testing.T) {
	plain, secure := site(t, false), site(t, true)
	g := opened(t, Config{World: World{Allow: []string{plain, secure}}, Own: func(*http.Request) bool { return false }})
	for _, proxy := range []string{"http://" + g.address, "http://reprise:guess@" + g.address, "http://" + g.Placeholder() + "@" + g.address} {
		client := through(g, proxy)
		res, err := client.Get("http://" + plain)
		if err != nil || res.StatusCode != http.StatusProxyAuthRequired || res.Header.Get("Proxy-Authenticate") == "" {
			t.Errorf("%s: %+v, %v", proxy, res, err)
		}
		if _, err := client.Get("https://" + secure); err == nil || !strings.Contains(err.Error(), "Proxy Authentication Required") {
			t.Errorf("%s: %v", proxy, err)
		}
	}
	if r := g.Report(); len(r.Refused) != 0 {
		t.Errorf("%+v", r)
	}
}

// A name is resolved once: what was checked is what is connected with.
func TestANameCannotChangeInBetween(t *testing.T) {
	address := site(t, false)
	_, port, _ := net.SplitHostPort(address)
	var asked atomic.Int32
	g := opened(t, Config{
		World: World{Allow: []string{"localhost:" + port}},
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			if asked.Add(1) == 1 {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
		},
	})
	res, err := through(g, g.proxyURL()).Get("http://localhost:" + port)
	if err != nil || res.StatusCode != 200 || asked.Load() != 1 {
		t.Errorf("%v, %v, asked %d times", res, err, asked.Load())
	}
}

// A client that sends even requests to the gate through the gate is served.
func TestTheGateThroughTheGate(t *testing.T) {
	g := before(t, Anthropic, Config{}, func(w http.ResponseWriter, _ *http.Request) { stream(w, anthropicStream) })
	proxy, _ := url.Parse(g.proxyURL())
	c, err := net.Dial("tcp", proxy.Host)
	testenv.Must(t, err)
	defer c.Close()
	io.WriteString(c, "POST "+g.URL("anthropic")+"/v1/messages HTTP/1.1\r\nHost: "+g.address+"\r\nX-Api-Key: "+g.Placeholder()+"\r\nContent-Length: 13\r\n\r\n{\"model\":\"m\"}")
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%+v, %v", res, err)
	}
	if textOf(t, res) != anthropicStream || g.Report().Turns != 1 {
		t.Errorf("%+v", g.Report())
	}
}

// What the user has to go through himself, the gate goes through, too.
func TestTheUsersOwnProxy(t *testing.T) {
	secure := site(t, true)
	var came atomic.Pointer[http.Request]
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came.Store(r)
		if r.Method != http.MethodConnect {
			stream(w, anthropicStream)
			return
		}
		far, err := net.Dial("tcp", secure)
		if err != nil {
			t.Error(err)
			return
		}
		near, _, _ := w.(http.Hijacker).Hijack()
		io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
		go relay(far, near, near)
		relay(near, far, far)
	}))
	defer own.Close()
	proxy, _ := url.Parse(own.URL)
	proxy.User = url.UserPassword("me", "word")
	g := opened(t, Config{
		Providers: []Provider{providerAt(t, Anthropic, "http://models.test")},
		World:     World{Allow: []string{"else.test", "inside.test"}}, Lookup: names(map[string]string{"inside.test": "127.0.0.1"}),
		Proxy: func(*url.URL) (*url.URL, error) { return proxy, nil },
	})
	if got := textOf(t, ask(t, g, Anthropic, `{"model":"m"}`)); got != anthropicStream || came.Load().Host != "models.test" {
		t.Errorf("%q by way of %+v", got, came.Load())
	}
	res, err := through(g, g.proxyURL()).Get("https://else.test/")
	if err != nil || textOf(t, res) != "here is else.test" || came.Load().RequestURI != "else.test:443" || came.Load().Header.Get("Proxy-Authorization") != "Basic bWU6d29yZA==" {
		t.Errorf("%v by way of %+v", err, came.Load())
	}
	if _, err := through(g, g.proxyURL()).Get("https://inside.test/"); err == nil {
		t.Error("it leads to this machine")
	}
}

// A program whose network is open goes through the gate to the user's proxy, which takes a
// password that only the gate knows. It reaches what it would reach by itself; what is not within TLS is asked
// for as programs do, as many proxies open no tunnel for that.
func TestThePasswordOfTheUsersProxy(t *testing.T) {
	plain := site(t, false)
	var came atomic.Pointer[http.Request]
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came.Store(r)
		if r.Method == http.MethodConnect {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		io.WriteString(w, "by way of the proxy")
	}))
	defer own.Close()
	proxy, _ := url.Parse(own.URL)
	proxy.User = url.UserPassword("me", "word")
	g := opened(t, Config{World: World{Open: true, All: true}, Proxy: func(u *url.URL) (*url.URL, error) {
		if u.Hostname() == "127.0.0.1" { // as NO_PROXY has it
			return nil, nil
		}
		return proxy, nil
	}})
	res, err := through(g, g.proxyURL()).Get("http://else.test/")
	if err != nil || textOf(t, res) != "by way of the proxy" || came.Load().Header.Get("Proxy-Authorization") != "Basic bWU6d29yZA==" || came.Load().RequestURI != "http://else.test/" {
		t.Errorf("%v by way of %+v", err, came.Load())
	}
	if res, err := through(g, g.proxyURL()).Get("http://" + plain); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("what needs no proxy answers %v, error %v", res, err)
	}
	if _, err := through(g, g.proxyURL()).Get("https://else.test/"); err == nil || came.Load().Method != http.MethodConnect {
		t.Errorf("error %v by way of %+v", err, came.Load())
	}
}

func TestCloseEndsTunnels(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	defer l.Close()
	g := opened(t, Config{World: World{Allow: []string{l.Addr().String()}}})
	near, err := net.Dial("tcp", g.address)
	testenv.Must(t, err)
	defer near.Close()
	ask := &http.Request{Method: "CONNECT", Host: l.Addr().String(), URL: &url.URL{Opaque: l.Addr().String()}, Header: http.Header{}}
	proxy, _ := url.Parse(g.proxyURL())
	basic := &http.Request{Header: http.Header{}}
	basic.SetBasicAuth("reprise", must(proxy.User.Password()))
	ask.Header.Set("Proxy-Authorization", basic.Header.Get("Authorization"))
	ask.Write(near)
	far, err := l.Accept()
	testenv.Must(t, err)
	defer far.Close()
	from := bufio.NewReader(near)
	if res, err := http.ReadResponse(from, ask); err != nil || res.StatusCode != 200 {
		t.Fatal(res, err)
	}
	io.WriteString(near, "there")
	got := make([]byte, 5)
	if _, err := io.ReadFull(far, got); err != nil || string(got) != "there" {
		t.Fatalf("%q, %v", got, err)
	}
	far.(*net.TCPConn).CloseWrite() // one half is over, the other one goes on
	if rest, err := io.ReadAll(from); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
	io.WriteString(near, "again")
	if _, err := io.ReadFull(far, got); err != nil || string(got) != "again" {
		t.Fatalf("%q, %v", got, err)
	}
	g.Close()
	if _, err := io.ReadAll(far); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
}

func must(s string, _ bool) string { return s }

func TestTooManyConnectionsAreEnded(t *testing.T) {
	g := opened(t, Config{})
	var all []net.Conn
	defer func() {
		for _, c := range all {
			c.Close()
		}
	}()
	ended := make(chan struct{}, maxConns+20)
	for range maxConns + 5 {
		c, err := net.Dial("tcp", g.address)
		testenv.Must(t, err)
		all = append(all, c)
		go func() { c.Read(make([]byte, 1)); ended <- struct{}{} }()
	}
	for range 5 {
		<-ended
	}
	if n := len(ended); n > 0 {
		t.Errorf("%d more are ended", n)
	}
}

// fetched is the answer to a request that has to be answered.
func fetched(t testing.TB, r *http.Request) *http.Response {
	t.Helper()
	res, err := http.DefaultClient.Do(r)
	testenv.Must(t, err)
	return res
}
