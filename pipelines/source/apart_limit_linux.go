package source

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// limitMemory lets the process have maxMemory more than it has now. It counts
// writable memory: Go reserves far more addresses than it uses.
func limitMemory() error {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	var size, resident, shared, text, lib, data uint64
	if _, err := fmt.Sscan(string(statm), &size, &resident, &shared, &text, &lib, &data); err != nil {
		return fmt.Errorf("/proc/self/statm: %w", err)
	}
	limit := data*uint64(os.Getpagesize()) + maxMemory
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit})
}
