package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

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
