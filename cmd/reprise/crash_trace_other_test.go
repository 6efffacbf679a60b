//go:build !linux || !amd64

package main

import (
	"fmt"
	"os"
	"runtime"
)

// traced is for Linux on amd64 alone.
func traced() {
	fmt.Fprintln(os.Stderr, "traced: no program can be traced on", runtime.GOOS, runtime.GOARCH)
	os.Exit(125)
}
