//go:build slow || e2e

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// lookups are how many roles were asked for since a request.
func (h *hub) lookups(since int) int {
	n := 0
	for _, r := range h.forge.Requests()[since:] {
		if strings.HasSuffix(r.Path, "/permission") {
			n++
		}
	}
	return n
}

// flood has as many strangers write a command each.
func (h *hub) flood(n int, text string) {
	for i := range n {
		h.say(fmt.Sprintf("stranger%d", i), text)
	}
}

// Hundreds of commands by strangers call no agent, and each has a role looked up no more than
// twice. Somebody with the right whom GitHub calls nobody is heard among them, in order.
func TestFloodOfCommands(t *testing.T) {
	h := newStage(t, twoSteps)
	h.forge.SetClock(time.Now)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	h.forge.Permit(hubRepo, "pat", "write")
	h.forge.Conceal(hubRepo, "pat")
	calls, since := h.calls(), len(h.forge.Requests())
	h.flood(50, "/cancel")
	h.flood(50, "/rollback plan I do not like it")
	hidden := h.say("pat", "/rollback build it lacks a list")
	h.comment("ada", "/rollback plan it is not short", "REPRISE_LISTEN_EVERY=2s").end(exit.Done).wants("status", "completed")
	if n := h.lookups(since); n > 2*100+10 {
		t.Errorf("%d roles were looked up", n)
	}
	testenv.Is(t, "the agent was called for", strings.TrimPrefix(h.calls(), calls+", "), "plan revise, build execute")
	h.heard(hidden, "pat").end(exit.Done).wants("decision", "ignored", "reason-code", "stale_event")
	var by []string
	for _, r := range h.record().RollbackHistory {
		by = append(by, r.By)
	}
	testenv.Same(t, "the run was taken back by", []string{"pat", "ada"}, by)
}

// Comments of strangers that their own jobs have refused keep nobody waiting.
func TestFloodThatWasRefused(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/build-execute", hangs)
	h.forge.Permit(hubRepo, "pat", "write")
	h.forge.Conceal(hubRepo, "pat")
	j := h.heard(h.say("ada", "/run"), "ada", "REPRISE_LISTEN_EVERY=1s")
	h.await(j.life, "home/working")
	h.flood(100, "/cancel")
	for _, c := range h.forge.Comments(hubRepo, hubIssue) {
		if strings.HasPrefix(c.Author, "stranger") {
			h.forge.AddReaction(hubRepo, c.ID, "github-actions[bot]", "confused")
		}
	}
	since := len(h.forge.Requests())
	cancel := h.forge.AddComment(hubRepo, hubIssue, githubtest.Comment{Author: "pat", Body: "/cancel it is the wrong issue"})
	j.end(exit.Cancelled).wants("status", "cancelled")
	h.signs(cancel, "eyes rocket")
	if n := h.lookups(since); n > 2 {
		t.Errorf("%d roles were looked up", n)
	}
}
