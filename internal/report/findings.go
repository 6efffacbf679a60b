package report

import (
	"github.com/reprise-ci/reprise/metadata"
)

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
			of[k].mentions = append(of[k].mentions, mention{a.N, wordFor(w.Changes, string(one.Status))})
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
		return badge{class(string(metadata.Fixed)), wordFor(w.Changes, string(metadata.Fixed))}
	case void:
		return badge{"none", w.Shown("page earlier void")}
	}
	return badge{"none", w.Shown("page earlier gone")}
}
