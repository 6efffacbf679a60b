package workspace

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/progresstest"
	"github.com/reprise-ci/reprise/internal/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// Runs whose pull requests were merged left their records; what is no record is passed
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
		must(testenv.PutText(filepath.Join(dir, RecordFile(id)), string(data)))
	}
	must(testenv.PutText(filepath.Join(dir, RecordFile("10")), "{"))
	must(testenv.PutText(filepath.Join(dir, ".reprise/other/metadata.json"), "{"))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-qm", "merged"}} {
		_, err := testenv.Git(dir, args...)
		must(err)
	}
	src, err := git.Find(t.Context(), dir)
	must(err)
	at := metadata.Run{IssueNumber: "9", BaseCommit: src.Head}
	var ids []string
	for _, r := range Earlier(t.Context(), src, at) {
		ids = append(ids, r.IssueNumber)
	}
	if want := []string{"8", "7"}; !slices.Equal(ids, want) {
		t.Errorf("the runs before are of %q, want %q", ids, want)
	}
	at.BaseCommit = ""
	if all := Earlier(t.Context(), src, at); len(all) > 0 {
		t.Errorf("from no commit there are %d", len(all))
	}
}
