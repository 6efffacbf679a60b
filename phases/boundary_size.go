package phases

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// limitSize takes back what is too large for one step: all changes of the tree,
// and the artifacts too if they alone are too large. It returns the changes
// that stay.
func (b Boundary) limitSize(s *SortedChanges, changes []Change) []Change {
	why := b.TooMuch(changes)
	if why == "" {
		return changes
	}
	artifacts := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return !b.artifact(c.Path) })
	if b.TooMuch(artifacts) != "" {
		artifacts = nil
	}
	out := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return len(artifacts) > 0 && b.artifact(c.Path) })
	for _, c := range out {
		s.Undo = append(s.Undo, c.Path)
	}
	s.violated(metadata.RuleSize, examples(out), metadata.Because("too_much", "n", len(changes), "why", why))
	s.Over = metadata.Because("too_much_in", "n", len(changes), "files", examples(out), "why", why)
	return artifacts
}

// TooMuch says in which way changes are too large for one step, or "".
func (b Boundary) TooMuch(changes []Change) metadata.Reason {
	files, limit := b.plan.Limits.Most()
	if len(changes) > files {
		return metadata.Because("too_many_files", "most", files)
	}
	var total int64
	for _, c := range changes {
		if !c.Gone {
			total += c.Size
		}
	}
	if total > int64(limit) {
		return metadata.Because("too_many_bytes", "bytes", total, "most", limit)
	}
	return ""
}

// examples names the largest of changes.
func examples(changes []Change) string {
	most := slices.SortedFunc(slices.Values(changes), func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.Path, b.Path))
	})
	var names []string
	for _, c := range most[:min(3, len(most))] {
		names = append(names, OneLine(Printable(c.Path)))
	}
	if len(most) > len(names) {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}
