package gate

import (
	"bytes"
	"io"
	"net/http"
)

// A stream of Chat Completions says what was used only if it is asked to, and what a
// model thinks is never in it. So each request for one is made to ask.

// askUsage is what is added to such a request. Of a field that comes twice, services
// take the last.
const askUsage = `,"stream_options":{"include_usage":true}`

// usageAsker is the body of a request of Chat Completions that asks for the usage. Its
// length is known before it is read: what need not ask has as many spaces at its end.
type usageAsker struct {
	*requestFilter
	requested bool
	rest      []byte // of what was read
	err       error  // after rest
}

// Read reads on.
func (a *usageAsker) Read(p []byte) (n int, err error) {
	if !a.requested {
		n, err = a.requestFilter.Read(p)
		if !a.scan.Closed() {
			return n, err
		}
		a.requested = true
		end := bytes.LastIndexByte(p[:n], '}')
		if end < 0 { // a list, which is no request
			end = n
		}
		a.rest, a.err = append(a.addition(), p[end:n]...), err
		return end, nil
	}
	if len(a.rest) > 0 {
		n = copy(p, a.rest)
		a.rest = a.rest[n:]
		return n, nil
	}
	if a.err != nil {
		return 0, a.err
	}
	return a.requestFilter.Read(p)
}

// addition is what comes before the end of the request.
func (a *usageAsker) addition() []byte {
	a.x.mu.Lock()
	defer a.x.mu.Unlock()
	if a.x.streams && !a.x.saysUsage {
		return []byte(askUsage)
	}
	return bytes.Repeat([]byte{' '}, len(askUsage))
}

// body gives the body of a request as it is passed on, with its length.
func (x *exchange) body(r *http.Request) (io.ReadCloser, int64) {
	b := newRequestFilter(r.Body, x)
	if x.at != chatCompletions || r.ContentLength == 0 {
		return b, r.ContentLength
	}
	if r.ContentLength > 0 {
		return &usageAsker{requestFilter: b}, r.ContentLength + int64(len(askUsage))
	}
	return &usageAsker{requestFilter: b}, r.ContentLength
}
