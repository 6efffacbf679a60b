package report

import (
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
)

// review is what the newest review of a phase has said.
type review struct {
	Phase    string
	Verdict  badge
	Gates    []gate
	Findings []finding
	Reverted []string
}

type gate struct{ Gate, Why string }

type finding struct {
	Class                     string
	Severity, Change          badge
	ID, Title, Place          string
	Problem, Impact, Solution string
}

// reviews gives what stood against the work of each phase, and what became of
// it. Phases of which nothing is to be said are left out.
func reviewsOf(w words, rows []view.Row) []review {
	var all []review
	for _, r := range rows {
		one := review{Phase: line(r.Title, 60)}
		if v := r.Rec.Verdict; v != nil {
			one.Verdict = badge{class(string(v.Verdict)), w.word("verdicts", string(v.Verdict))}
			for _, g := range v.FailedGates() {
				one.Gates = append(one.Gates, gate{line(g.Gate, 300), paragraph(g.Why)})
			}
			for _, of := range v.Findings {
				one.Findings = append(one.Findings, findingOf(w, of))
			}
		}
		for _, v := range r.Rec.Violations {
			one.Reverted = append(one.Reverted, w.Logged("reverted", "path", line(v.Path, 300), "why", line(v.Rule.In(w.Catalogue), 300)))
		}
		if len(one.Gates)+len(one.Findings)+len(one.Reverted) > 0 {
			all = append(all, one)
		}
	}
	return all
}

func findingOf(w words, f metadata.Finding) finding {
	edge := class(string(f.Severity))
	if f.Status == metadata.Fixed {
		edge = class(string(f.Status))
	}
	return finding{
		Class:    edge,
		Severity: badge{class(string(f.Severity)), w.word("severities", string(f.Severity))},
		Change:   badge{class(string(f.Status)), w.word("changes", string(f.Status))},
		ID:       line(f.ID, 60), Title: line(f.Title, 300), Place: line(view.Place(f), 300),
		Problem: paragraph(f.Problem), Impact: paragraph(f.Impact), Solution: paragraph(f.Solution),
	}
}

// check is how a command of a phase ended at its newest run.
type check struct {
	Phase, Run, Took, Exit string
	Result                 badge
	Output                 string
}

func checksOf(w words, rows []view.Row) []check {
	var all []check
	for _, r := range rows {
		if r.Rec.Checks == nil {
			continue
		}
		for _, c := range r.Rec.Checks.Results {
			result := metadata.Fail
			if c.Pass {
				result = metadata.Pass
			}
			all = append(all, check{
				Phase: line(r.Title, 60), Run: line(c.Run, 500),
				Took: text.Duration(time.Duration(c.DurationMS) * time.Millisecond), Exit: line(view.CheckLine(w.Catalogue, c), 300),
				Result: badge{class(string(result)), w.word("verdicts", string(result))}, Output: ending(c.Output),
			})
		}
	}
	return all
}
