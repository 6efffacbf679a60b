//go:build !linux

package agents

import (
	"fmt"
	"runtime"
)

// landlocked says why this system has no sandbox.
func landlocked() error { return fmt.Errorf("reprise has none on %s", runtime.GOOS) }

// Enter gives the error that this system has no sandbox.
func Enter([]string, []string) error { return landlocked() }
