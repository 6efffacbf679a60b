package phases

import (
	"encoding/json"

	"github.com/reprise-ci/reprise/metadata"
)

// Issue is what rules may see of the issue.
type Issue struct {
	Labels        []string
	Title, Author string
}

// facts is what the rules after a phase see of it, in the form that their
// conditions are written for.
func facts(run metadata.Run, rec *metadata.Phase, is Issue) ([]byte, error) {
	f := map[string]any{
		"attempt": rec.RetryCount + 1,
		"cost":    map[string]any{"usd": run.Cost.USD, "tokens": run.Cost.InputTokens + run.Cost.OutputTokens},
		"issue":   map[string]any{"labels": append([]string{}, is.Labels...), "title": is.Title, "author": is.Author},
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
		f["findings"] = map[string]int{"blockers": len(openBlockers(v)), "suggestions": len(suggestions(v))}
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
	return json.Marshal(f)
}
