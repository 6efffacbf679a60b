//go:build !linux

package source

// limitMemory does nothing where the system knows no limit for writable
// memory; the limit on time holds there too.
func limitMemory() error { return nil }
