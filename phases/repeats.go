package phases

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// text gives rules as an attempt records them.
func ruleList(rules []metadata.Rule) string {
	words := make([]string, len(rules))
	for i, r := range rules {
		words[i] = string(r)
	}
	return strings.Join(words, ",")
}

// StopRepeats turns the outcome of a writing step into one that a person has to
// look at, if the step broke a rule that an earlier one of the same phase and
// generation has broken since a person last gave an allowance. What the step
// kept within the rules stays. Run is the record with the attempt begun.
func StopRepeats(run metadata.Run, d Decision, o Outcome) Outcome {
	rec := run.Phase(d.Phase)
	if d.Do != DoExecute && d.Do != DoRevise || o.Code == metadata.SecretFound {
		return o
	}
	for _, rule := range o.Broke {
		if !brokeBefore(run, rec, rule) {
			continue
		}
		o.Status, o.Code, o.Class = metadata.Blocked, metadata.ChangeRefused, ""
		o.Why = metadata.Because("rule_broken_again", "changes", listed(o.Violations))
		o.Written, o.Questions = nil, nil
		return o
	}
	return o
}

// brokeBefore reports whether an earlier writing step of the phase broke a rule.
func brokeBefore(run metadata.Run, rec *metadata.Phase, rule metadata.Rule) bool {
	return slices.ContainsFunc(run.Attempts, func(a metadata.Attempt) bool {
		return a.N > allowanceFrom(run, rec) && a.Phase == rec.Name && a.Generation == rec.Generation && a.Step != metadata.Review &&
			slices.Contains(strings.Split(a.Broke, ","), string(rule))
	})
}

// listed names the first violations for a person.
func listed(all []metadata.Violation) metadata.Reason {
	var parts []metadata.Reason
	for _, v := range all[:min(5, len(all))] {
		parts = append(parts, metadata.Because("change_reverted", "path", OneLine(v.Path), "why", v.Rule))
	}
	if more := len(all) - len(parts); more > 0 {
		parts = append(parts, metadata.Because("and_more", "n", more))
	}
	return metadata.All(parts...)
}
