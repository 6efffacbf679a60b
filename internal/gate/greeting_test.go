package gate

import (
	"bufio"
	"bytes"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// sent is what a client of TLS sends first.
func sent(c *tls.Config) []byte {
	here, there := net.Pipe()
	c.InsecureSkipVerify = true
	go func() { tls.Client(here, c).Handshake(); here.Close() }()
	defer there.Close()
	records, _, _ := greeting(there, "") // whatever it names
	return records
}

// pieces makes of a record as many as it has bytes.
func pieces(record []byte) (out []byte) {
	for _, b := range record[5:] {
		out = append(out, record[0], record[1], record[2], 0, 1, b)
	}
	return out
}

// hidden is a configuration by which a client hides the name in its greeting.
func hidden(t *testing.T) []byte {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public := "good.test"
	body := slices.Concat([]byte{1, 0, 0x20, 0, 32}, key.PublicKey().Bytes(), []byte{0, 4, 0, 1, 0, 1, 32, byte(len(public))}, []byte(public), []byte{0, 0})
	one := slices.Concat([]byte{0xfe, 0x0d}, binary.BigEndian.AppendUint16(nil, uint16(len(body))), body)
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(one))), one...)
}

// The first thing that a client says to a host names that host, or nothing of it arrives.
func TestGreetings(t *testing.T) {
	good, evil := sent(&tls.Config{ServerName: "good.test"}), sent(&tls.Config{ServerName: "evil.test"})
	old := sent(&tls.Config{ServerName: "good.test", MaxVersion: tls.VersionTLS12})
	early := slices.Concat(old, []byte{0, earlyData, 0, 0})
	for _, at := range []int{3, 7, 5 + 4 + 2 + 32 + 1 + int(old[5+4+2+32])} { // lengths of the record, the greeting and, after its suites, the extensions
		if at > 7 {
			at += 2 + int(binary.BigEndian.Uint16(old[at:])) + 2
		}
		binary.BigEndian.PutUint16(early[at:], binary.BigEndian.Uint16(early[at:])+4)
	}
	change, warning, key := []byte{changeOfCipher, 3, 3, 0, 1, 1}, []byte{alert, 3, 3, 0, 2, 1, 90}, []byte{handshake, 3, 3, 0, 20, 16, 0, 0, 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	sealed := append([]byte{handshake, 3, 3, 0, 24, clientHello, 9, 9, 9, 9}, make([]byte, 19)...)
	for name, tt := range map[string]struct {
		said  []byte
		host  string
		port  uint16
		ok    bool
		other string
	}{
		"the host":                             {good, "good.test", 443, true, ""},
		"in pieces":                            {pieces(good), "good.test", 443, true, ""},
		"of TLS 1.2":                           {slices.Concat(old, key, change, sealed), "good.test", 443, true, ""},
		"of TLS 1.2, gone on with":             {slices.Concat(old, change, sealed), "good.test", 443, true, ""},
		"asked for once more":                  {slices.Concat(good, change, good), "good.test", 443, true, ""},
		"an address, without a name":           {sent(&tls.Config{}), "192.0.2.1", 8443, true, ""},
		"another name":                         {evil, "good.test", 443, false, "evil.test"},
		"another name, at another port":        {evil, "good.test", 8443, false, "evil.test"},
		"another name, in pieces":              {pieces(evil), "good.test", 443, false, "evil.test"},
		"another name for an address":          {evil, "192.0.2.1", 443, false, "evil.test"},
		"no name":                              {sent(&tls.Config{}), "good.test", 443, false, ""},
		"a hidden name":                        {sent(&tls.Config{ServerName: "good.test", MinVersion: tls.VersionTLS13, EncryptedClientHelloConfigList: hidden(t)}), "good.test", 443, false, ""},
		"another name later":                   {slices.Concat(good, evil), "good.test", 443, false, "evil.test"},
		"another name behind other records":    {slices.Concat(good, change, warning, evil), "good.test", 443, false, "evil.test"},
		"another name later, in pieces":        {slices.Concat(good, change, pieces(evil)), "good.test", 443, false, ""},
		"data before another greeting":         {early, "good.test", 443, false, ""},
		"no greeting":                          {[]byte("GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"), "good.test", 443, false, ""},
		"no greeting, at a port of its own":    {[]byte("SSH-2.0-x\r\n"), "good.test", 22, true, ""},
		"a greeting that cannot be read":       {append([]byte{handshake, 3, 1, 0, 8, 1, 0, 0, 4}, 1, 2, 3, 4), "good.test", 443, false, ""},
		"a record without anything":            {append([]byte{handshake, 3, 1, 0, 0}, good...), "good.test", 443, false, ""},
		"a greeting that never ends":           {bytes.Repeat([]byte{handshake, 3, 1, 0, 4, 1, 255, 255, 255}, 10_000), "good.test", 443, false, ""},
		"another greeting in the same record":  {slices.Concat([]byte{handshake, 3, 1}, binary.BigEndian.AppendUint16(nil, uint16(len(good)+len(evil)-10)), good[5:], evil[5:]), "good.test", 443, false, ""},
		"nothing, as a server may speak first": {nil, "good.test", 443, true, ""},
	} {
		var came bytes.Buffer
		said := bufio.NewReader(bytes.NewReader(tt.said))
		other, err := introduce(&came, tt.host, tt.port, said)
		if err == nil {
			io.Copy(&came, said)
		}
		if (err == nil) != tt.ok || other != tt.other {
			t.Errorf("%s: error %v, other name %q", name, err, other)
		}
		if tt.ok != bytes.Equal(came.Bytes(), tt.said) || bytes.Contains(came.Bytes(), []byte("evil.test")) {
			t.Errorf("%s: %d of %d bytes arrived: %q", name, came.Len(), len(tt.said), came.Bytes())
		}
	}
}

// Through the gate, a client with another name in its greeting is told so, and the name is noted.
func TestAGreetingNamesItsHost(t *testing.T) {
	secure := site(t, true)
	_, port, _ := net.SplitHostPort(secure)
	g := opened(t, Config{World: World{Allow: []string{"localhost:" + port}}})
	client := through(g, g.proxyURL())
	if res, err := client.Get("https://localhost:" + port); err != nil || !strings.Contains(textOf(t, res), "here is") {
		t.Errorf("the host itself: %v", err)
	}
	for _, name := range []string{"evil.test", ""} {
		c := through(g, g.proxyURL())
		c.Transport.(*http.Transport).TLSClientConfig.ServerName = name
		if name == "" {
			c.Transport.(*http.Transport).TLSClientConfig.ServerName = "192.0.2.1" // for which none is sent
		}
		if res, err := c.Get("https://localhost:" + port); err == nil || !strings.Contains(err.Error(), "unrecognized name") {
			t.Errorf("%q: answer %v, error %v", name, res, err)
		}
	}
	if got := g.Report().Refused; !slices.Contains(got, refused{"evil.test:" + port, 1}) {
		t.Errorf("refused: %v", got)
	}
	open := opened(t, Config{World: World{Open: true, Allow: []string{"localhost:" + port}}})
	c := through(open, open.proxyURL())
	c.Transport.(*http.Transport).TLSClientConfig.ServerName = "evil.test"
	if _, err := c.Get("https://localhost:" + port); err != nil {
		t.Errorf("an open network: %v", err)
	}
}
