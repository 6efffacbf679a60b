package clean

import (
	"syscall"
	"time"
)

// clock is the processor time of this thread, which a busy machine does not
// stretch.
func clock() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
