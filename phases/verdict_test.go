package phases

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
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

// From its second review on, a blocker that did not count before has to stand where something has changed, or be proven.
func TestWeighLate(t *testing.T) {
	patch := "diff --git a/main.go b/main.go\n--- a/main.go\n+++ b/main.go\n@@ -10,2 +10,3 @@\n a\n+++ b/other.go\n b\n" +
		"diff --git a/gone.go b/gone.go\n--- a/gone.go\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n" +
		"diff --git a/a.png b/a.png\nBinary files a/a.png and b/a.png differ\n"
	before := &metadata.Verdict{Findings: []metadata.Finding{
		{ID: "F1", Severity: metadata.Blocker, Title: "It loses data", Status: metadata.NewFinding},
		{ID: "F2", Severity: metadata.Blocker, Title: "Late", Status: metadata.NewFinding, Late: metadata.Because("late_unproven")},
		{ID: "F3", Severity: metadata.Suggestion, Title: "Shorter", Status: metadata.NewFinding},
	}}
	phase := &pipelines.Phase{Checks: []pipelines.Check{{Name: "unit", Run: "true", Retries: 3, Timeout: 7, JUnit: []string{"x"}}}}
	for _, tt := range []struct {
		name string
		f    metadata.Finding
		exit int // of its command
		late string
	}{
		{"on a changed line", metadata.Finding{ID: "F9", File: "main.go", Line: 12}, 0, ""},
		{"in a changed file", metadata.Finding{ID: "F9", File: "main.go"}, 0, ""},
		{"in what is gone", metadata.Finding{ID: "F9", File: "gone.go", Line: 2}, 0, ""},
		{"in what is no text", metadata.Finding{ID: "F9", File: "a.png"}, 0, ""},
		{"below a changed line", metadata.Finding{ID: "F9", File: "main.go", Line: 13}, 0, "late_unproven"},
		{"in a file that a line only names", metadata.Finding{ID: "F9", File: "other.go"}, 0, "late_unproven"},
		{"nowhere", metadata.Finding{ID: "F9"}, 0, "late_unproven"},
		{"known", metadata.Finding{ID: "F1"}, 0, ""},
		{"known by its title", metadata.Finding{ID: "F9", Title: "it loses  data."}, 0, ""},
		{"late before", metadata.Finding{ID: "F2"}, 0, "late_unproven"},
		{"a suggestion before", metadata.Finding{ID: "F3"}, 0, "late_unproven"},
		{"fixed", metadata.Finding{ID: "F9", Status: metadata.Fixed}, 0, ""},
		{"a suggestion", metadata.Finding{ID: "F9", Severity: metadata.Suggestion}, 0, ""},
		{"proven", metadata.Finding{ID: "F9", Proof: "go test"}, 1, "late_proven"},
		{"not proven", metadata.Finding{ID: "F9", Proof: "go test"}, 0, "late_passes"},
		{"no program", metadata.Finding{ID: "F9", Proof: "got est"}, 127, "late_not_run"},
		{"no end", metadata.Finding{ID: "F9", Proof: "go test"}, -1, "late_not_run"},
	} {
		if tt.f.Severity == "" {
			tt.f.Severity = metadata.Blocker
		}
		v := &metadata.Verdict{Findings: []metadata.Finding{tt.f}}
		err := WeighLate(phase, before, v, ChangedPlaces(patch), func(c pipelines.Check) (metadata.CheckResult, error) {
			if c.Run != tt.f.Proof || c.Retries > 0 || c.Timeout != 7 || c.JUnit != nil {
				t.Errorf("%s: ran %+v", tt.name, c)
			}
			return metadata.CheckResult{Pass: tt.exit == 0, ExitCode: tt.exit}, nil
		})
		got := v.Findings[0]
		if counts := tt.late == "" || tt.late == metadata.LateProven; err != nil || got.Late.Code() != tt.late || (got.Counts() == metadata.Late) == counts {
			t.Errorf("%s: %q, counts as %s, %v", tt.name, got.Late, got.Counts(), err)
		}
	}
}

// What a reviewer cannot say itself is not taken from it, and its command is one line.
func TestProofsAreChecked(t *testing.T) {
	answer := `{"verdict":"fail","gates":[],"findings":[{"id":"F1","severity":"blocker","title":"t","status":"new","late":"late","proof":"%s"}]}`
	if v, wrong := ParseVerdict([]byte(strings.Replace(answer, "%s", "go test", 1)), nil); len(wrong) > 0 || v.Findings[0].Late != "" {
		t.Errorf("%+v, %v", v, wrong)
	}
	for _, proof := range []string{`a\nb`, `a\u0000b`, strings.Repeat("x", maxProof+1)} {
		if _, wrong := ParseVerdict([]byte(strings.Replace(answer, "%s", proof, 1)), nil); len(wrong) != 1 || wrong[0].Code() != "finding_proof" {
			t.Errorf("%q: %v", proof, wrong)
		}
	}
}
