package sandbox

import (
	"cmp"
	"fmt"
)

// Limits are what the sandbox allows one call to use up. 0 stands for the
// usual.
type Limits struct {
	// File is the most that one file may have, in bytes; usually 1 GB.
	File uint64
	// Disk is the most that a call may write into its tree, its home and its
	// temporary folder together, in bytes; usually 4 GB. It is looked at
	// every second, or for a twentieth of the time where that takes longer.
	Disk uint64
	// Spare is what a call must leave free on the disk, in bytes; usually
	// 200 MB.
	Spare uint64
	// Processes is the most that a call may have at once, threads counted;
	// usually 4096. Root is held to it by a control group. Others are held to
	// it in a user namespace, and without one to so many more than the machine
	// has when the call begins.
	Processes uint64
}

func (l Limits) withDefaults() Limits {
	return Limits{
		File: cmp.Or(l.File, 1e9), Disk: cmp.Or(l.Disk, 4e9),
		Spare: cmp.Or(l.Spare, 200e6), Processes: cmp.Or(l.Processes, 4096),
	}
}

// Size writes bytes for people, in the units that the limits are set in: "4 GB",
// "500 MB".
func Size(n uint64) string {
	if n >= 1e9 {
		return fmt.Sprintf("%.3g GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%d MB", n/1e6)
}

// String lists the limits for people.
func (l Limits) String() string {
	return fmt.Sprintf("a file %s, a call %s of disk, %d processes", Size(l.File), Size(l.Disk), l.Processes)
}
