package phases

import (
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

// The round before left the blocker F1 open. What becomes of it and of the verdict is
// decided by what the review says of it, by the gate and by the reviewer's word: in the
// first two rounds, and from the third one on.
func TestConclude(t *testing.T) {
	const (
		pass, suggests, fail = metadata.Pass, metadata.PassWithSuggestions, metadata.Fail
		open, fixed          = metadata.StillOpen, metadata.Fixed
	)
	type end struct {
		verdict metadata.Ruling
		f1      metadata.FindingStatus
	}
	f1 := metadata.Finding{ID: "F1", Severity: metadata.Blocker, Title: "It loses data.", Status: metadata.NewFinding}
	as := func(severity metadata.Severity, status metadata.FindingStatus) []metadata.Finding {
		f := f1
		f.Severity, f.Status = severity, status
		return []metadata.Finding{f}
	}
	restated, mended, milder := as(metadata.Blocker, open), as(metadata.Blocker, fixed), as(metadata.Suggestion, open)
	for _, tt := range []struct {
		name        string
		says        []metadata.Finding
		gate        bool
		word        metadata.Ruling
		early, late end
	}{
		{"restated", restated, true, pass, end{fail, open}, end{fail, open}},
		{"restated", restated, true, fail, end{fail, open}, end{fail, open}},
		{"restated", restated, false, pass, end{fail, open}, end{fail, open}},
		{"restated", restated, false, fail, end{fail, open}, end{fail, open}},
		{"left out", nil, true, pass, end{pass, fixed}, end{pass, fixed}},
		{"left out", nil, true, fail, end{fail, open}, end{fail, open}},
		{"left out", nil, false, pass, end{fail, open}, end{fail, open}},
		{"left out", nil, false, fail, end{fail, open}, end{fail, open}},
		{"fixed", mended, true, pass, end{pass, fixed}, end{pass, fixed}},
		{"fixed", mended, true, fail, end{pass, fixed}, end{pass, fixed}}, // see baseless
		{"fixed", mended, false, pass, end{fail, fixed}, end{suggests, fixed}},
		{"fixed", mended, false, fail, end{fail, fixed}, end{suggests, fixed}},
		{"a suggestion", milder, true, pass, end{suggests, open}, end{suggests, open}},
		{"a suggestion", milder, true, fail, end{suggests, open}, end{suggests, open}},
		{"a suggestion", milder, false, pass, end{fail, open}, end{suggests, open}},
		{"a suggestion", milder, false, fail, end{fail, open}, end{suggests, open}},
	} {
		for round := range 5 {
			want := tt.early
			if round >= 2 {
				want = tt.late
			}
			words := []metadata.Ruling{tt.word}
			if tt.word == pass {
				words = append(words, suggests) // is no other word for this
			}
			for _, word := range words {
				check := func(what string, findings []metadata.Finding, checksPass bool, want end) {
					t.Helper()
					v := metadata.Verdict{Verdict: word, Gates: []metadata.Gate{{Gate: "g", Pass: tt.gate}}, Findings: findings}
					before := &metadata.Verdict{Verdict: fail, Findings: []metadata.Finding{f1}}
					v = ConcludeVerdict(v, before, round, checksPass)
					if got := (end{v.Verdict, v.Findings[indexOfVerdict(v, "F1")].Status}); got != want {
						t.Errorf("F1 %s, gate %v, %s in round %d%s: %v, want %v", tt.name, tt.gate, word, round+1, what, got, want)
					}
				}
				check("", tt.says, true, want)
				// Whatever else holds the work up, F1 is fixed only if the review says so.
				held := end{fail, want.f1}
				if tt.says == nil {
					held.f1 = open
				}
				check(", a check failed", tt.says, false, held)
				another := metadata.Finding{ID: "F2", Severity: metadata.Blocker, Status: metadata.NewFinding}
				check(", another blocker", append([]metadata.Finding{another}, tt.says...), true, held)
			}
		}
	}
}

// What is not open any more, and what never was a blocker, does not come back.
func TestConcludeLeavesTheRest(t *testing.T) {
	before := &metadata.Verdict{Findings: []metadata.Finding{
		{ID: "F1", Severity: metadata.Blocker, Status: metadata.Fixed}, {ID: "F2", Severity: metadata.Suggestion, Status: metadata.NewFinding},
	}}
	v := metadata.Verdict{Verdict: metadata.Fail, Gates: []metadata.Gate{{Gate: "g"}}}
	if got := ConcludeVerdict(v, before, 2, true); got.Verdict != metadata.PassWithSuggestions || len(got.Findings) > 0 {
		t.Errorf("a gate of taste in the third round: %+v", got)
	}
}

func indexOfVerdict(v metadata.Verdict, id string) int {
	for i, f := range v.Findings {
		if f.ID == id {
			return i
		}
	}
	return -1
}
