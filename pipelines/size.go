package pipelines

import (
	"fmt"
	"strconv"
	"strings"
)

// Size is a number of bytes that reads and writes as text, such as "4MB" or
// "500kB". A kilobyte has 1,000 bytes.
type Size int64

const (
	kilobyte Size = 1000
	megabyte      = 1000 * kilobyte
	gigabyte      = 1000 * megabyte
)

// String gives the size in the largest unit that leaves no fraction.
func (s Size) String() string {
	switch {
	case s != 0 && s%gigabyte == 0:
		return fmt.Sprintf("%dGB", s/gigabyte)
	case s != 0 && s%megabyte == 0:
		return fmt.Sprintf("%dMB", s/megabyte)
	case s != 0 && s%kilobyte == 0:
		return fmt.Sprintf("%dkB", s/kilobyte)
	}
	return fmt.Sprintf("%dB", int64(s))
}

// MarshalText gives the size as String prints it.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what String prints.
func (s *Size) UnmarshalText(b []byte) error {
	text := string(b)
	for _, unit := range []struct {
		name  string
		bytes Size
	}{{"GB", gigabyte}, {"MB", megabyte}, {"kB", kilobyte}, {"B", 1}} {
		number, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(number, 10, 32)
		*s = Size(n) * unit.bytes
		return err
	}
	return fmt.Errorf("%q is no size such as \"4MB\" or \"500kB\"", text)
}
