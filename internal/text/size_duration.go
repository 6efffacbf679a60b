package text

import "time"

// Duration is a time.Duration that reads and writes as text, such as "20m".
type Time time.Duration

// MarshalText gives the duration as time.Duration prints it.
func (d Time) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Time) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Time(v)
	return err
}
