//go:build slow || e2e

package main

import (
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

var taskKills = flag.Int("task-kills", 25, "in TestTasksKilled, kill so many processes")

// tasks are the parts of the pipeline of newTasks.
var tasks = []string{"build.t1", "build.t2", "build.t3", "build.t4"}

// newTasks is a stand whose pipeline writes its code in four parts, and which has four clones
// besides the project. The pipeline is on the default branch, so that every clone knows it.
func newTasks(t *testing.T) *stand {
	t.Helper()
	s := newStand(t, map[string]string{".github/reprise/pipelines/own.cue": strings.NewReplacer(`"sh", "AGENT"`, `"worker"`, "cat part-*", "! ls half-* 2>&-").Replace(eightLanes)})
	s.write("bin/worker", "#!/bin/sh\n"+strings.Replace(eightAgent, "1 2 3 4 5 6 7 8", "1 2 3 4", 1))
	testenv.Must(t, os.Chmod(s.path("bin/worker"), 0o755))
	for _, clone := range []string{"one", "two", "three", "four"} {
		testenv.MustGit(t, s.dir, "clone", "--quiet", "origin.git", clone)
	}
	return s
}

// begin starts the run up to where its parts are left to tasks, or with another flag.
func (s *stand) begin(how ...string) {
	s.t.Helper()
	s.run(exit.Done, append([]string{"run", "--issue-file", "../7.md", "--pipeline", "own", "--sandbox", "off"}, how...)...)
}

// chance starts the program with arguments and, most times, kills it at a random moment: alone, or with all that it
// has started. It reports whether it was.
func (s *stand) chance(kills *atomic.Int64, args ...string) (l *life, killed bool) {
	l = s.start(append(args, "--issue", "7", "--sandbox", "off")...)
	if rand.IntN(4) > 0 {
		select {
		case <-l.over:
		case <-time.After(time.Duration(rand.IntN(800)) * time.Millisecond):
			l.kill(rand.IntN(2) == 0)
		}
	}
	if killed = l.code() < 0; killed {
		kills.Add(1)
	}
	return l, killed
}

// anyClone is one of the clones.
func anyClone() string { return []string{"../one", "../two", "../three", "../four"}[rand.IntN(4)] }

// Tasks and whoever joins them are killed at any moment and started again, mostly in another clone; some tasks are given
// up, some done twice at once, and some joined before they are over. All comes to what one process comes to.
func TestTasksKilled(t *testing.T) {
	t.Parallel()
	alone := newTasks(t)
	alone.begin("--push", "--jobs", "1")
	want := alone.tree("--full-tree")
	var kills atomic.Int64
	for round := 1; kills.Load() < int64(*taskKills); round++ {
		s := newTasks(t)
		s.begin("--fan-out")
		early := rand.IntN(4) == 0
		var all sync.WaitGroup
		for _, part := range tasks {
			for range 1 + rand.IntN(8)/7 {
				all.Go(func() {
					for range 1 + rand.IntN(4) {
						l, killed := s.chance(&kills, "task", part, "--repo", anyClone())
						said := l.said.String()
						if code := l.code(); code > 0 && !strings.Contains(said, "was changed there meanwhile") && !strings.Contains(said, "another process works on this run") {
							t.Errorf("round %d: the task of %s ends with %d:\n%s", round, part, code, said)
						}
						if !killed {
							return
						}
					}
				})
			}
		}
		if early {
			time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		} else {
			all.Wait()
		}
		clone, said := anyClone(), ""
		for {
			l, killed := s.chance(&kills, "join", "--repo", clone)
			if said += l.said.String(); !killed {
				break
			}
		}
		all.Wait()
		s.run(exit.Done, "join", "--repo", clone, "--issue", "7", "--sandbox", "off") // it takes what came late
		run, did := s.holds("7"), map[string]int{}
		if run.Status != metadata.Completed {
			t.Fatalf("round %d: the run is %s: %+v\n%s", round, run.Status, run.Stop, said)
		}
		for _, a := range run.Attempts {
			if a.Status == metadata.Succeeded {
				did[a.Phase+" "+string(a.Step)]++
			}
			if a.EndedAt == nil {
				t.Errorf("round %d: attempt %d has no end: %+v", round, a.N, a)
			}
		}
		for _, part := range tasks {
			if rec := run.Phase(part); rec.Status != metadata.PhaseCompleted || rec.Lane != nil || did[part+" execute"] != 1 || did[part+" review"] != 1 {
				t.Errorf("round %d: %s is %s, in the lane %+v, after %v", round, part, rec.Status, rec.Lane, did)
			}
		}
		if got := s.tree("--full-tree"); got != want {
			t.Errorf("round %d: it comes to %s\none process to %s", round, got, want)
		}
		if left, err := testenv.Git(s.path("origin.git"), "for-each-ref", "refs/reprise/parts"); err != nil || left != "" {
			t.Errorf("round %d: origin still has of parts: %s (%v)", round, left, err)
		}
		if t.Failed() {
			t.Fatalf("round %d, the one that joined said:\n%s", round, said)
		}
	}
	t.Logf("%d processes were killed", kills.Load())
}
