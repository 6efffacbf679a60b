//go:build slow || e2e

package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// ended is a stage whose run is completed, with a pull request.
func ended(t *testing.T) (h *hub, pull int) { return endedTelling(t, "commander") }

// endedTelling is ended where those people are told.
func endedTelling(t *testing.T, who string) (h *hub, pull int) {
	t.Helper()
	h = newStage(t, twoSteps)
	h.inputs["notify"] = who
	h.write("home/build-execute", changesCode)
	h.write("home/build-revise", changesCode)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	return h, h.forge.Pulls(hubRepo)[0].Number
}

// That a pull request is merged is said before an agent works, and it is not made one
// commit any more.
func TestPullWasMerged(t *testing.T) {
	h, pull := ended(t)
	h.forge.With(hubRepo, func(d *githubtest.Desk) { d.Pull(pull).Merged = true })
	h.forge.ChangeIssue(hubRepo, pull, func(is *githubtest.Issue) { is.State = "closed" })
	h.forge.Permit(hubRepo, "mia", "maintain")
	squash, before := h.say("mia", "/finish --squash"), h.tip()
	h.heard(squash, "mia").end(exit.Done)
	if testenv.Has(t, "the answer", h.replyTo(squash), "is merged already"); h.tip() != before {
		t.Error("the branch has changed")
	}
	h.write("home/build-revise", hangs)
	j := h.comment("ada", "/rollback build because it is not polite")
	h.await(j.life, "home/working")
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "is merged already")
	h.write("home/go-on", "")
	j.end(exit.Done).wants("status", "completed")
}

// A pull request that somebody has made a draft after the run was completed stays one,
// until the run is completed again; also where nobody is told of the end.
func TestDraftByAPerson(t *testing.T) {
	for _, who := range []string{"commander", "none"} {
		t.Run(who, func(t *testing.T) { draftByAPerson(t, who) })
	}
}

func draftByAPerson(t *testing.T, who string) {
	h, pull := endedTelling(t, who)
	h.forge.With(hubRepo, func(d *githubtest.Desk) { d.Pull(pull).Draft = true })
	h.comment("ada", "/run").end(exit.Done)
	if !h.forge.Pulls(hubRepo)[0].Draft {
		t.Error("it is ready again")
	}
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "was made a draft after the run was completed")
	h.comment("ada", "/rollback build because it is not polite").end(exit.Done).wants("status", "completed")
	if h.forge.Pulls(hubRepo)[0].Draft {
		t.Error("it is a draft although the run is completed anew")
	}
}

// Whoever closes the issue stops the run, and so does who takes it away or deletes the branch: nothing more is called, and
// the branch is not made again, nor is a rewritten one overwritten.
func TestPlainlyStopped(t *testing.T) {
	for _, how := range []string{"closed", "deleted", "branch", "rewound"} {
		t.Run(how, func(t *testing.T) {
			h := newStage(t, twoSteps)
			h.write("home/plan-execute", hangs)
			j := h.comment("ada", "/run")
			h.await(j.life, "home/working")
			base := testenv.MustGit(t, h.path("origin.git"), "rev-parse", "main")
			switch how {
			case "closed":
				h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.State = "closed" })
			case "deleted":
				h.forge.DeleteIssue(hubRepo, hubIssue)
			case "rewound":
				h.git("--git-dir", h.path("origin.git"), "update-ref", "refs/heads/reprise/issue-7", "main")
			default:
				h.git("--git-dir", h.path("origin.git"), "update-ref", "-d", "refs/heads/reprise/issue-7")
			}
			h.write("home/go-on", "")
			j.end(anyCode).wants("reason-code", map[string]string{"closed": "cancelled", "deleted": "cancelled", "branch": "push_failed", "rewound": "ref_changed"}[how])
			h.called("plan execute")
			if how != "deleted" {
				testenv.Has(t, "the live comment", h.ours("progress")[0].Body, map[string]string{"closed": "the issue is closed", "branch": "somebody has deleted it there", "rewound": "its history was rewritten there"}[how])
			}
			if now := h.tip(); how == "branch" && now != "" || how == "rewound" && now != strings.TrimSpace(base) {
				t.Errorf("the branch is at %s again", now)
			}
			if said := map[string]string{"branch": "reprise/issue-7 of the run was deleted: restore it", "rewound": "holds no run (.reprise/issue-7/metadata.json is missing)"}[how]; said != "" {
				id := h.say("ada", "/pause")
				h.heard(id, "ada").end(anyCode)
				testenv.Has(t, "the answer", h.replyTo(id), said)
				testenv.Lacks(t, "the answer", h.replyTo(id), "/retry", "another id")
			}
			if how == "branch" {
				h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
				testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "of an earlier run was deleted, so this is a new run")
			}
		})
	}
}

// Where the branch of a run was deleted, nothing that was asked of that run is asked of
// another one: only a new /run begins one.
func TestBranchWasDeleted(t *testing.T) {
	h, _ := ended(t)
	h.publish(map[string]string{".github/reprise/config.cue": `language: "ja"` + "\n"})
	h.git("--git-dir", h.path("origin.git"), "update-ref", "-d", "refs/heads/reprise/issue-7")
	before := h.calls()
	back := h.say("ada", "/rollback build because it is not polite")
	h.heard(back, "ada").end(exit.Done).wants("reason-code", "no_run")
	if testenv.Has(t, "the answer", h.replyTo(back), "reprise/issue-7 of the run was deleted: restore it"); h.calls() != before || h.tip() != "" {
		t.Errorf("the agents were called: %s", h.calls())
	}
	again := h.say("ada", "/run")
	h.heard(again, "ada").end(exit.Done).wants("status", "completed")
	h.signs(again, "eyes rocket")
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "以前の実行のブランチ")
}
