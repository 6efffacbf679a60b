// Package broken is an answer to an HTTP request that goes wrong, on purpose: it is cut
// off, comes twice, or never.
package broken

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
)

// Answer is one answer that goes wrong. The zero value is an empty 200.
type Answer struct {
	Status int         // 0: 200
	Header http.Header // these besides the usual ones
	Body   string      // as it is
	Cut    bool        // the connection ends in the middle of the body
	Drop   bool        // the connection ends without an answer
	Reset  bool        // the connection is reset without an answer
	Hang   bool        // no answer, until the client gives up
	Twice  bool        // the same answer once more, which nobody has asked for

	// After lets the server do what was asked for, and then goes wrong. With Cut
	// and without a Body, the connection ends in the middle of the real answer.
	After bool
}

// Seen is what the client gets to see; 0 if it gets no answer.
func (a Answer) Seen() int {
	switch {
	case a.Hang, a.Drop, a.Reset:
		return 0
	case a.Status == 0:
		return http.StatusOK
	}
	return a.Status
}

// Send answers so. Real is the answer that would have been given, if the work was
// done. Where there is to be no answer, it waits until the client gives up.
func (a Answer) Send(w http.ResponseWriter, r *http.Request, real []byte) {
	switch {
	case a.Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case a.Reset:
		reset(w)
		return
	case a.Drop:
		panic(http.ErrAbortHandler)
	case a.Twice:
		a.twice(w)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	maps.Copy(h, a.Header)
	if a.Cut {
		if a.Body == "" {
			a.Body = string(real[:len(real)/2])
		}
		h.Set("Content-Length", strconv.Itoa(len(a.Body)+100))
	}
	w.WriteHeader(a.Seen())
	_, _ = w.Write([]byte(a.Body)) // the client may be gone
	if a.Cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// twice answers two times at once, and ends the connection.
func (a Answer) twice(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the next best
	}
	answer := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: %d\r\n\r\n%s", a.Seen(), http.StatusText(a.Seen()), len(a.Body), a.Body)
	_, _ = io.WriteString(conn, answer+answer) // the client may be gone
	_ = conn.Close()
}

// reset ends a connection so that the other side sees an error instead of an
// end.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the next best
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it, it is an end like others
	}
	_ = conn.Close() // nobody waits for it
}
