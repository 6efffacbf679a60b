//go:build slow || e2e

package main

import (
	"math"
	"strings"
	"testing"
)

// A record outlives a loss of power: each time it is saved, its bytes are on the disk before
// it takes the place of the old one, and then the folder that says so.
func TestRecordsOutliveALossOfPower(t *testing.T) {
	t.Parallel()
	sc := newScene(t)
	d := sc.turns[0]
	sc.copy(d.before, sc.dir)
	over := sc.strikes("count", math.MaxInt32)
	b := over(sc.start(d.args...))
	if b.code != 0 || b.hit != 0 {
		t.Fatalf("exit code %d, hit %d: %s", b.code, b.hit, b.said)
	}
	var steps strings.Builder
	for _, line := range b.log {
		_, name, _ := strings.Cut(line, " ")
		steps.WriteString(name + ", ")
	}
	const saved = "open, write file, chmod, fsync, rename, fsync, "
	calls := 0
	for _, n := range d.calls {
		calls += n
	}
	if n := strings.Count(steps.String(), saved); calls == 0 || n < calls {
		t.Errorf("the record was saved so %d times, and %d agents were called, each after it was saved: %s", n, calls, saved)
	}
}
