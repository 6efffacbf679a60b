package gate

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strconv"
	"time"
)

// world is the way to other hosts.
type world struct {
	rules  []rule
	may    World
	lookup func(context.Context, string) ([]netip.Addr, error)
	proxy  func(*url.URL) (*url.URL, error)
	plain  *http.Transport // for requests that are not within TLS
}

const dialTimeout = 30 * time.Second

func newWorld(rules []rule, c Config) *world {
	w := &world{rules: rules, may: c.World, lookup: c.Lookup, proxy: c.Proxy}
	if w.lookup == nil {
		w.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if w.proxy == nil {
		w.proxy = func(*url.URL) (*url.URL, error) { return nil, nil }
	}
	w.plain = &http.Transport{
		DisableCompression: true, IdleConnTimeout: time.Minute, MaxIdleConns: 20,
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return w.dial(ctx, "http", address) },
	}
	if c.World.All { // a proxy is asked as programs ask it, since many open no tunnel to port 80
		w.plain.Proxy, w.plain.DialContext = proxyOf(c.Proxy), nil
	}
	return w
}

// Dialer gives a function that connects with hosts of the world, as http.Transport takes
// one, through the user's proxy where there is one; proxy is as Config has it.
func (w World) Dialer(proxy func(*url.URL) (*url.URL, error)) (func(ctx context.Context, network, address string) (net.Conn, error), error) {
	rules, err := w.rules()
	if err != nil {
		return nil, err
	}
	to := newWorld(rules, Config{World: w, Proxy: proxy})
	return func(ctx context.Context, _, address string) (net.Conn, error) { return to.dial(ctx, "https", address) }, nil
}

// ErrNotAllowed is the error of an address that the rules do not allow.
var ErrNotAllowed = errors.New("the pipeline does not allow it")

// dial connects with a host and port, if allowed, or with the user's proxy, which is told to.
func (w *world) dial(ctx context.Context, scheme, address string) (net.Conn, error) {
	host, port, err := splitAddress(address)
	if err != nil {
		return nil, err
	}
	p := permits(w.rules, w.may, host, port)
	if !p.ok {
		return nil, ErrNotAllowed
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	address = net.JoinHostPort(host, strconv.Itoa(int(port)))
	over, err := w.proxy(&url.URL{Scheme: scheme, Host: address})
	if err != nil {
		return nil, err
	}
	addresses, err := w.resolve(ctx, host, p)
	switch {
	case errors.Is(err, ErrNotAllowed), err != nil && over == nil:
		return nil, err
	case over != nil: // behind a proxy, names are often known to it alone
		return dialOver(ctx, over, address)
	}
	var d net.Dialer
	for _, a := range addresses {
		var c net.Conn
		if c, err = d.DialContext(ctx, "tcp", netip.AddrPortFrom(a, port).String()); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// resolve gives the addresses of a host that may be connected with.
func (w *world) resolve(ctx context.Context, host string, p permit) (allowed []netip.Addr, err error) {
	all := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		all = append(all, a)
	} else if all, err = w.lookup(ctx, host); err != nil {
		return nil, err
	}
	for _, a := range all {
		if reachOf(a) <= p.near {
			allowed = append(allowed, a.Unmap())
		}
	}
	if len(allowed) == 0 {
		return nil, ErrNotAllowed
	}
	return allowed, nil
}

func splitAddress(address string) (host string, port uint16, err error) {
	host, digits, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if host = plainHost(host); err != nil || n == 0 || host == "" {
		return "", 0, fmt.Errorf("%q is no address", address)
	}
	return host, uint16(n), nil
}

// dialOver has an HTTP proxy connect with an address.
func dialOver(ctx context.Context, over *url.URL, address string) (net.Conn, error) {
	port, dial := "80", (&net.Dialer{}).DialContext
	switch over.Scheme {
	case "http":
	case "https":
		port, dial = "443", (&tls.Dialer{}).DialContext
	default:
		return nil, fmt.Errorf("the proxy %s: only those with http and https can be used", over.Redacted())
	}
	at := over.Host
	if over.Port() == "" {
		at = net.JoinHostPort(over.Hostname(), port)
	}
	c, err := dial(ctx, "tcp", at)
	if err != nil {
		return nil, fmt.Errorf("the proxy %s: %w", over.Redacted(), err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Now()) })
	defer stop()
	ask := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if over.User != nil {
		password, _ := over.User.Password()
		ask.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(over.User.Username()+":"+password)))
	}
	if err := ask.Write(c); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("the proxy %s: %w", over.Redacted(), err)
	}
	// Nothing comes after the answer before we have said something.
	res, err := http.ReadResponse(bufio.NewReaderSize(c, 4<<10), ask)
	if err == nil && res.StatusCode != http.StatusOK {
		err = errors.New(res.Status)
	}
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("the proxy %s: %w", over.Redacted(), err)
	}
	return c, nil
}

// turnAway answers a request that is not carried out.
func (g *Gate) turnAway(w http.ResponseWriter, address string, err error) {
	if !errors.Is(err, ErrNotAllowed) {
		http.Error(w, fmt.Sprintf("reprise: %s: %v", address, err), http.StatusBadGateway)
		return
	}
	if host, port, err := splitAddress(address); err == nil {
		address = net.JoinHostPort(host, strconv.Itoa(int(port)))
	}
	g.ledger.refuse(address[:min(len(address), 300)])
	http.Error(w, fmt.Sprintf("reprise: %s: the pipeline does not allow this host", address), http.StatusForbidden)
}

// admits reports whether a client of the proxy may use it, and answers it if not.
func (g *Gate) admits(w http.ResponseWriter, r *http.Request) bool {
	if g.knowsProxyClient(r) {
		return true
	}
	w.Header().Set("Proxy-Authenticate", `Basic realm="reprise"`)
	http.Error(w, "reprise: this proxy belongs to one call of an agent", http.StatusProxyAuthRequired)
	return false
}

// forward passes on a request that is not within TLS.
func (g *Gate) forward(w http.ResponseWriter, r *http.Request) {
	if !g.admits(w, r) {
		return
	}
	address := r.URL.Host
	if r.URL.Port() == "" {
		address = net.JoinHostPort(r.URL.Hostname(), "80")
	}
	if r.URL.Scheme != "http" {
		http.Error(w, "reprise: only http can be asked for in this way", http.StatusBadRequest)
		return
	}
	(&httputil.ReverseProxy{
		Transport: g.world.plain, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite:      func(pr *httputil.ProxyRequest) { pr.Out.Host = pr.In.Host },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { g.turnAway(w, address, err) },
	}).ServeHTTP(w, r)
}

// tunnel connects a client with a host, and passes on what they say.
func (g *Gate) tunnel(w http.ResponseWriter, r *http.Request) {
	if !g.admits(w, r) {
		return
	}
	far, err := g.world.dial(r.Context(), "https", r.Host)
	if err != nil {
		g.turnAway(w, r.Host, err)
		return
	}
	near, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = far.Close()
		return
	}
	end := func() { _, _ = near.Close(), far.Close() }
	defer g.count(near, http.StateClosed) // it was taken over from the server
	defer end()
	defer context.AfterFunc(r.Context(), end)() // when the gate is closed
	_ = near.SetDeadline(time.Time{})
	if _, err := io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	if n := early.Reader.Buffered(); n > 0 {
		said, _ := early.Reader.Peek(n)
		if _, err := far.Write(said); err != nil {
			return
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		relay(far, near)
	}()
	relay(near, far)
	<-done
}

// relay passes on what from says until that ends, and says so.
func relay(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	_, _ = to.Close(), from.Close()
}
