//go:build slow || e2e

package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/metadata"
)

// by are who took the run back, and where to.
func (h *hub) wentBack() (out []string) {
	for _, r := range h.record().RollbackHistory {
		out = append(out, r.By+" "+r.ToPhase+" "+r.Reason)
	}
	return out
}

// A review that was refused, with or without a word, is not obeyed by the next job that comes along.
func TestRefusedReviewIsNotObeyedLater(t *testing.T) {
	no := githubtest.Review{Author: "ada", State: "CHANGES_REQUESTED", Body: "Not like this."}
	t.Run("closed", func(t *testing.T) { // the answer: "give the command again if it is still wanted"
		h, reviews := newReviewed(t, judged)
		h.issueState("closed")
		h.reviewed(reviews, reviews.Submit(8, no)).end(exit.Done).wants("decision", "denied", "reason-code", "stale_event")
		h.issueState("open")
		id := h.say("max", "/rollback tell once more")
		h.heard(id, "max").end(anyCode)
		if got := h.wentBack(); !slices.Equal(got, []string{"max tell once more"}) {
			t.Errorf("the run went back by %q; the command that was given has the answer %q", got, h.replyTo(id))
		}
	})
	t.Run("no right then", func(t *testing.T) { // without a word
		h, reviews := newReviewed(t, judged)
		v := no
		v.Author = "eve"
		h.reviewed(reviews, reviews.Submit(8, v)).end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
		h.forge.Permit(hubRepo, "eve", "write")
		h.comment("max", "/rollback tell once more").end(anyCode)
		h.reviewed(reviews, reviews.Submit(8, v)).end(anyCode)
		if got := h.wentBack(); !slices.Equal(got, []string{"max tell once more", "eve build Not like this."}) {
			t.Errorf("the run went back by %q", got)
		}
	})
	t.Run("deleted", func(t *testing.T) {
		h, reviews := newReviewed(t, judged)
		v := no
		v.ID, v.At = 424242, time.Now()
		h.reviewed(reviews, v).end(exit.Done).wants("decision", "ignored", "reason-code", "stale_event")
	})
	t.Run("other workflows", func(t *testing.T) { // the answer: "give the command in a comment", which is done
		h, reviews := newReviewed(t, judged)
		h.git("clone", "--quiet", "--branch=reprise/issue-7", "file://"+h.path("origin.git"), h.path("theirs"))
		h.write("theirs/.github/workflows/evil.yml", "on: push\n")
		h.git("-C", h.path("theirs"), "add", "--all")
		h.git("-C", h.path("theirs"), "-c", "user.name=P", "-c", "user.email=p@example.com", "commit", "--quiet", "--message=evil")
		h.git("-C", h.path("theirs"), "push", "--quiet")
		h.reviewed(reviews, reviews.Submit(8, no)).end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
		h.comment("ada", "/rollback build Not like this.").end(anyCode)
		if got := h.wentBack(); len(got) != 1 {
			t.Errorf("the run went back by %q", got)
		}
	})
}

// On a closed issue, a job for /cancel carries out nothing else: no agent works, and the run is cancelled.
func TestCancelOfAClosedIssueTakesNothingElse(t *testing.T) {
	h := newCrew(t, peopled)
	h.comment("ada", "/run").end(exit.Done)
	h.issueState("closed")
	stop, late := h.say("ada", "/cancel"), h.say("ada", "/rollback plan two")
	h.heard(stop, "ada").end(anyCode)
	h.called("plan execute")
	if got := h.record().Status; got != metadata.Cancelled {
		t.Errorf("the run is %s", got)
	}
	h.heard(late, "ada").end(anyCode)
	h.signs(late, "eyes confused") // it was obeyed and then called too late
}

// A review that comes while a job works is taken by that job.
func TestReviewWhileAtWork(t *testing.T) {
	h, reviews := newReviewed(t, judged)
	h.write("home/tell-revise", hangs)
	j := h.comment("ada", "/rollback tell once more")
	h.await(j.life, "home/working")
	reviews.Submit(8, githubtest.Review{Author: "ada", State: "CHANGES_REQUESTED", Body: "Not like this."})
	h.write("home/go-on", "")
	j.end(exit.Done)
	if got := h.wentBack(); len(got) != 2 {
		t.Errorf("the run went back by %q", got)
	}
}

// A stop that is given between what starts a run and its job is heard; what was written before is not about that run.
func TestStopBeforeTheFirstJob(t *testing.T) {
	for name, ask := range map[string]func(h *hub) (start func() *hubJob){
		"label": func(h *hub) func() *hubJob {
			h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Labels = append(is.Labels, "reprise") })
			payload := h.forge.LabelPayload(hubRepo, hubIssue, "reprise", "ada")
			return func() *hubJob { return h.start("issues", "ada", payload) }
		},
		"form": func(h *hub) func() *hubJob {
			h.forge.AddRun(hubRepo, githubtest.Run{ID: 9001})
			payload := h.forge.DispatchPayload(hubRepo, "reprise", "ada", map[string]any{"issue": "7"})
			return func() *hubJob { return h.start("repository_dispatch", "ada", payload) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newStage(t, twoSteps)
			now := time.Now()
			h.forge.SetClock(func() time.Time { now = now.Add(time.Second); return now })
			before := h.say("ada", "/rollback plan before")
			start := ask(h)
			stop := h.say("ada", "/cancel")
			start().end(anyCode).wants("status", "cancelled")
			h.called("")
			h.signs(stop, "eyes rocket")
			h.signs(before, "")
		})
	}
}

// What people asked for before a job for a part has begun keeps it from beginning.
func TestStopBeforeTask(t *testing.T) {
	for _, stop := range []string{"/pause", "/cancel"} {
		t.Run(stop, func(t *testing.T) {
			h, _ := fansOut(t, apart)
			h.say("ada", stop)
			h.task("build.t1").end(anyCode)
			h.called("plan execute")
		})
	}
}

// A label that was taken off before its job began starts nothing.
func TestLabelThatWasTakenBack(t *testing.T) {
	h := newStage(t, twoSteps)
	h.start("issues", "ada", h.forge.LabelPayload(hubRepo, hubIssue, "reprise", "ada")).end(exit.Done).wants("decision", "ignored", "reason-code", "stale_event")
	h.nothing()
}

// A label that could start nothing is taken off, so that adding it again does something, and the issue says why.
func TestLabelThatStartsNothingIsTakenOff(t *testing.T) {
	for name, change := range map[string]func(*hub){
		"closed":      func(h *hub) { h.issueState("closed") },
		"completed":   func(h *hub) { h.comment("ada", "/run").end(exit.Done) },
		"no pipeline": func(h *hub) { h.inputs["pipeline"] = "nope" },
	} {
		t.Run(name, func(t *testing.T) {
			h := newStage(t, twoSteps)
			h.label("eve").end(anyCode) // another reason
			change(h)
			h.label("ada").end(anyCode)
			if got := h.forge.Labels(hubRepo, hubIssue); len(got) != 0 {
				t.Errorf("the labels are %q", got)
			}
			if got := h.ours("label"); len(got) != 2 {
				t.Errorf("the issue says %+v", got)
			} else if said := strings.Contains(got[1].Body, "starts a run once"); said == (name == "completed") {
				t.Errorf("the issue says %s", got[1].Body)
			}
		})
	}
}

// The job that makes up for what one with a dead token left undone also thaws the live comment.
func TestLateJobThawsTheLiveComment(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/build-execute", changesCode)
	h.inputs["notify"] = "commander"
	h.forge.FaultWhen(func(r githubtest.Request) *githubtest.Fault {
		if strings.Contains(h.calls(), "build execute") && r.Method != http.MethodGet {
			return new(githubtest.Status(401, "Bad credentials"))
		}
		return nil
	})
	id := h.say("ada", "/run")
	h.heard(id, "ada").end(exit.Done).wants("status", "completed")
	h.forge.FaultWhen(noFault)
	h.comment("tom", "/status").end(exit.Done)
	if len(h.forge.Pulls(hubRepo)) != 1 || len(h.ours("stop")) != 1 {
		t.Fatal("the rest was not made up for")
	}
	if live := h.ours("progress")[0].Body; !strings.Contains(live, "### ✅ Completed") {
		t.Errorf("the live comment says %.120s", live)
	}
}

func noFault(githubtest.Request) *githubtest.Fault { return nil }

// A second command in a comment is said, however it is written.
func TestSecondCommandIsSaid(t *testing.T) {
	for _, body := range []string{"/approve plan\n/skip biuld it is there", "/approve plan\n /skip build it is there"} {
		t.Run(body, func(t *testing.T) {
			h := newCrew(t, peopled)
			h.comment("ada", "/run").end(exit.Done)
			id := h.say("max", body)
			h.heard(id, "max").end(anyCode)
			if h.replyTo(id) == "" {
				t.Errorf("the rest was dropped without a word; the agent was called for %s", h.calls())
			}
		})
	}
}

// An approval that was refused because the issue is locked is not carried out by the job for /cancel.
func TestCancelOfALockedIssueTakesNothingElse(t *testing.T) {
	h := newCrew(t, peopled)
	h.comment("ada", "/run").end(exit.Done)
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Locked = true })
	h.comment("max", "/approve").end(exit.Done).wants("decision", "denied", "reason-code", "stale_event")
	h.comment("max", "/cancel").end(anyCode).wants("status", "cancelled")
	if got := h.record().Approvals; len(got) != 0 {
		t.Errorf("the approvals are %+v", got)
	}
}

// CI that fails after the issue was closed is no reason to have an agent work.
func TestClosedWhileCIIsAwaited(t *testing.T) {
	h, made, _ := gated(t, "")
	j := h.comment("ada", "/run")
	commit := h.asked(made)
	h.issueState("closed")
	made.Set(commit, githubtest.Check{Name: "test", Workflow: "ci.yml", Title: "CI", Conclusion: "failure"})
	time.Sleep(4 * time.Second) // looks every 100 ms
	h.called("plan execute, build execute")
	j.kill(true)
}

// issueState opens or closes the issue.
func (h *hub) issueState(state string) {
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.State = state })
}

func (h *hub) label(by string) *hubJob {
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Labels = append(is.Labels, "reprise") })
	return h.start("issues", by, h.forge.LabelPayload(hubRepo, hubIssue, "reprise", by))
}

// The same without /cancel: a closed issue is the plainest stop.
func TestTaskOfAClosedIssue(t *testing.T) {
	h, _ := fansOut(t, apart)
	h.issueState("closed")
	h.task("build.t1").end(anyCode)
	h.called("plan execute")
	h.also("join").end(anyCode)
	if got := h.record().Status; got != metadata.Cancelled {
		t.Errorf("the run is %s", got)
	}
}
