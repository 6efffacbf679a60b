// Package address is what the address of a git remote says: where it leads, and
// which repository of a forge it is.
package address

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"
)

// Absolute resolves a remote that is a relative path, which git reads from dir,
// the top of the work tree.
func Absolute(dir, address string) string {
	before, _, colon := strings.Cut(address, ":")
	if filepath.IsAbs(address) || colon && !strings.Contains(before, "/") {
		return address // a URL, or host:path
	}
	return filepath.Join(dir, address)
}

// Loopback reports whether a host is this machine.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// OwnerAndName reads owner/name from the address of a repository on GitHub or
// a forge like it.
func OwnerAndName(address string) string {
	path := ""
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		path = u.Path
	} else if host, rest, ok := strings.Cut(address, ":"); ok && !strings.Contains(host, "/") && !strings.HasPrefix(rest, "//") {
		path = rest
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	owner, name, ok := strings.Cut(path, "/")
	if !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return ""
	}
	return path
}

// Host gives the name of the machine that an address leads to, or "" for a path.
func Host(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Hostname()
	}
	if before, _, is := strings.Cut(address, ":"); is && !strings.Contains(before, "/") {
		return before[strings.LastIndexByte(before, '@')+1:]
	}
	return ""
}
