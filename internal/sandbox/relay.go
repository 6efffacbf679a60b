package sandbox

import (
	"fmt"
	"io"
	"net"
	"sync"
)

// relay leads connections from a listener in the network of a call to its gate.
type relay struct {
	mu     sync.Mutex
	closed bool
	ends   map[io.Closer]bool
}

// serve takes connections until the listener is closed.
func (r *relay) serve(l net.Listener, port uint16) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // it was closed
		}
		go func() {
			defer c.Close()
			to, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil || !r.keep(to) {
				return // the gate is closed, and so will be the call
			}
			defer func() { r.forget(to); _ = to.Close() }()
			both(c, to)
		}()
	}
}

// both copies between two connections until both directions have ended.
func both(a, b net.Conn) {
	var done sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		done.Go(func() {
			_, _ = io.Copy(way[1], way[0]) // either end may go at any time
			if half, ok := way[1].(*net.TCPConn); ok {
				_ = half.CloseWrite()
			}
		})
	}
	done.Wait()
}

// mostRelayed is how many connections a call has at a time: a little more than its gate takes, and fewer than reprise
// may have files open.
const mostRelayed = 300

// keep has something closed with the call: at once, with false, where the call is over or has too many.
func (r *relay) keep(c io.Closer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || len(r.ends) == mostRelayed {
		_ = c.Close()
		return false
	}
	if r.ends == nil {
		r.ends = map[io.Closer]bool{}
	}
	r.ends[c] = true
	return true
}

// forget is for what has ended before the call.
func (r *relay) forget(c io.Closer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.ends, c)
}

// close ends all connections.
func (r *relay) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for c := range r.ends {
		_ = c.Close() // what it may say is of no use any more
	}
}
