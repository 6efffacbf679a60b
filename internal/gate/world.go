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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/pipelines"
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
func (g *gate) turnAway(w http.ResponseWriter, address string, err error) {
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

// forward passes on a request that is not within TLS.
func (g *gate) forward(w http.ResponseWriter, r *http.Request) {
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
func (g *gate) tunnel(w http.ResponseWriter, r *http.Request) {
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
	done := make(chan struct{})
	go func() {
		defer close(done)
		if host, port, _ := splitAddress(r.Host); !g.world.may.Open && !g.world.may.All {
			if other, err := introduce(far, host, port, early.Reader); err != nil {
				if other != "" {
					g.ledger.refuse(net.JoinHostPort(other, strconv.Itoa(int(port))))
				}
				_, _ = near.Write(unrecognized)
				end()
				return
			}
		}
		relay(far, near, early.Reader)
	}()
	relay(near, far, far)
	<-done
}

// relay passes on what from says until that ends, and says so.
func relay(to, from net.Conn, said io.Reader) {
	_, err := io.Copy(to, said)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	_, _ = to.Close(), from.Close()
}

// World says which hosts may be reached. The zero value is none.
type World struct {
	// Open allows every public address. Those of Allow come on top of them.
	Open bool
	// All allows every address, also private ones and those of this machine: for programs that
	// could connect with them by themselves, and go through the gate to the user's proxy.
	All bool
	// Allow lists hosts as host, host:port or with a leading "*." for all below a
	// domain. Without a port, 80 and 443 are meant. A private address is reached
	// only if its host is listed without "*."; one of this machine, of the local
	// network segment or of a cloud's metadata only if the address itself, or
	// localhost, is listed.
	Allow []string
}

// rule is an entry of Allow.
type rule struct {
	host  string // in lower case; of a wildcard the domain
	wild  bool
	ports []uint16
}

func (w World) rules() (rules []rule, err error) {
	for _, s := range w.Allow {
		r, err := parseRule(s)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func parseRule(s string) (rule, error) {
	if why := pipelines.BadHost(s); why != "" {
		return rule{}, fmt.Errorf("%q %s", s, why)
	}
	r := rule{ports: []uint16{80, 443}}
	host := strings.Trim(s, "[]")
	if before, port, err := net.SplitHostPort(s); err == nil {
		n, _ := strconv.ParseUint(port, 10, 16) // it was looked at
		host, r.ports = before, []uint16{uint16(n)}
	}
	host, r.wild = strings.CutPrefix(host, "*.")
	r.host = plainHost(host)
	return r, nil
}

// plainHost is the one form of a host that is compared.
func plainHost(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String()
	}
	return host
}

// matches reports whether the rule is about a host and port.
func (r rule) matches(host string, port uint16) bool {
	if !slices.Contains(r.ports, port) {
		return false
	}
	if r.wild {
		return strings.HasSuffix(host, "."+r.host)
	}
	return host == r.host
}

// reach is how far from the outside an address is.
type reach int

const (
	public  reach = iota
	private       // of the user's own networks
	local         // of the machine, the network segment, or what gives out the machine's rights
)

// ranges that net/netip does not tell from public ones.
var (
	privateRanges = prefixes("100.64.0.0/10", "198.18.0.0/15", "fec0::/10")
	localRanges   = prefixes("0.0.0.0/8", "192.0.0.0/24", "240.0.0.0/4", "100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::/32", "fd20:ce::/32")
	embedding     = prefixes("64:ff9b::/96") // the last four bytes are an address of version 4
	tunnelling    = prefixes("2002::/16", "2001::/32", "64:ff9b:1::/48", "::/96")
)

func prefixes(all ...string) (out []netip.Prefix) {
	for _, p := range all {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

func within(a netip.Addr, ranges []netip.Prefix) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(a) })
}

// reachOf tells how far an address is. What leads on counts as the address that it leads to, or as local.
func reachOf(a netip.Addr) reach {
	a = a.WithZone("").Unmap()
	if within(a, embedding) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	switch {
	case a.IsLoopback(), a.IsUnspecified(), a.IsLinkLocalUnicast(), a.IsMulticast(), within(a, localRanges), within(a, tunnelling):
		return local
	case a.IsPrivate(), within(a, privateRanges):
		return private
	}
	return public
}

// permit is what the rules say of a host and port: how near its address may be.
type permit struct {
	ok   bool
	near reach
}

func permits(rules []rule, w World, host string, port uint16) permit {
	p := permit{ok: w.Open || w.All}
	if w.All {
		p.near = local
	}
	for _, r := range rules {
		if !r.matches(host, port) {
			continue
		}
		p.ok = true
		if _, err := netip.ParseAddr(host); err == nil || host == "localhost" {
			p.near = max(p.near, local)
		} else if !r.wild {
			p.near = max(p.near, private)
		}
	}
	return p
}
