// Package access is what an agent may do to the tree.
package access

import "slices"

// Level is how much an agent may do.
type Level string

// The levels, each containing the one before, but that Artifacts does not contain Run.
const (
	None      Level = "none"      // no tools
	Read      Level = "read"      // may look
	Run       Level = "run"       // may run commands, in a copy of the tree that is thrown away
	Artifacts Level = "artifacts" // may write the phase's artifact folder
	Tree      Level = "tree"      // may write the tree, protected paths aside
)

// Writes says whether what is written with this access is kept.
func (a Level) Writes() bool { return a == Artifacts || a == Tree }

// Runs says whether commands may be run with this access.
func (a Level) Runs() bool { return a == Run || a == Tree }

// AtMost gives what two levels have in common. An empty limit limits nothing.
func (a Level) AtMost(limit Level) Level {
	if a == Run && limit == Artifacts || a == Artifacts && limit == Run {
		return Read
	}
	levels := []Level{None, Read, Run, Artifacts, Tree}
	if i := slices.Index(levels, limit); i >= 0 && i < slices.Index(levels, a) {
		return limit
	}
	return a
}
