//go:build slow || e2e

package main

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/setup"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// What people wrote before a label or a form asked for a run is not about it.
func TestOldCommandsAreNotObeyed(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.say("ada", "/cancel, dear other bot")
	h.say("ada", "/skip analyze it is for another program")
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Labels = append(is.Labels, "reprise") })
	payload := h.forge.LabelPayload(hubRepo, hubIssue, "reprise", "ada")

	h.inputs["command"] = setup.GateOnly
	h.start("issues", "ada", payload).end(exit.Done).wants("decision", "run")
	if got := h.forge.Labels(hubRepo, hubIssue); !slices.Equal(got, []string{"reprise"}) {
		t.Errorf("the gate leaves the labels %q: a job that is dropped now leaves no trace", got)
	}
	delete(h.inputs, "command")
	h.start("issues", "ada", payload).end(exit.Done).wants("status", "completed")
	if got := h.forge.Labels(hubRepo, hubIssue); len(got) != 0 {
		t.Errorf("the run leaves the labels %q", got)
	}
	if replies := h.ours("reply"); len(replies) != 0 {
		t.Errorf("old comments were answered: %+v", replies)
	}
	for _, d := range h.record().Decisions {
		if d.Step == "cancel" || d.Step == "skip" {
			t.Errorf("an old command was taken: %+v", d)
		}
	}
}

// What was asked of a run before there was one is refused when it begins, and
// not passed over.
func TestTooEarlyIsRefused(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	early := h.say("ada", "/approve")
	denied := h.say("eve", "/approve")
	h.comment("ada", "/run --phases ..analyze").end(exit.Done).wants("status", "completed")
	h.signs(early, "confused")
	testenv.Has(t, "the answer", h.replyTo(early), "stale_event", "there was no run yet")
	if d := h.record().Decisions[0]; d.Comment != early || d.Why.In(prompts.Words("en")) != "refused: there was no run yet" {
		t.Errorf("the first decision is %+v", d)
	}
	h.signs(denied, "")
	if all := h.ours("reply"); len(all) != 1 {
		t.Errorf("the replies are %+v", all)
	}
}

// A command that was denied is not obeyed when its author has the right later.
func TestDeniedIsNotObeyedLater(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.comment("ada", "/run --phases ..analyze").end(exit.Done)
	id := h.say("eve", "/rollback analyze because I say so")
	h.heard(id, "eve").end(exit.Done).wants("reason-code", "permission_denied")
	h.forge.Permit(hubRepo, "eve", "write")
	h.comment("ada", "/rollback analyze because ada says so").end(exit.Done).wants("status", "completed")
	if all := h.record().RollbackHistory; len(all) != 1 || all[0].By != "ada" {
		t.Errorf("the history of rollbacks is %+v", all)
	}
}

// A command that was accepted, and whose job never came to it, is found by the
// next job, however much later that is, and whatever others say of it.
func TestAcceptedCommandIsFoundLater(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	began := time.Now().UTC()
	var later atomic.Int64
	h.forge.SetClock(func() time.Time { return began.Add(time.Duration(later.Load())) })
	h.comment("ada", "/run --phases ..analyze").end(exit.Done)
	later.Add(int64(5 * time.Minute))
	first := h.say("ada", "/rollback analyze the first")
	h.forge.AddReaction(hubRepo, first, "github-actions[bot]", "eyes")
	h.forge.AddReaction(hubRepo, first, "eve", "confused")
	later.Add(int64(3 * time.Hour))
	h.comment("max", "/rollback analyze the second").end(exit.Done).wants("status", "completed")
	var by []string
	for _, r := range h.record().RollbackHistory {
		by = append(by, r.By+" "+r.Reason)
	}
	testenv.Same(t, "taken were", []string{"ada the first", "max the second"}, by)
}

// What a form asks for is done once, also where its job is started again.
func TestFormIsObeyedOnce(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.comment("ada", "/run --phases ..analyze").end(exit.Done)
	payload := h.forge.DispatchPayload(hubRepo, "reprise", "ada", map[string]any{"issue": "7", "command": "/rollback analyze once"})
	h.start("repository_dispatch", "ada", payload, "GITHUB_RUN_ID=77").end(exit.Done).wants("status", "completed")
	h.start("repository_dispatch", "ada", payload, "GITHUB_RUN_ID=77", "GITHUB_RUN_ATTEMPT=2").end(exit.Done)
	if run := h.record(); len(run.RollbackHistory) != 1 || run.Status != metadata.Completed {
		t.Errorf("the run is %s after %+v", run.Status, run.RollbackHistory)
	}
	// A form has no comment to be answered in: the job says that it was refused.
	h.start("repository_dispatch", "ada", h.forge.DispatchPayload(hubRepo, "reprise", "ada", map[string]any{"issue": "7", "command": "/rollback nowhere x"})).
		end(exit.Failed).wants("decision", "denied", "reason-code", "nothing_done")
}
