//go:build race

package scripts

// raced reports whether the race detector watches this binary.
const raced = true
