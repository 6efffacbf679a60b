package eval

import (
	"testing"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

func TestIsTest(t *testing.T) {
	for name, want := range map[string]bool{
		"a_test.go": true, "x/test_a.py": true, "a_test.py": true, "a.test.js": true, "a.spec.tsx": true, "tests/a.rs": true, "src/test/A.java": true,
		"ATest.java": true, "a_spec.rb": true, "x/testdata/y": true, "__tests__/a.js": true,
		"a.go": false, "latest.go": false, "contest/a.go": false, "protest.py": false, "test.go": false, "a.js": false, "testing.md": false,
	} {
		if got := isTest(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A review that has missed something is expected to find it, where people have said it was.
func TestWhatIsExpectedOfACall(t *testing.T) {
	at := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
	review := func(n int, said metadata.Ruling, minutes int) metadata.Attempt {
		ended := at.Add(time.Duration(minutes) * time.Minute)
		return metadata.Attempt{N: n, Phase: "work", Step: metadata.Review, Status: metadata.Succeeded, Verdict: said, EndedAt: &ended}
	}
	on := func(file string) metadata.ReviewComment {
		return metadata.ReviewComment{Finding: metadata.Finding{Title: "x", File: file}}
	}
	run := metadata.Run{
		IssueNumber: "7",
		Attempts:    []metadata.Attempt{{N: 1, Phase: "work", Step: metadata.Execute, Status: metadata.Succeeded}, review(2, metadata.Pass, 0), review(3, metadata.Pass, 20)},
		Reviews:     []metadata.PullReview{{Phase: "work", At: at.Add(10 * time.Minute), Comments: []metadata.ReviewComment{on("b.go"), on(`odd "\(x)".go`), on("b.go"), on("")}}},
	}
	for n, want := range map[int]string{
		2: `{verdicts: "work": "fail", findings: files: "b.go": >=1, findings: files: "odd \"\\(x)\".go": >=1}`,
		3: `{verdicts: "work": "pass"}`,
	} {
		if got := expectationOf(run, run.Attempts[n-1]); got != want {
			t.Errorf("attempt %d: %s, want %s", n, got, want)
		}
	}
}
