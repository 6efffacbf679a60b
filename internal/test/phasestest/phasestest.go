// Package phasestest has what the tests of the loop and of its decisions begin
// with: a small pipeline, the record of a run of it, and what must hold of
// every record.
package phasestest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Start is when the runs of tests begin.
var Start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// step is a step of an agent with a minute of time.
func step(agent string) pipelines.Step {
	return pipelines.Step{Agent: agent, Timeout: pipelines.Duration(time.Minute), Idle: pipelines.Duration(time.Minute)}
}

// Plan is a pipeline of three phases. The second one may change the tree and
// has a check.
func Plan() *pipelines.Pipeline {
	retry := pipelines.Retry{Max: 2, Initial: pipelines.Duration(time.Second), Factor: 2, Cap: pipelines.Duration(time.Minute)}
	phase := func(i int, name string) pipelines.Phase {
		return pipelines.Phase{
			Name: name, Goal: "do " + name, Folder: fmt.Sprintf("%02d_%s", i, name), Writes: name + ".md",
			Access: pipelines.AccessArtifacts, Gates: []string{"It is right."}, Revisions: 3, Retry: retry,
			Execute: step("writer"), Review: step("reviewer"), Revise: step("writer"),
		}
	}
	plan := &pipelines.Pipeline{
		Name: "test", Language: "en",
		Agents: map[string]pipelines.Agent{"writer": {Use: "claude", Fallback: "second"}, "second": {Use: "codex"}, "reviewer": {Use: "codex"}},
		Phases: []pipelines.Phase{phase(0, "plan"), phase(1, "code"), phase(2, "tell")},
	}
	plan.Phases[1].Access = pipelines.AccessTree
	plan.Phases[1].Checks = []pipelines.Check{{Name: "unit", Run: "true"}}
	return plan
}

// Run is what is known of a run of Plan before its first phase, as
// phases.Fresh takes it.
func Run() metadata.Run {
	none := "sha256:" + strings.Repeat("0", 64)
	return metadata.Run{
		IssueNumber: "7", IssueTitle: "T", BranchName: "reprise/issue-7", BaseCommit: strings.Repeat("a", 40),
		Language: "en", WorkflowVersion: "test", Pipeline: metadata.Pipeline{Name: "test", Digest: none, Definition: none, Source: "builtin:test"},
		Execution: metadata.Execution{ID: "run"},
	}
}

// Tester is what *testing.T and *rapid.T have in common here.
type Tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// CheckLegal fails the test unless next is a valid record, and one that may
// follow old.
func CheckLegal(t Tester, old, next metadata.Run) {
	t.Helper()
	if err := next.Check(); err != nil {
		t.Fatalf("the record is not valid: %v", err)
	}
	if err := metadata.CheckNext(old, next); err != nil {
		t.Fatalf("the transition is not legal: %v", err)
	}
}

// Blocker is a new finding of a review that the work cannot pass with.
func Blocker(id string) metadata.Finding {
	return metadata.Finding{ID: id, Severity: metadata.Blocker, Title: id, Status: metadata.NewFinding}
}

// AnyReport is the schema of a report with all that an agent may ask for.
const AnyReport = `{"type":"object","properties":{"high":{},"decision":{},"reason":{},"questions":{},"tasks":{},"depends_on":{},"abort":{},"rollback":{},"children":{}}}`

// AskingFor is a report that asks for issues with these titles.
func AskingFor(t *testing.T, titles ...string) json.RawMessage {
	t.Helper()
	all := []map[string]string{}
	for _, title := range titles {
		all = append(all, map[string]string{"title": title, "body": "Why " + title})
	}
	data, err := json.Marshal(map[string]any{"children": all})
	testenv.Must(t, err)
	return data
}

// Titles are those of children, with the phase that asked for each; an opened
// one has a mark.
func Titles(all []metadata.Child) string {
	var out []string
	for _, c := range all {
		out = append(out, c.Phase+" "+c.Title+map[bool]string{true: "!"}[c.Opened()])
	}
	return strings.Join(out, ", ")
}
