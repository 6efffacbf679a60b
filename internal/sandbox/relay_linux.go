package sandbox

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// open gives what the helper of a call inherits to hand out its listener by, and
// begins to relay once it has. Without a gate there is nothing to lead to.
func (r *relay) open(port uint16) ([]*os.File, error) {
	if port == 0 {
		return nil, nil
	}
	ours, theirs, err := handover()
	if err != nil {
		return nil, err
	}
	if err := r.lead(ours, port); err != nil {
		_ = theirs.Close()
		return nil, err
	}
	return []*os.File{theirs}, nil
}

// handover is a connection by which a helper hands out its listener.
func handover() (ours *net.UnixConn, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	theirs = os.NewFile(uintptr(pair[1]), "relay")
	end := os.NewFile(uintptr(pair[0]), "relay")
	c, err := net.FileConn(end)
	_ = end.Close() // the connection has a copy
	if err != nil {
		_ = theirs.Close()
		return nil, nil, err
	}
	return c.(*net.UnixConn), theirs, nil
}

// lead relays what comes from the listener that a helper hands out.
func (r *relay) lead(from *net.UnixConn, port uint16) error {
	if !r.keep(from) {
		return errors.New("the call is over")
	}
	go func() {
		if l, err := receive(from); err == nil && r.keep(l) {
			r.serve(l, port)
		}
	}()
	return nil
}

// receive waits for the listener that a helper hands out.
func receive(c *net.UnixConn) (net.Listener, error) {
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := c.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("no listener was handed out")
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(files[0]), "listener")
	defer func() { _ = f.Close() }() // the listener has a copy
	return net.FileListener(f)
}
