//go:build slow || e2e

package main

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// working starts a run whose agent hangs in build.
func (h *hub) working() (*hubJob, int64) {
	h.t.Helper()
	h.write("home/build-execute", hangs)
	id := h.say("ada", "/run")
	j := h.heard(id, "ada")
	h.await(j.life, "home/working")
	return j, id
}

// cut holds that the call under way was ended because of people, and its work kept.
func (h *hub) cut(run metadata.Run) {
	h.t.Helper()
	h.gone()
	if i := slices.IndexFunc(run.Attempts, func(a metadata.Attempt) bool { return a.Status == metadata.Cut && a.Phase == "build" }); i < 0 || run.Attempts[i].Why.Code() != "steered" {
		h.t.Errorf("no attempt was cut because people asked for that: %+v", run.Attempts)
	}
	files := h.files()
	if !slices.ContainsFunc(files, func(f string) bool { ok, _ := path.Match(".reprise/issue-7/*/attempt-*.patch", f); return ok }) {
		h.t.Errorf("the work that was cut is not kept: %q", files)
	}
	if slices.Contains(files, "half.txt") {
		h.t.Errorf("half of a work stands on the branch: %q", files)
	}
}

func TestCancelWhileAnAgentWorks(t *testing.T) {
	h := newStage(t, twoSteps)
	j, run := h.working()
	said, most := time.Now(), j.soon()
	cancel := h.say("ada", "/cancel it is the wrong issue")
	j.end(exit.Cancelled).wants("decision", "run", "status", "cancelled", "reason-code", "cancelled")
	if took := time.Since(said); took > most {
		t.Errorf("it took %v", took)
	}
	rec := h.record()
	h.cut(rec)
	if rec.Status != metadata.Cancelled || rec.Stop == nil || rec.Stop.Why.In(prompts.Words("en")) != "cancelled by ada: it is the wrong issue" || rec.Execution.Lease != nil {
		t.Errorf("the run is %s: %+v, %+v", rec.Status, rec.Stop, rec.Execution.Lease)
	}
	h.signs(cancel, "eyes rocket")
	h.signs(run, "eyes -1")
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "it is the wrong issue")
	// Its own job comes late, and finds it done.
	h.heard(cancel, "ada").end(exit.Done).wants("decision", "ignored", "reason-code", "stale_event")
	// To go on is to say so.
	h.write("home/go-on", "")
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	h.called("plan execute, build execute, build execute")
}

func TestRollbackWhileAnAgentWorks(t *testing.T) {
	h := newStage(t, twoSteps)
	j, run := h.working()
	h.write("home/plan-revise", `cat "$REPRISE_TASK_FILE" >"$HOME/task"`+"\n")
	h.write("home/build-execute", changesCode)
	back := h.say("max", "/rollback plan think of the cache\n\nand of `$HOME`")
	j.end(exit.Done).wants("decision", "run", "status", "completed", "reason-code", "completed")
	rec := h.record()
	h.cut(rec)
	if len(rec.RollbackHistory) != 1 || rec.RollbackHistory[0].By != "max" || !strings.Contains(rec.RollbackHistory[0].Reason, "and of `$HOME`") {
		t.Errorf("the rollbacks are %+v", rec.RollbackHistory)
	}
	task := h.read("home/task")
	testenv.Has(t, "the task of the next agent", task, "think of the cache", "and of `$HOME`")
	h.called("plan execute, build execute, plan revise, build execute")
	h.signs(back, "eyes rocket")
	h.signs(run, "eyes rocket")
}

// What cannot be done does not end the call under way, and neither does what
// somebody without the right asks for. Each is taken once and answered once.
func TestRefusedWhileAnAgentWorks(t *testing.T) {
	type given struct{ by, body, signs, reply string }
	for name, all := range map[string][]given{
		"commands": {
			{"ada", "/run", "eyes confused", "already_running"},
			{"ada", "/retry", "eyes confused", "has not stopped"},
			{"ada", "/rollback nowhere x", "eyes confused", "nowhere"},
			{"eve", "/cancel mine", "confused", ""},
		},
		"mistakes": {
			{"ada", "/rollbak plan x", "eyes confused", "/rollback"},
			{"max", "/rollback", "eyes confused", "/rollback"},
		},
		"questions": {
			{"ada", "/help", "eyes rocket", "/rollback"},
			{"tom", "/status", "eyes rocket", "Build"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newStage(t, twoSteps)
			h.write("home/plan-execute", hangs)
			j := h.comment("ada", "/run")
			h.await(j.life, "home/working")
			var ids []int64
			for _, c := range all {
				ids = append(ids, h.say(c.by, c.body))
			}
			h.looks(3)
			h.called("plan execute")
			h.write("home/go-on", "")
			j.end(exit.Done).wants("status", "completed", "reason-code", "completed")
			taken := map[int64]int{}
			for _, d := range h.record().Decisions {
				taken[d.Comment]++
			}
			before := len(h.forge.Comments(hubRepo, hubIssue))
			for i, c := range all {
				h.heard(ids[i], c.by).end(exit.Done) // its own job comes late
				h.signs(ids[i], c.signs)
				if got := h.replyTo(ids[i]); c.reply == "" && got != "" || !strings.Contains(got, c.reply) {
					t.Errorf("%s was answered with %q", c.body, got)
				}
				if want := map[bool]int{true: 1}[name == "commands" && c.by == "ada"]; taken[ids[i]] != want {
					t.Errorf("%s was taken %d times", c.body, taken[ids[i]])
				}
			}
			if after := h.forge.Comments(hubRepo, hubIssue); len(after) != before {
				t.Errorf("answered again: %+v", after[before:])
			}
		})
	}
}

// What a rollback would do can be seen while an agent works.
func TestDryRunWhileAnAgentWorks(t *testing.T) {
	h := newStage(t, twoSteps)
	j, _ := h.working()
	before := h.record().Revision
	id := h.say("ada", "/rollback plan --dry-run what would it do")
	h.heard(id, "ada").end(exit.Done).wants("decision", "replied")
	h.signs(id, "eyes rocket")
	testenv.Has(t, "the answer", h.replyTo(id), "what would it do")
	if after := h.record().Revision; after != before {
		t.Errorf("the record went from %d to %d", before, after)
	}
	h.write("home/go-on", "")
	j.end(exit.Done).wants("status", "completed")
}

// A gate and a job that works see the same question at the same moment.
func TestOneAnswer(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/plan-execute", "sleep 0.2\n")
	h.write("home/build-execute", "sleep 0.2\n")
	j := h.comment("ada", "/run")
	h.inputs["command"] = "gate"
	var ids []int64
	var gates []*hubJob
	for range 4 {
		ids = append(ids, h.say("ada", "/help"))
		gates = append(gates, h.heard(ids[len(ids)-1], "ada"))
		time.Sleep(50 * time.Millisecond)
	}
	for _, g := range gates {
		g.end(exit.Done).wants("decision", "replied")
	}
	j.end(exit.Done).wants("status", "completed")
	for _, id := range ids {
		h.signs(id, "eyes rocket")
		if h.replyTo(id) == "" {
			t.Errorf("comment %d has no answer", id)
		}
	}
}

// Somebody who loses the right while a run is under way has lost it.
func TestRightIsLost(t *testing.T) {
	h := newStage(t, twoSteps)
	j, _ := h.working()
	h.forge.Permit(hubRepo, "ada", "read")
	cancel := h.say("ada", "/cancel all of it")
	h.looks(3)
	h.write("home/go-on", "")
	j.end(exit.Done).wants("status", "completed")
	h.signs(cancel, "")
	h.heard(cancel, "ada").end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
	h.signs(cancel, "confused")
}

// A comment that was edited after it was written does not end a call.
func TestEditedWhileAnAgentWorks(t *testing.T) {
	h := newStage(t, twoSteps)
	j, _ := h.working()
	id := h.say("ada", "Well done.")
	h.forge.EditComment(hubRepo, id, "/cancel")
	bot := h.forge.AddComment(hubRepo, hubIssue, githubtest.Comment{Author: "other[bot]", Body: "/cancel"})
	h.looks(3)
	h.write("home/go-on", "")
	j.end(exit.Done).wants("status", "completed")
	h.signs(id, "confused")
	h.signs(bot, "")
}
