package bot

import (
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// A checkout brings none of the records that are kept by name: the ten newest are asked
// for, but for the run's own and what is known.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	in := func(args ...string) {
		t.Helper()
		if _, err := testenv.Git(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	in("init", "-q", "-b", "main")
	run := progresstest.Plays(t, "en")["completed"].Run
	for n := range 15 {
		id := strconv.Itoa(n + 1)
		run.IssueNumber = id
		data, err := metadata.Format(run)
		if err != nil {
			t.Fatal(err)
		}
		if id == "14" { // one that cannot be read
			data = []byte("{")
		}
		if err := testenv.PutText(filepath.Join(dir, phases.RecordFile(id)), string(data)); err != nil {
			t.Fatal(err)
		}
		in("add", ".")
		in("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false", "commit", "-qm", "kept")
		in("update-ref", git.KeptRefs+phases.RecordName(id), "HEAD")
	}
	s := githubtest.New(t)
	s.AddToken("t", "ada")
	s.AddRepository("acme/widget", false)
	s.Permit("acme/widget", "ada", "write")
	s.Bare("acme/widget", filepath.Join(dir, ".git"))
	gh, err := github.New(github.Options{Token: "t", APIURL: s.URL, UserAgent: "reprise/test", HTTP: &http.Client{Timeout: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range kept(t.Context(), gh, "acme", "widget", metadata.Run{IssueNumber: "15"}, []metadata.Run{{IssueNumber: "12"}}) {
		ids = append(ids, r.IssueNumber)
	}
	if want := strings.Fields("13 11 10 9 8 7 6 5 4"); !slices.Equal(ids, want) {
		t.Errorf("kept are %q, want %q", ids, want)
	}
	if all := kept(t.Context(), gh, "acme", "none", run, nil); len(all) > 0 {
		t.Errorf("where there is no repository there are %d", len(all))
	}
}
