package others

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
)

// TestOf tells of another run no more than an agent can use, and nothing that a
// terminal obeys.
func TestOf(t *testing.T) {
	run := metadata.Run{IssueNumber: "8", IssueTitle: "One\ntwo \x1b" + strings.Repeat("x", 500), Status: metadata.Waiting, CurrentPhase: "design"}
	var files []string
	for i := range 50 {
		run.Tasks = append(run.Tasks, metadata.Task{Title: fmt.Sprint("task ", i)})
		files = append(files, fmt.Sprintf("f%02d.go", i), fmt.Sprintf("f%02d.go", i))
	}
	got := Of(run, files, []string{"f49.go", "g.go"})
	if len(got.Tasks) != mostTasks || len(got.Files) != mostFiles || got.Files[1] != "f01.go" || len(got.Title) > 2*mostText || strings.ContainsAny(got.Title, "\n\x1b") {
		t.Errorf("got %+v", got)
	}
	got.Title, got.Tasks, got.Files = "", nil, nil
	if diff := cmp.Diff(Run{ID: "8", Status: "waiting", Phase: "design", Shared: []string{"f49.go"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
