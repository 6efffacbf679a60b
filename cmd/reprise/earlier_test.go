//go:build slow || e2e

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// A run goes on that the program at d6f04dfc began, pushed and left, with records of
// version 3 in every commit. It sent a phase back by "reject", which is a rollback today.
func TestRunOfAnEarlierProgramGoesOn(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	bundle, err := filepath.Abs("testdata/version-3.bundle")
	testenv.Must(t, err)
	for _, name := range []string{"project", "origin.git"} {
		testenv.Must(t, os.RemoveAll(s.path(name)))
	}
	for _, args := range [][]string{{"clone", "--quiet", "--mirror", bundle, s.path("origin.git")}, {"clone", "--quiet", "--branch", "main", s.path("origin.git"), s.path("project")}} {
		if out, err := testenv.Git(s.dir, args...); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	before := s.holds("7")
	if before.Status != metadata.Running || before.Schema != metadata.Schema {
		t.Fatalf("the run is %s, with version %d of the format", before.Status, before.Schema)
	}
	if said := s.run(exit.Done, "history", "--issue", "7"); !strings.Contains(said, "Say it twice") || strings.Contains(said, "reject") {
		t.Errorf("the history is\n%s", said)
	}
	tip := s.origin("7")
	s.run(exit.Done, "run", "--issue", "7", "--sandbox", "off", "--trust-branch")
	run := s.holds("7", tip)
	if want := done(before) + ", code execute, code check, code review, tell execute, tell review"; run.Status != metadata.Completed || done(run) != want {
		t.Errorf("the run is %s, and has done %s, want %s", run.Status, done(run), want)
	}
	s.run(exit.Done, "rollback", "--issue", "7", "--to-phase", "code", "--reason", "not yet")
	s.run(exit.Done, "run", "--issue", "7", "--sandbox", "off")
	if run := s.holds("7", tip); run.Status != metadata.Completed {
		t.Errorf("after a rollback the run is %s", run.Status)
	}
}
