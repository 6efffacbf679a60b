package folders

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// ReadRegular reads a regular file of at most limit bytes. It follows no
// link out of the way and never waits for a pipe.
func ReadRegular(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes; the limit is %d", name, info.Size(), limit)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(f, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%s grew past the limit of %d bytes", name, limit)
	}
	return b.Bytes(), err
}
