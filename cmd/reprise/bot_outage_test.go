//go:build slow || e2e

package main

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
)

// The forge goes down in the middle of a job, and is back when somebody starts
// that again.
func TestForgeGoesDown(t *testing.T) { goDown(t, 12) }

// goDown makes the forge fail at every nth call of a run and of a rollback.
func goDown(t *testing.T, nth int) {
	t.Parallel()
	run, back := undisturbed(t)
	for _, n := range every(nth, len(run)) {
		t.Run(fmt.Sprintf("run, from call %d", n+1), func(t *testing.T) {
			t.Parallel()
			faulty(t).endure(n, "/run")
		})
	}
	for some := range slices.Chunk(every(nth, len(back)), perHub) {
		t.Run(fmt.Sprintf("rollback, from call %d", some[0]+1), func(t *testing.T) {
			t.Parallel()
			a := faulty(t)
			a.lead("/run", "undisturbed")
			for _, n := range some {
				a.endure(n, again)
			}
		})
	}
}

// endure leads a command to its end although the forge only answers so many calls of its first job.
func (a *asked) endure(calls int, text string) {
	a.t.Helper()
	left, down := new(atomic.Int64), githubtest.Status(http.StatusBadGateway, "Server Error")
	left.Store(int64(calls))
	a.forge.FaultWhen(func(githubtest.Request) *githubtest.Fault {
		if left.Add(-1) < 0 {
			return &down
		}
		return nil
	})
	if a.anew = ""; calls%2 == 0 {
		a.anew = text
	}
	a.lead(text, fmt.Sprintf("down from call %d", calls+1))
}
