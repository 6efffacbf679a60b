package pipelines

import (
	"encoding/json"
	"net/netip"
	"strconv"
	"strings"
)

// Network is what a program may reach of the network. The zero value is all of
// it. As JSON it is "open", "model", or an object with allow and listen.
type Network struct {
	Closed bool     // only the models that agents work with, and what Allow lists
	Allow  []string // hosts: as host, host:port, or with a leading "*." for all below a domain
	Listen bool     // it may have servers of its own on loopback
}

// The words for it.
const (
	OpenNetwork  = "open"
	ModelNetwork = "model"
)

// fields are those of the object.
type fields struct {
	Allow  []string `json:"allow,omitempty"`
	Listen bool     `json:"listen,omitempty"`
}

// MarshalJSON gives the shortest form.
func (n Network) MarshalJSON() ([]byte, error) {
	switch {
	case !n.Closed:
		return json.Marshal(OpenNetwork)
	case len(n.Allow) == 0 && !n.Listen:
		return json.Marshal(ModelNetwork)
	}
	return json.Marshal(fields{n.Allow, n.Listen})
}

// UnmarshalJSON reads any form.
func (n *Network) UnmarshalJSON(data []byte) error {
	var word string
	if json.Unmarshal(data, &word) == nil {
		*n = Network{Closed: word != OpenNetwork}
		return nil
	}
	var f fields
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	*n = Network{Closed: true, Allow: f.Allow, Listen: f.Listen}
	return nil
}

// String is the form for people: "open", "model", or what else may be reached.
func (n Network) String() string {
	if !n.Closed {
		return OpenNetwork
	}
	out := append([]string{ModelNetwork}, n.Allow...)
	if n.Listen {
		out = append(out, "servers of its own")
	}
	return strings.Join(out, ", ")
}

// BadHost says why a text cannot stand for hosts that may be reached, or "".
func BadHost(text string) string {
	const expected = `is no host, expected one such as "registry.npmjs.org", "*.example.com" or "example.com:8443"`
	if scheme, _, is := strings.Cut(text, "://"); is {
		return "begins with " + scheme + `://, expected the host alone, such as "example.com:8443"`
	}
	host, port, hasPort := text, "", false
	switch at := strings.LastIndexByte(text, ':'); {
	case strings.HasPrefix(text, "["):
		inner, rest, closed := strings.Cut(text[1:], "]")
		host = inner
		port, hasPort = strings.CutPrefix(rest, ":")
		if a, err := netip.ParseAddr(host); err != nil || !closed || !a.Is6() || rest != "" && !hasPort {
			return expected
		}
	case strings.Count(text, ":") == 1:
		host, port, hasPort = text[:at], text[at+1:], true
	case at >= 0:
		if _, err := netip.ParseAddr(text); err != nil {
			return expected
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); hasPort && (err != nil || n == 0) {
		return "has no port from 1 to 65535 after its colon"
	}
	if strings.Contains(host, ":") {
		return "" // an address of version 6
	}
	for label := range strings.SplitSeq(strings.TrimPrefix(host, "*."), ".") {
		if !isLabel(label) {
			return expected
		}
	}
	return ""
}

// isLabel reports whether a text can be a part of a host's name.
func isLabel(text string) bool {
	return text != "" && len(text) <= 63 && text[0] != '-' && text[len(text)-1] != '-' && strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
