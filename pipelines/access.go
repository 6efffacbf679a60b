package pipelines

import "slices"

// Level is how much an agent may do.
type Access string

// The levels, each containing the one before, but that Artifacts does not contain Run.
const (
	AccessNone      Access = "none"      // no tools
	AccessRead      Access = "read"      // may look
	AccessRun       Access = "run"       // may run commands, in a copy of the tree that is thrown away
	AccessArtifacts Access = "artifacts" // may write the phase's artifact folder
	AccessTree      Access = "tree"      // may write the tree, protected paths aside
)

// Writes says whether what is written with this access is kept.
func (a Access) Writes() bool { return a == AccessArtifacts || a == AccessTree }

// Runs says whether commands may be run with this access.
func (a Access) Runs() bool { return a == AccessRun || a == AccessTree }

// AtMost gives what two levels have in common. An empty limit limits nothing.
func (a Access) AtMost(limit Access) Access {
	if a == AccessRun && limit == AccessArtifacts || a == AccessArtifacts && limit == AccessRun {
		return AccessRead
	}
	levels := []Access{AccessNone, AccessRead, AccessRun, AccessArtifacts, AccessTree}
	if i := slices.Index(levels, limit); i >= 0 && i < slices.Index(levels, a) {
		return limit
	}
	return a
}
