//go:build slow || e2e

package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// bearJob strikes at one step of a job that a comment has started, has the job
// started again, and holds everything against what must be so. It reports
// whether there was such a step.
func bearJob(t *testing.T, what string, at int) bool {
	t.Helper()
	h := newFaulty(t)
	id := h.say("ada", "/run")
	over := h.strikes(what, at)
	j := h.heard(id, "ada")
	b := over(j.life)
	if b.hit == 0 {
		return false
	}
	if what == "term" && b.code == exit.Cancelled {
		if j.end(anyCode); b.took > b.most || j.outputs["reason-code"] != "cancelled" {
			t.Errorf("%s: %v, outputs %v", b.where(), b.took, j.outputs)
		}
		if live := h.ours("progress"); len(live) > 0 && h.origin("7") != "" && h.record().Status == "interrupted" {
			testenv.Has(t, "the live comment", live[0].Body, "Interrupted")
		}
	}
	again := h.heard(id, "ada", "GITHUB_RUN_ID=9001", "GITHUB_RUN_ATTEMPT=2").finish()
	problem := h.sound([]int64{id})
	if missing := h.missing(); problem == nil && missing != "" {
		problem = fmt.Errorf("missing: %s", missing)
	}
	if files := h.files(); problem == nil && !slices.Contains(files, "hello.txt") {
		problem = fmt.Errorf("the branch has %q", files)
	}
	if again.code() != exit.Done || problem != nil {
		t.Errorf("%s: exit code %d, %v\n%s\n--- and again:\n%s", b.where(), again.code(), problem, b.said, again.said.String())
	}
	return true
}
