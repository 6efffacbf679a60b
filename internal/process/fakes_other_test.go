//go:build !linux

package process

// fakes are none: only Linux is asked for the threads of a process.
func fakes() map[string]func(args []string) int { return nil }
