package gate

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
)

// A client that was let through to a host could say another name in its greeting, and reach another site on the same
// network of servers. So its greeting is read before it is passed on; what comes after that is not.

// errOtherName is why a greeting is not passed on.
var errOtherName = errors.New("the greeting of TLS does not name the host that was asked for")

const (
	changeOfCipher = 0x14 // kinds of records, see RFC 8446
	alert          = 0x15
	handshake      = 0x16
	clientHello    = 1  // kinds of handshakes
	earlyData      = 42 // extensions
	hiddenHello    = 0xfe0d
)

// unrecognized is what a client is told: the name is not recognized.
var unrecognized = []byte{alert, 3, 3, 0, 2, 2, 112}

// introduce passes on how a client greets a host: also once more, where the host asks for it. What is not TLS is left
// to servers with a port of their own. It gives the other name that was said, if that is why it is an error.
func introduce(host io.Writer, name string, port uint16, said *bufio.Reader) (other string, err error) {
	for first := true; ; first = false {
		head, err := said.Peek(1) // what kind of record comes
		switch {
		case err != nil:
			return "", nil // nothing else comes
		case first && head[0] != handshake && port == 443:
			return "", errOtherName
		case !first && (head[0] == changeOfCipher || head[0] == alert): // they may stand before the second greeting
			if head, err = said.Peek(5); err == nil {
				_, err = io.CopyN(host, said, 5+int64(head[3])<<8+int64(head[4]))
			}
			if err != nil {
				return "", err
			}
			continue
		case head[0] != handshake:
			return "", nil
		case !first: // one that is encrypted is longer, and does not begin so
			if head, err = said.Peek(11); err != nil || head[3] == 0 && head[4] < 16 {
				return "", errOtherName
			}
			if head[5] != clientHello || head[9] != 3 {
				return "", nil
			}
		}
		records, other, err := greeting(said, name)
		if err == nil {
			_, err = host.Write(records)
		}
		if err != nil {
			return other, err
		}
	}
}

// greeting reads the records of one, and no more, which has to name a host, where that is no address, and nothing that
// could be hidden or come before another greeting. It gives the other name that was said.
func greeting(said io.Reader, name string) (records []byte, other string, err error) {
	message, head, size := []byte{}, make([]byte, 5), 4
	for len(message) < size {
		if _, err := io.ReadFull(said, head); err != nil {
			return nil, "", err
		}
		body := make([]byte, int(head[3])<<8+int(head[4]))
		if _, err := io.ReadFull(said, body); err != nil || head[0] != handshake || len(body) == 0 || len(records) > 64<<10 {
			return nil, "", errOtherName
		}
		records, message = slices.Concat(records, head, body), append(message, body...)
		if len(message) >= 4 {
			size = 4 + int(message[1])<<16 + int(message[2])<<8 + int(message[3])
		}
	}
	hello := &tls.ClientHelloInfo{Extensions: []uint16{hiddenHello}}
	here, there := net.Pipe()
	defer here.Close()
	go func() { _, _ = there.Write(records); _ = there.Close() }() // nobody is there to answer
	_ = tls.Server(here, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		hello = h
		return nil, errOtherName
	}}).Handshake() // it goes no further
	_, noAddress := netip.ParseAddr(name)
	switch {
	case len(message) != size, slices.Contains(hello.Extensions, hiddenHello), slices.Contains(hello.Extensions, earlyData), hello.ServerName == "" && noAddress != nil:
		err = errOtherName
	case hello.ServerName != "" && plainHost(hello.ServerName) != name:
		other, err = hello.ServerName, errOtherName
	}
	return records, other, err
}
