//go:build unix

package process

import (
	"errors"
	"io"
	"syscall"
)

// unbuffered reads standard input and takes no byte more than it was asked for.
type unbuffered struct{}

func (unbuffered) Read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(0, p)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}
