package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// TestNewestOf takes the runs of the newest issues, and nothing that is no run.
func TestNewestOf(t *testing.T) {
	var all []git.Ref
	for i := range 300 {
		all = append(all, git.Ref{Name: fmt.Sprint("refs/heads/reprise/issue-", i)})
	}
	all = append(all, git.Ref{Name: "refs/heads/reprise/issue-a b"}, git.Ref{Name: "refs/heads/reprise/other"}, git.Ref{Name: git.KeptRefs + "issue-7"})
	some, left := newestOf(all, "refs/heads/reprise/issue-", mostAfar)
	if len(some) != mostAfar || left != 100 || some[0].Name != "refs/heads/reprise/issue-299" || some[mostAfar-1].Name != "refs/heads/reprise/issue-100" {
		t.Errorf("%d are left out of %d: %v", left, len(some), some)
	}
	if some, left := newestOf(all, git.KeptRefs+phases.RecordName(""), mostAfar); len(some) != 1 || left != 0 {
		t.Errorf("records: %v, %d", some, left)
	}
}

// Origin is asked again after a while, nothing is left of what it said, and that it does
// not answer is told once.
func TestAfar(t *testing.T) {
	must := func(err error) {
		t.Helper()
		testenv.Must(t, err)
	}
	dir := t.TempDir()
	in := func(repo string, args ...string) {
		t.Helper()
		_, err := testenv.Git(repo, args...)
		must(err)
	}
	origin, job := filepath.Join(dir, "origin"), filepath.Join(dir, "a job")
	in(dir, "init", "-q", "-b", "main", origin)
	in(origin, "commit", "-q", "--allow-empty", "-m", "begin")
	in(dir, "clone", "-q", "--depth=1", "file://"+origin, job)
	src, err := git.Find(t.Context(), job)
	must(err)
	said, now := &bytes.Buffer{}, time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	env := environ.Env{Stderr: said, Now: func() time.Time { return now }}
	a := otherRunsOf(env, OtherRunsConfig{Source: src, Folder: filepath.Join(dir, "kept", "origin")})
	if err := a.look(t.Context()); a.survey != nil || err != nil {
		t.Errorf("a run that is not pushed has asked origin: %v, %v", a.survey, err)
	}
	a.Push = true
	ids := func() (all []string) {
		t.Helper()
		must(a.look(t.Context()))
		known, err := a.all(t.Context(), nil)
		must(err)
		for _, r := range known {
			all = append(all, r.ID)
		}
		return all
	}
	if got := ids(); len(got) > 0 {
		t.Errorf("there are %v", got)
	}
	in(origin, "branch", "reprise/issue-8")
	if got := ids(); len(got) > 0 {
		t.Errorf("origin was asked again at once: %v", got)
	}
	now = now.Add(afarFor)
	if got := ids(); len(got) != 1 || got[0] != "8" {
		t.Errorf("there are %v", got)
	}
	a.Issue = "8"
	now = now.Add(afarFor)
	if got := ids(); len(got) > 0 {
		t.Errorf("the run's own branch was fetched: %v", got)
	}
	a.RepoDayUSD = 1
	now = now.Add(afarFor)
	if got := ids(); len(got) != 1 {
		t.Errorf("what an earlier run of the issue has spent is not known: %v", got)
	}
	a.Issue, a.RepoDayUSD = "", 0
	now = now.Add(afarFor)
	if got := ids(); len(got) != 1 {
		t.Errorf("there are %v", got)
	}
	in(job, "remote", "set-url", "origin", filepath.Join(dir, "gone"))
	a.Source, err = git.Find(t.Context(), job)
	must(err)
	if _, err := os.Stat(a.Folder); err != nil {
		t.Errorf("what was fetched is not where it should be: %v", err)
	}
	for range 2 {
		now = now.Add(afarFor)
		if got := ids(); len(got) > 0 {
			t.Errorf("there are %v", got)
		}
	}
	if n := strings.Count(said.String(), "of other runs only what is here is known"); n != 1 {
		t.Errorf("said %d times:\n%s", n, said)
	}
	must(testenv.PutText(filepath.Join(a.Folder, "config"), "of a process that was killed"))
	a.Close()
	if _, err := os.Stat(a.Folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it outlives the run: %v", err)
	}
}

func TestNewer(t *testing.T) {
	at := time.Unix(100, 0)
	run := func(id string, revision int, at time.Time) metadata.Run {
		return metadata.Run{Execution: metadata.Execution{ID: id}, Revision: revision, UpdatedAt: at}
	}
	if !Newer(run("a", 2, at), run("a", 1, at.Add(time.Hour))) {
		t.Error("of one run, the record with the higher revision is the newer one")
	}
	if !Newer(run("b", 1, at.Add(time.Hour)), run("a", 9, at)) {
		t.Error("of two runs of an issue, the one that moved last is the newer one")
	}
}
