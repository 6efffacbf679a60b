// Package gate is what stands between one call of an agent and the network: an
// HTTP proxy on loopback that is opened for the call and closed with it.
//
// Requests to a model go through it under a placeholder, for which it puts in the
// real key. It reads from the answers, as they stream by, what was used, and
// refuses what goes past the limits of the call. Everything else goes through it as
// through any HTTP proxy, to the hosts that were allowed. What is within TLS stays
// closed to it: only requests to a model are addressed to the gate itself.
package gate

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config says what a gate lets through. The zero value lets nothing through.
type Config struct {
	Providers []Provider
	Tools     []Server
	World     World
	Limits    limits
	NoShell   bool   // no request may offer its model a shell
	Known     *Known // what is known of the limits of services; nil: nothing

	// Proxy gives the proxy that the user has for an address, or nil: what a
	// transport of net/http takes. If Proxy is nil, there is none.
	Proxy func(*url.URL) (*url.URL, error)
	// Roots are the authorities that may vouch for providers; nil: the system's.
	Roots *x509.CertPool
	// Lookup resolves a name; nil stands for the system's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Own reports whether a client of the proxy that shows no placeholder is to be served;
	// nil: if it is a process of our own user.
	Own func(*http.Request) bool
	// OnEvent, if not nil, is told what happens, from several goroutines.
	OnEvent func(event)
}

// Provider is a service with models.
type Provider struct {
	Name   string      // the first part of the path under which it is reached
	API    API         // what it speaks
	Base   *url.URL    // where it is, without what the API says comes below
	Header http.Header // what it knows the user by, in place of the placeholder
	Beta   string      // if not empty, is added to what requests say in Anthropic-Beta
	// Show, if not nil, gives headers that a request shows besides.
	Show func(method string, to *url.URL, body []byte) (http.Header, error)
}

// gate is open for one call. It is safe for concurrent use.
type gate struct {
	config      Config
	address     string // host and port
	placeholder string
	ledger      *ledger
	server      *http.Server
	providers   map[string]*upstream
	tools       map[string]*toolServer
	room        *room
	world       *world
	done        chan struct{} // closed when the server has ended

	opened time.Time
	heard  atomic.Int64 // when a model said something last, in nanoseconds after that; 0: never

	stop  context.CancelFunc // ends all requests that are under way
	under sync.WaitGroup     // those

	mu     sync.Mutex
	closed bool
	conns  int // that clients have open
}

// belowTools is the path under which servers of tools are reached.
const belowTools = "/mcp/"

const (
	maxConns  = 256      // of clients, at a time
	maxHeader = 64 << 10 // bytes
)

// Open begins to listen on a free port of loopback.
func Open(c Config) (*gate, error) {
	rules, err := c.World.rules()
	if err != nil {
		return nil, err
	}
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, fmt.Errorf("making a placeholder: %w", err)
	}
	if c.Own == nil {
		c.Own = isOwn
	}
	g := &gate{
		config: c, placeholder: "reprise-" + hex.EncodeToString(random[:]), ledger: newLedger(c.Limits, c.OnEvent),
		providers: map[string]*upstream{}, tools: map[string]*toolServer{}, room: newRoom(), done: make(chan struct{}),
		opened: time.Now(),
	}
	models := &http.Transport{
		Proxy: proxyOf(c.Proxy), ForceAttemptHTTP2: true, TLSHandshakeTimeout: 30 * time.Second,
		IdleConnTimeout: time.Minute, ReadBufferSize: 64 << 10, TLSClientConfig: &tls.Config{RootCAs: c.Roots},
	}
	for _, p := range c.Providers {
		if p.Base == nil || p.Base.Host == "" || p.Name == "" || strings.Contains(p.Name, "/") {
			return nil, fmt.Errorf("provider %q has no address", p.Name)
		}
		g.providers[p.Name] = newUpstream(g, p, models)
	}
	for _, s := range c.Tools {
		if g.tools[s.Name], err = newToolServer(s, models); err != nil {
			return nil, err
		}
	}
	g.world = newWorld(rules, c)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	g.address = l.Addr().String()
	running, stop := context.WithCancel(context.Background())
	g.stop = stop
	g.server = &http.Server{
		BaseContext: func(net.Listener) context.Context { return running },
		Handler:     g, ReadHeaderTimeout: 30 * time.Second, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(io.Discard, "", 0), ConnState: g.count,
	}
	go func() {
		defer close(g.done)
		_ = g.server.Serve(l) // it ends when it is closed
		models.CloseIdleConnections()
	}()
	return g, nil
}

// Close ends everything that is under way, and gives what the gate has seen.
func (g *gate) Close() Report {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	_ = g.server.Close() // what it may complain of is gone with it
	g.stop()
	g.world.plain.CloseIdleConnections()
	<-g.done
	g.under.Wait() // what a model was asked and has not said to its end counts as well
	return g.Report()
}

// Report gives what the gate has seen so far.
func (g *gate) Report() Report {
	r := g.ledger.report()
	for _, name := range slices.Sorted(maps.Keys(g.tools)) {
		r.Tools = append(r.Tools, g.tools[name].soFar())
	}
	return r
}

// Heard gives the moment at which the last piece of a model's answer came; the zero time if none has.
func (g *gate) Heard() time.Time {
	if after := g.heard.Load(); after > 0 {
		return g.opened.Add(time.Duration(after))
	}
	return time.Time{}
}

// hear notes that a piece of a model's answer has come.
func (g *gate) hear() { g.heard.Store(int64(time.Since(g.opened))) }

// port is that port.
func (g *gate) port() uint16 { return netip.MustParseAddrPort(g.address).Port() }

// Placeholder is the key that clients have to show. It is good for this gate alone.
func (g *gate) Placeholder() string { return g.placeholder }

// URL is the base address of a provider, for clients.
func (g *gate) URL(provider string) string { return "http://" + g.address + "/" + provider }

// serverURL is the address of a server of tools, for clients. They show the placeholder
// as a bearer token.
func (g *gate) serverURL(name string) string { return "http://" + g.address + belowTools + name }

// proxyURL is the address of the gate as an HTTP proxy, with the placeholder in it.
func (g *gate) proxyURL() string {
	return (&url.URL{Scheme: "http", User: url.UserPassword("reprise", g.placeholder), Host: g.address}).String()
}

// ServeHTTP takes what clients ask for. A client that goes through the proxy even
// to the gate itself gets the same as one that goes there directly.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.begin() {
		return
	}
	defer g.under.Done()
	switch {
	case r.Method == http.MethodConnect:
		g.tunnel(w, r)
	case r.URL.IsAbs() && r.URL.Host != g.address:
		g.forward(w, r)
	case strings.HasPrefix(r.URL.Path, belowTools):
		g.ask(w, r)
	default:
		g.model(w, r)
	}
}

// ask passes on a request to a server of tools.
func (g *gate) ask(w http.ResponseWriter, r *http.Request) {
	t, ok := g.tools[strings.TrimPrefix(r.URL.Path, belowTools)]
	switch {
	case !ok:
		http.Error(w, "reprise: there is no server of tools here", http.StatusNotFound)
	case !g.knowsClient(r):
		http.Error(w, "reprise: this is not the key of this call", http.StatusUnauthorized)
	default:
		t.ServeHTTP(w, r)
	}
}

// count ends connections that are too many.
func (g *gate) count(c net.Conn, s http.ConnState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch s {
	case http.StateNew:
		g.conns++
		if g.conns > maxConns || g.closed {
			_ = c.Close() // nothing was said yet
		}
	case http.StateClosed:
		g.conns--
	}
}

// isPlaceholder compares in a time that says nothing about the placeholder.
func (g *gate) isPlaceholder(s string) bool {
	return subtle.ConstantTimeCompare([]byte(s), []byte(g.placeholder)) == 1
}

// knowsClient reports whether a request to a model shows the placeholder, in any of
// the ways in which a key is shown.
func (g *gate) knowsClient(r *http.Request) bool {
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	shown := []string{r.Header.Get("X-Api-Key"), r.Header.Get("X-Goog-Api-Key"), r.URL.Query().Get("key"), bearer}
	return slices.ContainsFunc(shown, g.isPlaceholder)
}

// knowsProxyClient reports whether a request through the proxy shows it, or shows nothing
// and need not.
func (g *gate) knowsProxyClient(r *http.Request) bool {
	shown := r.Header.Get("Proxy-Authorization")
	if shown == "" {
		return g.config.Own(r)
	}
	encoded, ok := strings.CutPrefix(shown, "Basic ")
	data, err := base64.StdEncoding.DecodeString(encoded)
	_, password, _ := strings.Cut(string(data), ":")
	return ok && err == nil && g.isPlaceholder(password)
}

// begin notes a request that is under way. It reports whether the gate is still open.
func (g *gate) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.under.Add(1)
	return true
}

func proxyOf(f func(*url.URL) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	if f == nil {
		return nil
	}
	return func(r *http.Request) (*url.URL, error) { return f(r.URL) }
}

// usage is what requests to one model came to.
type usage struct {
	Requests  int // that were answered, or broke off on the way
	Tokens    tokens
	Estimated bool // some of them did not say what they used
}

// Report is what a gate has seen so far.
type Report struct {
	Usage   map[string]usage // by model
	Turns   int              // requests to a model that were answered, or are being answered
	USD     float64
	Extra   float64     // of USD, what the usual price of tokens does not explain: tools of the service, and being served sooner
	Refused []refused   // hosts, by name
	Models  []string    // that were asked for and refused
	Limit   limit       // that a request was refused for
	Tools   []serverUse // servers of tools, by name
}

// refused is an address that was not allowed.
type refused struct {
	Host  string // with its port
	Count int
}

// event is what has to be known before a call is over.
type event struct {
	Kind eventKind
	Trouble
}

// eventKind says what happened.
type eventKind int

// What happens.
const (
	answered   eventKind = iota // a model has begun to answer
	throttled                   // the provider has no room: status 429 or 529
	unknown                     // the provider does not know the key: status 401
	failed                      // a model gave no good answer for any other reason, or its answer broke off
	limitEnded                  // a request was refused because a limit is reached
)

// Programs in Java take the address of a proxy from properties, and most take no password
// from there. So a client that shows nothing at all is known by its user, who has to be the
// gate's own. That lets nobody out: the sandbox of a closed network leads to the gate of the
// same call alone, and a program without one needs no gate.

// nobody is the user by which the system shows one whom it has no number for.
const nobody = 65534

// tables are the system's lists of connections. Java has those of version 4 in the second.
var tables = []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"}

// isOwn reports whether a request comes from a process of the gate's own user, as the system says.
func isOwn(r *http.Request) bool {
	client, err := netip.ParseAddrPort(r.RemoteAddr)
	at, ok := r.Context().Value(http.LocalAddrContextKey).(interface{ AddrPort() netip.AddrPort })
	if err != nil || !ok || client.Addr() != at.AddrPort().Addr() {
		return false
	}
	return slices.ContainsFunc(tables, func(name string) bool {
		list, _ := os.ReadFile(name) // there is none on other systems
		return owns(list, client.Port(), at.AddrPort().Port(), os.Geteuid())
	})
}

// owns looks in such a list for a user's socket between two ports of 127.0.0.1; a closed one belongs to nobody.
func owns(list []byte, client, server uint16, user int) bool {
	end := func(port uint16) string { return fmt.Sprintf("(?:0{16}F{4}0{4})?0100007F:%04X", port) }
	line := fmt.Sprintf(`(?m)^ *\d+: %s %s 01 \S+ \S+ \S+ +%d +\d+ +[1-9]`, end(client), end(server), user)
	return user >= 0 && user != nobody && regexp.MustCompile(line).Match(list)
}

// admits reports whether a client of the proxy may use it, and answers it if not.
func (g *gate) admits(w http.ResponseWriter, r *http.Request) bool {
	if g.knowsProxyClient(r) {
		return true
	}
	w.Header().Set("Proxy-Authenticate", `Basic realm="reprise"`)
	http.Error(w, "reprise: this proxy belongs to one call of an agent", http.StatusProxyAuthRequired)
	return false
}
