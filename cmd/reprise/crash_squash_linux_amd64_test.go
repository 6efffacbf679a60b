//go:build slow || e2e

package main

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
)

// A squash that was killed, also between its push and the record of it, is followed by
// another command: that sees what has happened, and nothing of the run is lost.
func TestBackAfterKilledSquash(t *testing.T) {
	t.Parallel()
	if sc := newScene(t); !sc.backAfterSquash("kill-all", 300) {
		t.Error("a squash has fewer than 300 steps")
	}
}

// backAfterSquash strikes at a step of a squash, and takes the run back then. It reports
// whether there was such a step.
func (sc *scene) backAfterSquash(what string, at int) bool {
	sc.t.Helper()
	squash := sc.turns[len(sc.turns)-1]
	sc.copy(squash.before, sc.dir)
	tip, before := sc.origin("7"), sc.holds("7")
	b := sc.strikes(what, at)(sc.start(squash.args...))
	if b.hit == 0 {
		return false
	}
	sc.looks()
	sc.run(0, "rollback", "--issue", "7", "--to-phase", "build", "--reason", "It is not polite.")
	sc.run(0, "run", "--issue", "7", "--sandbox", "off")
	run := sc.holds("7")
	if run.Status != metadata.Completed || len(run.RollbackHistory) != len(before.RollbackHistory)+1 || len(run.Attempts) <= len(before.Attempts) {
		sc.t.Errorf("%s: the run is %s, with %d attempts and the rollbacks %+v\n%s", b.where(), run.Status, len(run.Attempts), run.RollbackHistory, b.said)
	}
	record := world.RecordAt(sc.path("origin.git"), environ.BranchPrefix+"7")
	if _, err := testenv.Git(sc.path("origin.git"), "merge-base", "--is-ancestor", tip, record); err != nil {
		sc.t.Errorf("%s: what the branch was is not in the history of %s: %v\n%s", b.where(), record, err, b.said)
	}
	return true
}
