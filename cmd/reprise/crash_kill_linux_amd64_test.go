//go:build slow || e2e

package main

import (
	"testing"
)

// Struck at any step the system can see, killed or told to stop, or with a disk
// or a git command that fails, the program leaves what tells the truth. Going on from there
// comes to what it would have come to undisturbed, and does nothing twice.
func TestKilledAtSomeSteps(t *testing.T) {
	t.Parallel()
	sc := newScene(t)
	run, rollback, again, update := sc.turns[0], sc.turns[1], sc.turns[2], sc.turns[3]
	conflict, mend, squash := sc.turns[5], sc.turns[6], sc.turns[7]
	for i, b := range []struct {
		turn *turn
		what string
		at   int
	}{
		{run, "kill", 160},
		{run, "ENOSPC+", 250},
		{rollback, "kill", 100},
		{again, "kill-all", 300},
		{mend, "kill-all", 120},
		{squash, "kill-all", 60},
	} {
		if raced && i%3 > 0 {
			continue // there is little for the race detector in this, and it costs much
		}
		if !sc.bear(b.turn, b.what, b.at) {
			t.Errorf("%s has fewer than %d steps", b.turn.name, b.at)
		}
	}
	for i, b := range []struct {
		turn *turn
		how  string
		at   int
		text string
	}{
		{run, "fails", 1, "rev-parse"},
		{run, "lost", 5, " push "},
		{rollback, "fails", 1, "+refs/reprise/records/"},
		{again, "lost", 1, " push "},
		{update, "fails", 2, "+refs/heads/main:"},
		{conflict, "fails", 1, "cat-file --batch-check"},
		{squash, "fails", 1, "merge-base"},
		{squash, "dies", 2, " push "},
	} {
		if raced && i > 0 {
			continue
		}
		if !sc.bearGit(b.turn, b.how, b.at, b.text) {
			t.Errorf("%s has fewer than %d git commands with %q", b.turn.name, b.at, b.text)
		}
	}
}

// The same for a job: what it is to leave on the forge is there, and once.
func TestJobKilledAtSomeSteps(t *testing.T) {
	t.Parallel()
	for what, at := range map[string]int{"kill": 240, "term": 106} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if !bearJob(t, what, at) {
				t.Errorf("it has fewer than %d steps", at)
			}
		})
	}
}
