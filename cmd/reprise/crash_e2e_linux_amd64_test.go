//go:build e2e

package main

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

// sparse leaves out steps, for a campaign that ends within minutes and still sees every kind of blow.
var sparse = flag.Int("sparse", 1, "strike at one of so many steps only, beginning with -first")

// firstStep is the one to begin with: each campaign may see others.
var firstStep = flag.Int("first", 1, "with -sparse, the first step to strike at")

// Every step, in every way.
func TestKilledAtEveryStep(t *testing.T)        { bearAll(t, "kill", 1) }
func TestKilledAtEveryStepWithGit(t *testing.T) { bearAll(t, "kill-all", 1) }
func TestToldToStopAtEveryStep(t *testing.T)    { bearAll(t, "term", 1) }

// The same for a squash, after which the run is taken back.
func TestKilledAtEveryStepBeforeARollback(t *testing.T) {
	const together = 2
	for part := range together {
		t.Run(fmt.Sprintf("part %d", part+1), func(t *testing.T) {
			t.Parallel()
			sc, n := newScene(t), 0
			for at := *firstStep + part**sparse; sc.backAfterSquash("kill-all", at); at += together * *sparse {
				n++
			}
			t.Logf("%d steps", n)
		})
	}
}

// The same for a run with two parts at work.
func TestLanesKilledAtEveryStep(t *testing.T)        { bearEach(t, newLaneScene, "kill", 1) }
func TestLanesKilledAtEveryStepWithGit(t *testing.T) { bearEach(t, newLaneScene, "kill-all", 1) }
func TestLanesToldToStopAtEveryStep(t *testing.T)    { bearEach(t, newLaneScene, "term", 1) }

// A disk that fails once, or from there on.
func TestDiskFullAtEveryStep(t *testing.T)              { bearAll(t, "ENOSPC", 1) }
func TestDiskFullFromEveryStep(t *testing.T)            { bearAll(t, "ENOSPC+", 1) }
func TestDiskBrokenAtEveryStep(t *testing.T)            { bearAll(t, "EIO", 1) }
func TestFolderReadOnlyFromEveryTenthStep(t *testing.T) { bearAll(t, "EROFS+", 10) }

// The same for a job.
func TestJobKilledAtEveryStep(t *testing.T)        { bearJobs(t, "kill", 1) }
func TestJobKilledAtEveryStepWithGit(t *testing.T) { bearJobs(t, "kill-all", 1) }
func TestJobToldToStopAtEveryStep(t *testing.T)    { bearJobs(t, "term", 1) }
func TestJobDiskFullFromEveryStep(t *testing.T)    { bearJobs(t, "ENOSPC+", 1) }

// Every git command, in every way.
func TestGitGoesWrongAtEveryCommand(t *testing.T) {
	for _, how := range []string{"fails", "dies", "lost"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			sc, began, n := newScene(t), time.Now(), 0
			for _, d := range sc.turns {
				for at := *firstStep; sc.bearGit(d, how, at, ""); at += *sparse {
					n++
				}
			}
			t.Logf("%d git commands in %v", n, time.Since(began))
		})
	}
}

// bearAll strikes at every nth step of every turn of the usual scene.
func bearAll(t *testing.T, what string, every int) {
	t.Helper()
	bearEach(t, newScene, what, every)
}

// bearEach strikes at every nth step of every turn, in two scenes at once.
func bearEach(t *testing.T, prepare func(*testing.T) *scene, what string, every int) {
	t.Helper()
	const together = 2
	every *= *sparse
	for part := range together {
		t.Run(fmt.Sprintf("part %d", part+1), func(t *testing.T) {
			t.Parallel()
			sc, began, n := prepare(t), time.Now(), 0
			for _, d := range sc.turns {
				at := *firstStep + part*every
				for ; sc.bear(d, what, at); at += together * every {
					n++
				}
			}
			t.Logf("%d steps in %v", n, time.Since(began))
		})
	}
}

// bearJobs strikes at every nth step of a job, in two jobs at once.
func bearJobs(t *testing.T, what string, every int) {
	t.Helper()
	const together = 2
	every *= *sparse
	for part := range together {
		t.Run(fmt.Sprintf("part %d", part+1), func(t *testing.T) {
			t.Parallel()
			began, n := time.Now(), 0
			for at, more := *firstStep+part*every, true; more; at += together * every {
				t.Run(fmt.Sprint("step ", at), func(t *testing.T) { more = bearJob(t, what, at) })
				n++
			}
			t.Logf("%d steps in %v", n-1, time.Since(began))
		})
	}
}
