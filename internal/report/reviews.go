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
	Earlier  earlier
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
func reviewsOf(w words, f Facts, rows []view.Row) []review {
	var all []review
	for _, r := range rows {
		one := review{Phase: line(r.Title, 60), Earlier: earlierOf(w, f, r.Rec)}
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
		if len(one.Gates)+len(one.Findings)+len(one.Reverted)+len(one.Earlier.Raised) > 0 {
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

// mostEarlier is how many findings of earlier reviews are shown of a phase.
const mostEarlier = 50

// mention is one review that had a finding.
type mention struct {
	N      int // of the attempt
	Change string
}

// raised is a finding of an earlier review, with what became of it.
type raised struct {
	finding
	Became   badge
	Mentions []mention
}

// earlier are the findings of a phase that its newest review does not have any more.
type earlier struct {
	Title  string
	Raised []raised
	Left   string // how many are left out
}

// earlierOf gives what earlier reviews of a phase have found. A finding keeps its id until
// it is fixed, or the work that it was about is replaced.
func earlierOf(w words, f Facts, rec metadata.Phase) earlier {
	type key struct {
		generation int
		id         string
	}
	type trail struct {
		finding  metadata.Finding
		mentions []mention
	}
	of, order := map[key]*trail{}, []key(nil)
	for _, a := range f.Run.Attempts {
		v, known := f.Verdicts[a.N]
		if !known || a.Phase != rec.Name {
			continue
		}
		for _, one := range v.Findings {
			k := key{a.Generation, one.ID}
			if of[k] == nil {
				of[k], order = &trail{}, append(order, k)
			}
			of[k].finding = one
			of[k].mentions = append(of[k].mentions, mention{a.N, w.word("changes", string(one.Status))})
		}
	}
	now := map[string]bool{}
	if rec.Verdict != nil {
		for _, one := range rec.Verdict.Findings {
			now[one.ID] = true
		}
	}
	var e earlier
	n, left := 0, 0
	for _, k := range order {
		t := of[k]
		void := k.generation < rec.Generation
		if !void && now[k.id] {
			continue // it is shown above
		}
		if n++; n > mostEarlier {
			left++
			continue
		}
		e.Raised = append(e.Raised, raised{findingOf(w, t.finding), becameOf(w, t.finding, void), t.mentions})
	}
	if n > 0 {
		e.Title = w.Shown("page earlier", "n", n)
	}
	if left > 0 {
		e.Left = w.Shown("page earlier cut", "n", left)
	}
	return e
}

// becameOf says what became of a finding that the newest review does not have.
func becameOf(w words, f metadata.Finding, void bool) badge {
	switch {
	case f.Status == metadata.Fixed:
		return badge{class(string(metadata.Fixed)), w.word("changes", string(metadata.Fixed))}
	case void:
		return badge{"none", w.Shown("page earlier void")}
	}
	return badge{"none", w.Shown("page earlier gone")}
}

// check is how a command of a phase ended at its newest run.
type check struct {
	Phase, Name, Run, Took, Exit string
	Result                       badge
	Output                       string
}

func checksOf(w words, rows []view.Row) []check {
	var all []check
	for _, r := range rows {
		if r.Rec.Checks == nil {
			continue
		}
		for _, c := range r.Rec.Checks.Results {
			result, exit := metadata.Fail, w.Shown("page exit", "code", c.ExitCode)
			switch {
			case c.Pass:
				result = metadata.Pass
			case c.FailsBefore:
				exit = w.Shown("page exit before", "code", c.ExitCode)
			}
			all = append(all, check{
				Phase: line(r.Title, 60), Name: line(c.Name, 100), Run: line(c.Run, 500),
				Took: text.Duration(time.Duration(c.DurationMS) * time.Millisecond), Exit: exit,
				Result: badge{class(string(result)), w.word("verdicts", string(result))}, Output: ending(c.Output),
			})
		}
	}
	return all
}
