//go:build amd64 || arm64

package sandbox

import (
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// No signal keeps a program from its gate.
func TestConnectAmongSignals(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	defer l.Close()
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			_ = c.Close()
		}
	}()
	done := make(chan struct{})
	defer close(done)
	for range 2 {
		go func() {
			for {
				select {
				case <-done:
					return
				default:
					_ = unix.Kill(os.Getpid(), unix.SIGURG) // as Go does to its threads
				}
			}
		}()
	}
	to := &unix.SockaddrInet4{Port: l.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		testenv.Must(t, err)
		err = unix.SetsockoptTimeval(s, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Sec: 10})
		if err == nil {
			err = connect(s, to)
		}
		_ = unix.Close(s)
		testenv.Must(t, err)
	}
}
