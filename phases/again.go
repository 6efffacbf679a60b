package phases

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// cap takes back what is more than one step may change: the tree, and the
// artifacts too if they alone are too much. It returns the changes that stay.
func (b boundary) cap(s *sorted, changes []Change) []Change {
	why := b.tooMuch(changes)
	if why == "" {
		return changes
	}
	artifacts := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return !b.artifact(c.Path) })
	if b.tooMuch(artifacts) != "" {
		artifacts = nil
	}
	out := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return len(artifacts) > 0 && b.artifact(c.Path) })
	for _, c := range out {
		s.undo = append(s.undo, c.Path)
	}
	s.violated(metadata.RuleSize, examples(out), metadata.Because("too_much", "n", len(changes), "why", why))
	s.over = metadata.Because("too_much_in", "n", len(changes), "files", examples(out), "why", why)
	return artifacts
}

// tooMuch says how changes are more than one step may make, or "".
func (b boundary) tooMuch(changes []Change) metadata.Reason {
	files, limit := b.limits.Most()
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
		names = append(names, brief(printable(c.Path)))
	}
	if len(most) > len(names) {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// text gives rules as an attempt records them.
func text(rules []metadata.Rule) string {
	words := make([]string, len(rules))
	for i, r := range rules {
		words[i] = string(r)
	}
	return strings.Join(words, ",")
}

// stopRepeats turns the outcome of a writing step into one that a person has to
// look at, if the step broke a rule that an earlier one of the same phase and
// generation has broken since a person last gave an allowance. What the step
// kept within the rules stays. Run is the record with the attempt begun.
func stopRepeats(run metadata.Run, d Decision, o Outcome) Outcome {
	rec := run.Phase(d.Phase)
	if d.Do != DoExecute && d.Do != DoRevise || o.Code == metadata.SecretFound {
		return o
	}
	for _, rule := range o.Broke {
		if !brokeBefore(run, rec, rule) {
			continue
		}
		o.Status, o.Code, o.Class = metadata.Blocked, metadata.ProtectedPath, ""
		if rule == metadata.RuleSize {
			o.Code = metadata.PatchTooLarge
		}
		o.Why = metadata.Because("rule_broken_again", "changes", listed(o.Violations))
		o.Written, o.Questions = nil, nil
		return o
	}
	return o
}

// brokeBefore reports whether an earlier writing step of the phase broke a rule.
func brokeBefore(run metadata.Run, rec *metadata.Phase, rule metadata.Rule) bool {
	return slices.ContainsFunc(run.Attempts, func(a metadata.Attempt) bool {
		return a.N > run.AllowanceFrom && a.Phase == rec.Name && a.Generation == rec.Generation && a.Step != metadata.Review &&
			slices.Contains(strings.Split(a.Broke, ","), string(rule))
	})
}

// listed names the first violations for a person.
func listed(all []metadata.Violation) metadata.Reason {
	var parts []metadata.Reason
	for _, v := range all[:min(5, len(all))] {
		parts = append(parts, metadata.Because("change_reverted", "path", brief(v.Path), "why", v.Rule))
	}
	if more := len(all) - len(parts); more > 0 {
		parts = append(parts, metadata.Because("and_more", "n", more))
	}
	return metadata.All(parts...)
}
