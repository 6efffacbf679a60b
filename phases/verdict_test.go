package phases

import (
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

// The round before left the blocker F1 open. What becomes of it and of the verdict is
// decided by what the review says of it, by the gate and by the reviewer's word, in every round.
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
		name string
		says []metadata.Finding
		gate bool
		word metadata.Ruling
		want end
	}{
		{"restated", restated, true, pass, end{fail, open}},
		{"restated", restated, true, fail, end{fail, open}},
		{"restated", restated, false, pass, end{fail, open}},
		{"restated", restated, false, fail, end{fail, open}},
		{"left out", nil, true, pass, end{pass, fixed}},
		{"left out", nil, true, fail, end{fail, open}},
		{"left out", nil, false, pass, end{fail, open}},
		{"left out", nil, false, fail, end{fail, open}},
		{"fixed", mended, true, pass, end{pass, fixed}},
		{"fixed", mended, true, fail, end{pass, fixed}},
		{"fixed", mended, false, pass, end{fail, fixed}},
		{"fixed", mended, false, fail, end{fail, fixed}},
		{"a suggestion", milder, true, pass, end{suggests, open}},
		{"a suggestion", milder, true, fail, end{suggests, open}},
		{"a suggestion", milder, false, pass, end{fail, open}},
		{"a suggestion", milder, false, fail, end{fail, open}},
	} {
		words := []metadata.Ruling{tt.word}
		if tt.word == pass {
			words = append(words, suggests) // is no other word for this
		}
		for _, word := range words {
			check := func(what string, findings []metadata.Finding, checksPass bool, want end) {
				t.Helper()
				v := metadata.Verdict{Verdict: word, Gates: []metadata.Gate{{Gate: "g", Pass: tt.gate}}, Findings: findings}
				before := &metadata.Verdict{Verdict: fail, Findings: []metadata.Finding{f1}}
				v = concludeVerdict(v, before, checksPass)
				if got := (end{v.Verdict, v.Findings[indexOfVerdict(v, "F1")].Status}); got != want {
					t.Errorf("F1 %s, gate %v, %s%s: %v, want %v", tt.name, tt.gate, word, what, got, want)
				}
			}
			check("", tt.says, true, tt.want)
			// Whatever else holds the work up, F1 is fixed only if the review says so.
			held := end{fail, tt.want.f1}
			if tt.says == nil {
				held.f1 = open
			}
			check(", a check failed", tt.says, false, held)
			another := metadata.Finding{ID: "F2", Severity: metadata.Blocker, Status: metadata.NewFinding}
			check(", another blocker", append([]metadata.Finding{another}, tt.says...), true, held)
			for _, f := range tt.says { // the same claim under another name
				f.ID, f.Title = "F7", " it loses  data"
				check(", renamed", []metadata.Finding{f}, true, tt.want)
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
	if got := concludeVerdict(v, before, true); got.Verdict != metadata.Fail || len(got.Findings) > 0 {
		t.Errorf("a failed gate: %+v", got)
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
