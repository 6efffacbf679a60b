package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes that reads and writes as text, such as "4MB" or
// "500kB". A KB has 1,000 bytes.
type Size int64

// The units.
const (
	kb Size = 1000
	MB      = 1000 * kb
	gb      = 1000 * MB
)

// unit is what sizes are counted in.
type unit struct {
	name  string
	bytes Size
}

// units are all of them, the largest first.
func units() []unit {
	return []unit{{"GB", gb}, {"MB", MB}, {"kB", kb}, {"B", 1}}
}

// String gives the size in the largest unit that leaves no fraction.
func (s Size) String() string {
	for _, u := range units() {
		if s != 0 && s%u.bytes == 0 {
			return fmt.Sprintf("%d%s", int64(s/u.bytes), u.name)
		}
	}
	return "0B"
}

// MarshalText gives the size as String prints it.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what String prints.
func (s *Size) UnmarshalText(b []byte) error {
	for _, u := range units() {
		if number, ok := strings.CutSuffix(string(b), u.name); ok {
			n, err := strconv.ParseUint(number, 10, 32)
			*s = Size(n) * u.bytes
			return err
		}
	}
	return fmt.Errorf("%q is no size such as \"4MB\" or \"500kB\"", b)
}

// Days is a number of days that reads and writes as text, such as "14d".
type Days int

// Duration is how long that is, each day having 24 hours.
func (d Days) Duration() time.Duration { return time.Duration(d) * 24 * time.Hour }

// MarshalText gives the number with its unit.
func (d Days) MarshalText() ([]byte, error) { return []byte(strconv.Itoa(int(d)) + "d"), nil }

// UnmarshalText reads what MarshalText gives. The error names the text.
func (d *Days) UnmarshalText(b []byte) error {
	digits, is := strings.CutSuffix(string(b), "d")
	n, err := strconv.Atoi(digits)
	if !is || err != nil || n < 0 {
		return fmt.Errorf("%q is no number of days, such as 14d", b)
	}
	*d = Days(n)
	return nil
}

// Time is a time.Duration that reads and writes as text, such as "20m".
type Time time.Duration

// MarshalText gives the duration as time.Duration prints it.
func (d Time) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Time) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Time(v)
	return err
}
