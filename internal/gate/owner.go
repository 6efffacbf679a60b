package gate

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// Programs in Java take the address of a proxy from properties, and most take no password
// from there. So a client that shows nothing at all is known by its user, who has to be the
// gate's own. That lets nobody out: the sandbox of a closed network leads to the gate of the
// same call alone, and a program without one needs no gate.

// nobody is the user by which the system shows one whom it has no number for.
const nobody = 65534

// tables are the system's lists of connections. Java has those of version 4 in the second.
var tables = []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"}

// isOwn reports whether a request comes from a process of the gate's own user. Where the
// system does not say so, it is not.
func isOwn(r *http.Request) bool {
	client, err := netip.ParseAddrPort(r.RemoteAddr)
	at, ok := r.Context().Value(http.LocalAddrContextKey).(interface{ AddrPort() netip.AddrPort })
	me := os.Geteuid()
	if err != nil || !ok || me < 0 || me == nobody {
		return false
	}
	for _, name := range tables {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		owner, found := ownerIn(f, client, at.AddrPort())
		_ = f.Close() // it was only read
		if found {
			return owner == me
		}
	}
	return false
}

// ownerIn looks in such a list for the user whose socket a client has connected to a server.
// A socket that is closed already belongs to nobody; the list would say that it is root's.
func ownerIn(list io.Reader, client, server netip.AddrPort) (user int, found bool) {
	const (
		local, remote, state, uid, inode = 1, 2, 3, 7, 9
		established                      = "01"
	)
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) <= inode || f[state] != established || f[inode] == "0" || listed(f[local]) != client || listed(f[remote]) != server {
			continue
		}
		user, err := strconv.Atoi(f[uid])
		return user, err == nil
	}
	return 0, false
}

// listed reads an address as such a list has it, in words of the machine.
func listed(text string) netip.AddrPort {
	address, port, _ := strings.Cut(text, ":")
	data, err := hex.DecodeString(address)
	n, bad := strconv.ParseUint(port, 16, 16)
	if err != nil || bad != nil || len(data)%4 != 0 {
		return netip.AddrPort{}
	}
	for i := 0; i < len(data); i += 4 {
		binary.BigEndian.PutUint32(data[i:], binary.NativeEndian.Uint32(data[i:]))
	}
	a, _ := netip.AddrFromSlice(data) // the zero value is no client's
	return netip.AddrPortFrom(a.Unmap(), uint16(n))
}
