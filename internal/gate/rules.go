package gate

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/pipelines"
)

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
