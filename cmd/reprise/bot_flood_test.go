//go:build slow || e2e

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
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

// Two hundred commands by strangers call no agent and have few roles looked up. Somebody
// with the right whom GitHub calls nobody is heard all the same, also after a newer
// command was taken.
func TestFloodOfCommands(t *testing.T) {
	h := newStage(t, twoSteps)
	h.forge.SetClock(time.Now)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	h.forge.Permit(hubRepo, "pat", "write")
	h.forge.Conceal(hubRepo, "pat")
	calls, since := h.calls(), len(h.forge.Requests())
	h.flood(200, "/cancel")
	h.flood(200, "/rollback plan I do not like it")
	hidden := h.say("pat", "/rollback plan it lacks a list")
	h.comment("ada", "/rollback build it is not short", "REPRISE_LISTEN_EVERY=2s").end(exit.Done).wants("status", "completed")
	if n := h.lookups(since); n > 40 {
		t.Errorf("%d roles were looked up", n)
	}
	if got := strings.TrimPrefix(h.calls(), calls+", "); got != "build revise" {
		t.Errorf("the agent was called for %s", got)
	}
	since = len(h.forge.Requests())
	h.heard(hidden, "pat").end(exit.Done).wants("status", "completed")
	h.heard(hidden, "pat").end(exit.Done).wants("decision", "ignored", "reason-code", "stale_event")
	var by []string
	for _, r := range h.record().RollbackHistory {
		by = append(by, r.By)
	}
	if !slices.Equal(by, []string{"ada", "pat"}) {
		t.Errorf("the run was taken back by %q", by)
	}
	if n := h.lookups(since); n > 70 {
		t.Errorf("%d roles were looked up afterwards", n)
	}
}

// Somebody with the right whom GitHub calls nobody is heard in a crowd in the order of the
// comments if the gate has signed the command. Where it has not and the command's own job is
// dropped, a newer one passes it, and the person is told to give it again, once; strangers
// are told nothing.
func TestFloodAndADroppedJob(t *testing.T) {
	for name, want := range map[string][]string{"signed": {"pat", "ada", "max"}, "not signed": {"ada", "max"}} {
		t.Run(name, func(t *testing.T) {
			h := newStage(t, twoSteps)
			h.forge.SetClock(time.Now)
			h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
			run := h.record()
			run.CreatedAt = run.CreatedAt.Add(-time.Hour)
			h.rewrite(run)
			h.forge.Permit(hubRepo, "pat", "write")
			h.forge.Conceal(hubRepo, "pat")
			earlier := func(by, text string) int64 {
				return h.forge.AddComment(hubRepo, hubIssue, githubtest.Comment{Author: by, Body: text, Created: time.Now().Add(-time.Hour / 2)})
			}
			for i := range 60 {
				earlier(fmt.Sprintf("stranger%d", i), "/rollback plan I do not like it")
			}
			hidden := earlier("pat", "/rollback plan it lacks a list")
			if name == "signed" {
				h.forge.AddReaction(hubRepo, hidden, "github-actions[bot]", "eyes")
			}
			h.heard(earlier("ada", "/rollback plan it is not short"), "ada").end(exit.Done).wants("status", "completed")
			since := len(h.forge.Requests())
			h.comment("max", "/rollback plan it is too short").end(exit.Done).wants("status", "completed")
			if n := h.lookups(since); n > 80 {
				t.Errorf("%d roles were looked up", n)
			}
			h.comment("max", "/pause").end(anyCode)
			origin := h.path("origin.git")
			data, err := testenv.Git(origin, "show", world.RecordAt(origin, "reprise/issue-7")+":.reprise/issue-7/"+metadata.File)
			if err != nil {
				t.Fatal(err)
			}
			jsonOf(t, data, &run) // an audit would see that its beginning was moved
			var by []string
			for _, r := range run.RollbackHistory {
				by = append(by, r.By)
			}
			if !slices.Equal(by, want) {
				t.Errorf("the run was taken back by %q, want %q", by, want)
			}
			if name == "signed" {
				h.signs(hidden, "eyes rocket")
				return
			}
			h.signs(hidden, "confused")
			has(t, "the answer", h.replyTo(hidden), "stale_event", "a newer command was taken first", "give the command again")
			for _, c := range h.forge.Comments(hubRepo, hubIssue) {
				if strings.HasPrefix(c.Author, "stranger") && h.replyTo(c.ID) != "" {
					t.Errorf("%s gets an answer: %s", c.Author, h.replyTo(c.ID))
				}
			}
		})
	}
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
