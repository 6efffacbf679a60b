//go:build !linux

// Package cgroup is about something that only Linux has.
package cgroup

import (
	"fmt"
	"runtime"
)

// Group is a control group, which this system does not have.
type Group struct{}

// Make gives the error that there are none.
func Make(uint64, string) (*Group, error) {
	return nil, fmt.Errorf("%s has no control groups", runtime.GOOS)
}

// EndAll ends nothing.
func EndAll(string) int { return 0 }

// Remove does nothing.
func (*Group) Remove() {}

// File gives "".
func (*Group) File() string { return "" }
