package phases

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// FactsAfter gives what the rules after a phase know about it.
func FactsAfter(run metadata.Run, phase string, is prompts.Issue) ([]byte, error) {
	f := of(run.Phase(phase))
	maps.Copy(f, whole(run, is))
	if n := IndependentParts(run, phase); n > 0 {
		f["independent_tasks"] = n
	}
	return json.Marshal(f)
}

// FactsBefore gives what is known before a phase begins: of the issue, of the phases before it
// that are done or left out, and further facts about the branch.
func FactsBefore(run metadata.Run, phase string, is prompts.Issue, facts map[string]any) ([]byte, error) {
	done := map[string]any{}
	for i := range run.Phases {
		rec := &run.Phases[i]
		if rec.Name == phase {
			break
		}
		switch rec.Status {
		case metadata.PhaseCompleted:
			f := of(rec)
			f["status"] = rec.Status
			done[rec.Name] = f
		case metadata.PhaseSkipped:
			done[rec.Name] = map[string]any{"status": rec.Status}
		}
	}
	f := whole(run, is)
	maps.Copy(f, facts)
	f["phases"] = done
	return json.Marshal(f)
}

// InTree says of path patterns whether a path of the branch is what each names.
func InTree(paths, patterns []string) map[string]bool {
	tree := map[string]bool{}
	for _, pattern := range patterns {
		tree[pattern] = slices.ContainsFunc(paths, func(p string) bool { return pipelines.MatchesPath(p, []string{pattern}) })
	}
	return tree
}

// whole gives what is known of a run and its issue.
func whole(run metadata.Run, is prompts.Issue) map[string]any {
	return map[string]any{
		"cost":  map[string]any{"usd": metadata.Rounded(run.Cost.USD), "tokens": run.Cost.InputTokens + run.Cost.OutputTokens},
		"issue": map[string]any{"labels": append([]string{}, is.Labels...), "title": is.Title, "author": is.Author},
	}
}

// of gives what is known of a phase.
func of(rec *metadata.Phase) map[string]any {
	f := map[string]any{
		"attempt": rec.RetryCount + 1,
		"diff":    map[string]int{"files": 0, "lines": 0, "added": 0, "deleted": 0},
	}
	if rec.Report != nil {
		f["report"] = rec.Report
	}
	if d := rec.Diff; d != nil {
		f["diff"] = map[string]int{"files": d.Files, "lines": d.Lines, "added": d.Added, "deleted": d.Deleted}
	}
	if v := rec.Verdict; v != nil {
		f["verdict"] = v.Verdict
		f["findings"] = map[string]int{"blockers": len(v.OpenBlockers()), "suggestions": len(v.OpenSuggestions())}
	}
	if rec.Checks != nil && rec.Checks.Written == rec.Written {
		checks := map[string]string{}
		for _, c := range rec.Checks.Results {
			checks[c.Name] = "fail"
			if c.Pass {
				checks[c.Name] = "pass"
			}
		}
		f["checks"] = checks
	}
	return f
}

// AboutFacts says which of the facts a rule's condition is about, for people:
// "report.risk is "high", diff.lines is 4".
func AboutFacts(when string, facts []byte) []metadata.Reason {
	var all map[string]any
	if json.Unmarshal(facts, &all) != nil {
		return nil // they are our own
	}
	named := map[string]bool{}
	for _, word := range whenWord.FindAllString(when, -1) {
		named[word] = true
	}
	if tree, ok := all["tree"].(map[string]any); ok {
		for pattern := range tree { // only those that the condition asks about
			named[pattern] = true
		}
	}
	var out []metadata.Reason
	pick(&out, "", all, named)
	return out[:min(len(out), mostFacts)]
}

// mostFacts is how many facts are told of a rule.
const mostFacts = 20

// whenWord is a name in the text of a condition.
var whenWord = regexp.MustCompile(`[\pL\pN_$-]+`)

// pick adds the facts below a path whose names all occur in the condition.
func pick(out *[]metadata.Reason, path string, facts map[string]any, named map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if !named[name] {
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		if deeper, ok := facts[name].(map[string]any); ok {
			pick(out, at, deeper, named)
			continue
		}
		if value, err := json.Marshal(facts[name]); err == nil {
			*out = append(*out, metadata.Because("fact", "name", at, "value", metadata.Said(CutText(string(value), 200))))
		}
	}
}
