package runs

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Runs whose pull requests were merged left their records, in the tree or by name; what is no record is passed
// over, and so is the run itself.
func TestEarlier(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	run := progresstest.Plays(t, "en")["completed"].Run
	for _, id := range []string{"7", "8", "9"} {
		run.IssueNumber = id
		data, err := metadata.Format(run)
		must(err)
		must(testenv.PutText(filepath.Join(dir, phases.RecordFile(id)), string(data)))
	}
	must(testenv.PutText(filepath.Join(dir, phases.RecordFile("10")), "{"))
	must(testenv.PutText(filepath.Join(dir, ".reprise/other/metadata.json"), "{"))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-qm", "merged"}} {
		_, err := testenv.Git(dir, args...)
		must(err)
	}
	// What a run has taken off its branch is in no branch, and kept by name.
	for _, id := range []string{"3", "12"} {
		run.IssueNumber = id
		data, err := metadata.Format(run)
		must(err)
		must(testenv.PutText(filepath.Join(dir, phases.RecordFile(id)), string(data)))
		for _, args := range [][]string{
			{"checkout", "-q", "--detach", "main"},
			{"add", "."},
			{"commit", "-qm", "kept"},
			{"update-ref", git.KeptRefs + phases.RecordName(id), "HEAD"},
			{"checkout", "-q", "main"},
		} {
			_, err := testenv.Git(dir, args...)
			must(err)
		}
	}
	src, err := git.Find(t.Context(), dir)
	must(err)
	at := metadata.Run{IssueNumber: "9", BaseCommit: src.Head}
	var ids []string
	for _, r := range Earlier(t.Context(), src, at) {
		ids = append(ids, r.IssueNumber)
	}
	if want := []string{"12", "8", "7", "3"}; !slices.Equal(ids, want) {
		t.Errorf("the runs before are of %q, want %q", ids, want)
	}
	at.BaseCommit = ""
	if all := Earlier(t.Context(), src, at); len(all) != 2 {
		t.Errorf("from no commit there are %d, want the two that are kept", len(all))
	}
}
