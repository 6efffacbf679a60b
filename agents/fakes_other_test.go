//go:build !linux

package agents

// threadFakes are none: only Linux is asked for the threads of a process.
func threadFakes() map[string]func(args []string) int { return nil }
