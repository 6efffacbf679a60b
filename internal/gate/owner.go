package gate

import (
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"slices"
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
