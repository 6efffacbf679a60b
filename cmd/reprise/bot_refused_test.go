//go:build slow || e2e

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// A refused command says what is wrong and what to do, and leaves the comment
// of a completed run as it is.
func TestRefusedLeavesTheCommentAlone(t *testing.T) {
	h := newStage(t, twoSteps)
	h.comment("ada", "/run").end(exit.Done)
	before := h.ours("progress")[0].Body
	id := h.say("ada", "/rollback biuld because of the cache")
	h.heard(id, "ada").end(exit.Done)
	testenv.Has(t, "the answer", h.replyTo(id), "carried out: there is no phase", "Did you mean build?", "`/status`")
	testenv.Lacks(t, "the answer", h.replyTo(id), "at the very beginning")
	if after := h.ours("progress")[0].Body; after != before {
		t.Errorf("the comment of the run was changed to\n%s", after)
	}
}

// A pipeline that is not there is a mistake in a comment, and no failure.
func TestUnknownPipelineIsAnswered(t *testing.T) {
	h := newStage(t, twoSteps)
	id := h.say("ada", "/run --pipeline featur")
	h.heard(id, "ada").end(exit.Done).wants("decision", "denied", "reason-code", "config_invalid")
	testenv.Has(t, "the answer", h.replyTo(id), "featur", `did you mean "feature"`)
	h.nothing()
}

// A job whose time is over says so, and not that somebody has cancelled it.
func TestTimeOfTheJobIsOver(t *testing.T) {
	t.Parallel()
	s := newArena(t)
	all := []incident{{By: "ada", Text: "/run", Jobs: []assignment{{After: time.Second, fate: fate{Seed: 1}}}}}
	err := s.stage(t, all, func(w *meeting) {
		w.thinks, w.more = 10*time.Minute, []string{"INPUT_TIMEOUT=5m"}
		w.happens(all)
		if stop := w.last.Stop; stop == nil || stop.Code != metadata.TimedOut || w.last.Status != metadata.Interrupted {
			w.fault(nil, "the run is %s: %+v", w.last.Status, stop)
		}
		if log := w.machines[1].log(); !strings.Contains(log, "reason: timed_out") {
			w.fault(nil, "the job says\n%s", log)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// Somebody without the right has the forge asked once in a minute, however
// many comments they write.
func TestReaderIsAskedForOnce(t *testing.T) {
	h := newStage(t, twoSteps)
	h.comment("ada", "/run").end(exit.Done)
	for range 20 {
		h.say("eve", "/rollback plan because I say so")
	}
	mark := len(h.forge.Requests())
	h.comment("ada", "/rollback plan once more").end(exit.Done)
	asked := 0
	for _, r := range h.forge.Requests()[mark:] {
		if strings.Contains(r.Path, "/collaborators/eve/") {
			asked++
		}
	}
	if asked == 0 || asked > 2 {
		t.Errorf("the forge was asked %d times for the role of eve", asked)
	}
}

// What a form has in the place of a command is not taken for nothing.
func TestCommandThatIsNoText(t *testing.T) {
	h := newHub(t)
	payload := h.forge.DispatchPayload(hubRepo, "reprise", "ada", map[string]any{"issue": "7", "command": []any{"/cancel"}})
	h.start("repository_dispatch", "ada", payload).end(anyCode).wants("reason-code", "nothing_done")
	h.nothing()
}

// An event that does not name the default branch lets no other branch run.
func TestBranchOfAnEventWithoutOne(t *testing.T) {
	h := newHub(t)
	id := h.say("ada", "/run")
	payload := strings.ReplaceAll(string(h.forge.CommentPayload(hubRepo, id, "created", "")), `"default_branch":"main"`, `"unknown":"main"`)
	h.start("issue_comment", "ada", []byte(payload), "GITHUB_REF=refs/heads/evil").end(anyCode).wants("decision", "denied", "reason-code", "config_invalid")
	h.nothing()
	h.start("issue_comment", "ada", []byte(payload), "GITHUB_REF=refs/heads/main").end(exit.Done).wants("status", "completed")
}
