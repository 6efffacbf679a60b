//go:build race

package main

// raced reports whether the race detector watches this binary.
const raced = true
