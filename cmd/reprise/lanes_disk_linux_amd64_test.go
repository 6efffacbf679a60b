//go:build slow || e2e

package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
)

// Where the disk is full for one write in the tree of a part, or from there on for all, the
// run says so. What has been done by then is not lost, and the next start goes on from it.
func TestLanesDiskFull(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"ENOSPC", "ENOSPC+"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for at, begun := 900, false; !begun; at += 300 {
				s := newLanes(t)
				s.write("home/go-on", "")
				over := s.strikes(what, at)
				b := over(s.start("run", "--issue-file", "../7.md", "--pipeline", "../own.cue", "--push", "--sandbox", "off"))
				if b.hit == 0 {
					t.Fatal("it is over before a part has begun")
				}
				if begun = strings.Contains(b.said, "build.t1"); !begun {
					continue
				}
				if b.code != exit.Done && (b.code != exit.Failed || !strings.Contains(b.said, syscallError(what))) {
					t.Errorf("%s: exit code %d\n%s", b.where(), b.code, b.said)
				}
				s.run(exit.Done, "run", "--issue", "7", "--sandbox", "off")
				lanesDone(s)
			}
		})
	}
}
