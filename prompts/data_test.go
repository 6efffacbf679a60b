package prompts

import "github.com/reprise-ci/reprise/metadata"

const boundary = "b7e1c0ffee5d4a3f92"

// verdictSchema is of the size that a real one has.
const verdictSchema = `{"type":"object","additionalProperties":false,"required":["verdict","gates","findings"],"properties":{"verdict":{"type":"string","enum":["pass","pass_with_suggestions","fail"]},"gates":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["gate","pass","why"],"properties":{"gate":{"type":"string"},"pass":{"type":"boolean"},"why":{"type":"string"}}}},"findings":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["id","severity","title","problem","impact","solution","file","line","status"],"properties":{"id":{"type":"string"},"severity":{"type":"string","enum":["blocker","suggestion"]},"title":{"type":"string"},"problem":{"type":"string"},"impact":{"type":"string"},"solution":{"type":"string"},"file":{"type":"string"},"line":{"type":"integer"},"status":{"type":"string","enum":["new","still_open","fixed"]}}}}}}`

const reportSchema = `{"type":"object","required":["complexity","files"],"properties":{"complexity":{"type":"string","enum":["low","medium","high"]},"files":{"type":"array","items":{"type":"string"}}}}`

// task is a task of a run under way, for the step, without rollback,
// feedback, diff and schema.
func task(step string) Data {
	d := Data{
		Pipeline: "fix", Phase: "implement", Step: step,
		Goal:     "Fix the cause named in the analysis, with a test that fails before and passes after.",
		Gates:    []string{"Every changed behaviour has a test", "Nothing else changes"},
		Access:   "tree",
		Artifact: "/home/ci/tree/.reprise/issue-7/01_implement/implementation.md",
		Dir:      "/home/ci/tree",
		Base:     "c0ffee5",
		Issue: Issue{
			ID: "7", URL: "https://github.com/octo/hello/issues/7", Title: "Greeting lacks a comma",
			Author: "hana", Labels: []string{"bug", "good first issue"},
			Body: "`hello` prints \"Hello World\".\nExpected: \"Hello, World\".",
			Path: "/home/ci/tree/.reprise/issue-7/issue.md",
		},
		Documents: []Document{{"analyze", "/home/ci/tree/.reprise/issue-7/00_analyze/analysis.md"}},
		Boundary:  boundary,
	}
	if step == "review" {
		d.Access, d.Schema = "read", verdictSchema
	}
	return d
}

func rollback() *Rollback {
	return &Rollback{
		FromPhase: "report", FromStep: "review", By: "hana",
		Reason:       "The API must stay REST.\nDo not add RPC.",
		ReviewResult: ".reprise/issue-7/08_report/review.md",
		Blockers:     2, Suggestions: 1, AffectedTests: []string{"TestGreeting"},
	}
}

func feedback() *Feedback {
	return &Feedback{
		Gates: []metadata.Gate{{Gate: "Every changed behaviour has a test", Why: "greet.go:12 has none"}},
		Findings: []metadata.Finding{{
			ID: "F1", Severity: "blocker", Title: "No test", Problem: "greet.go:12 changed untested",
			Impact: "The comma may get lost again.", Solution: "Add a case to TestGreet.", File: "greet.go", Line: 12, Status: "new",
		}},
		Checks:     []Check{{CheckResult: metadata.CheckResult{Name: "unit", Run: "go test ./...", ExitCode: 1, Output: "--- FAIL: TestGreet"}}},
		Violations: []string{".github/workflows/ci.yml: protected path"},
	}
}

func mustLoad(t interface {
	Helper()
	Fatal(...any)
}, language string,
) *Set {
	t.Helper()
	s, err := Load(nil, language)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func diff() string {
	return "--- a/greet.go\n+++ b/greet.go\n@@ -12 +12 @@\n-Hello World\n+Hello, World\n"
}
