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
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours := os.NewFile(uintptr(pair[0]), "relay")
	c, err := net.FileConn(ours)
	_ = ours.Close() // the connection has a copy
	if err != nil {
		_ = unix.Close(pair[1])
		return nil, err
	}
	if !r.keep(c) {
		_ = unix.Close(pair[1])
		return nil, errors.New("the call is over")
	}
	go func() {
		if l, err := receive(c.(*net.UnixConn)); err == nil && r.keep(l) {
			r.serve(l, port)
		}
	}()
	return []*os.File{os.NewFile(uintptr(pair[1]), "relay")}, nil
}

// receive waits for the listener that a helper hands out. An error says that it
// has ended before.
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
