package testenv

import (
	"time"

	"golang.org/x/sys/unix"
)

// ThreadTime is the processor time of this thread, which a busy machine does
// not stretch.
func ThreadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
