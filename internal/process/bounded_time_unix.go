//go:build unix

package process

import (
	"time"

	"golang.org/x/sys/unix"
)

// LimitTime ends this process once it has used a processor for so long, in whole seconds; 0 is no limit.
func LimitTime(most time.Duration) error {
	if most == 0 {
		return nil
	}
	seconds := uint64((most + time.Second - 1) / time.Second)
	return unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds + 1}) // asked to end first
}
