//go:build !linux

package sandbox

import (
	"fmt"
	"runtime"
)

// Group is a control group, which this system does not have.
type Group struct{}

// MakeGroup gives the error that there are none.
func MakeGroup(uint64, string) (*Group, error) {
	return nil, fmt.Errorf("%s has no control groups", runtime.GOOS)
}

// EndAll ends nothing.
func EndGroups(string) int { return 0 }

// Remove does nothing.
func (*Group) Remove() {}

// File gives "".
func (*Group) File() string { return "" }
