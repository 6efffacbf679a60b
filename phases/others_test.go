package phases

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// TestSameFiles says it in a line that stays short, whatever others call their files.
func TestSameFiles(t *testing.T) {
	of := func(id string, files ...string) OtherRun {
		return OtherRunOf(metadata.Run{IssueNumber: id}, files, files)
	}
	all := []OtherRun{of("1"), of("2", "a"), of("3", "f1", "f2", "f3", "f4", "f5", "f6", "f7"), of("4", "a\n\x1b[31m @team"), of("5", "a"), of("6", "a"), of("7", "a"), of("8", "a")}
	want := "issue 2 has an open run that changes the same files: a; issue 3 has an open run that changes the same files: f1, f2, f3, f4, f5, and 2 more; "
	got := WhySameFiles(all).In(prompts.Words("en"))
	if !strings.HasPrefix(got, want) || strings.ContainsAny(got, "\n\x1b") || !strings.Contains(got, "issue 6 ") || strings.Contains(got, "issue 7 ") {
		t.Errorf("got %q", got)
	}
	testenv.Is(t, "none changes the same, and it says", WhySameFiles(all[:1]), "")
}

// TestOf tells of another run no more than an agent can use, and nothing that a
// terminal obeys.
func TestOfOthers(t *testing.T) {
	run := metadata.Run{IssueNumber: "8", IssueTitle: "One\ntwo \x1b" + strings.Repeat("x", 500), Status: metadata.Waiting, CurrentPhase: "design"}
	var files []string
	for i := range 50 {
		run.Tasks = append(run.Tasks, metadata.Task{Title: fmt.Sprint("task ", i)})
		files = append(files, fmt.Sprintf("f%02d.go", i), fmt.Sprintf("f%02d.go", i))
	}
	got := OtherRunOf(run, files, []string{"f49.go", "g.go"})
	if len(got.Tasks) != mostTasks || len(got.Files) != mostFiles || got.Files[1] != "f01.go" || len(got.Title) > 2*mostText || strings.ContainsAny(got.Title, "\n\x1b") {
		t.Errorf("got %+v", got)
	}
	got.Title, got.Tasks, got.Files = "", nil, nil
	testenv.Same(t, "the other run", OtherRun{ID: "8", Status: "waiting", Phase: "design", Shared: []string{"f49.go"}}, got)
}
