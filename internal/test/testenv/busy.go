package testenv

import (
	"runtime"
	"time"
)

// Busy is the processor time that f takes, without what other goroutines do for
// it. However long it has to wait for a processor does not count.
func Busy(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := ThreadTime()
	f()
	return ThreadTime() - began
}
