//go:build !unix

package bounded

import "time"

// Time does nothing where the system knows no limit for processor time.
func Time(time.Duration) error { return nil }
