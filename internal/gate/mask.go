package gate

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	maxError = 64 << 10 // bytes of an error that are looked at; services write a few hundred
	minKey   = 8        // bytes; what is shorter stands in many texts
)

// mask takes the real key, which a header shows, out of an error: some gateways repeat the one that they were
// shown. It gives what is left of it.
func mask(res *http.Response, shown http.Header) string {
	body := res.Body
	text, _ := io.ReadAll(io.LimitReader(body, maxError)) // what broke off is shown as far as it came
	if res.Header.Get("Content-Encoding") != "" {
		text = nil // nobody asked for it in a form in which no key is found
		res.Header.Del("Content-Encoding")
	}
	for _, key := range keysIn(shown) {
		text = bytes.ReplaceAll(text, key, inPlace)
	}
	res.ContentLength = int64(len(text))
	res.Header.Set("Content-Length", strconv.Itoa(len(text)))
	res.TransferEncoding = nil
	res.Body = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(text), body}
	return string(text)
}

// inPlace stands where a key was.
var inPlace = []byte("[the key]")

// keysIn gives the keys that a header shows.
func keysIn(shown http.Header) (keys [][]byte) {
	for _, values := range shown {
		for _, value := range values {
			if key := strings.TrimPrefix(value, "Bearer "); len(key) >= minKey {
				keys = append(keys, []byte(key))
			}
		}
	}
	return keys
}

// masked reads a text without the keys in it, and holds back only what a key may begin with.
type masked struct {
	io.ReadCloser
	keys      [][]byte
	held, out []byte
	err       error
}

func (m *masked) Read(p []byte) (int, error) {
	for len(m.out) == 0 && len(p) > 0 {
		if m.err != nil {
			return 0, m.err
		}
		n, err := m.ReadCloser.Read(p)
		m.held, m.err = append(m.held, p[:n]...), err
		for _, key := range m.keys {
			m.held = bytes.ReplaceAll(m.held, key, inPlace)
		}
		keep := 0
		for _, key := range m.keys {
			for n := min(len(key)-1, len(m.held)); err == nil && n > keep; n-- {
				if bytes.HasPrefix(key, m.held[len(m.held)-n:]) {
					keep = n
				}
			}
		}
		whole := len(m.held) - keep
		m.out, m.held = m.held[:whole:whole], m.held[whole:]
	}
	n := copy(p, m.out)
	m.out = m.out[n:]
	return n, nil
}

// keepKnown removes all headers that protocols.yaml does not name. Others may show a key, or have a gateway send the
// request, and the real key with it, elsewhere.
func keepKnown(header http.Header) {
	maps.DeleteFunc(header, func(name string, _ []string) bool {
		return !slices.ContainsFunc(protocols()["gateways"].Headers, func(known string) bool {
			ok, _ := path.Match(known, strings.ToLower(name)) // the patterns are ours
			return ok
		})
	})
}
