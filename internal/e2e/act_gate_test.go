//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// TestActionsAnswers shows that questions are answered while a run is at work,
// by the gate alone, with the rights that the workflow gives it.
func TestActionsAnswers(t *testing.T) {
	h, a := newHand(t)
	a.keep("build", "")
	work := h.hear(h.say("ann", "/run"))
	<-a.working // the second phase is under way

	const token = "ghs_gate0123456789" // of a gate alone
	h.github.AddInstallation(token, "github-actions[bot]")
	h.github.Allow(token, repository, h.permissions("gate"))
	h.secrets["GITHUB_TOKEN"] = token
	for body, want := range map[string][]string{
		"/help":   {"/rollback"},
		"/status": {"Phase 2 of 2: Build"},
		"/config": {"own"},
		"/rollback plan --dry-run not deep enough": {"not deep enough", "plan"},
	} {
		before := h.git(h.root, "--git-dir", "origin.git", "rev-parse", "reprise/issue-7")
		id, d := h.comment("ann", body)
		d.want(t, gateOnly, "gate/gate", "decision", "replied", "issue", "7")
		testenv.Is(t, body+" has the signs", h.signs(id), "eyes rocket")
		if s := d.summary["gate"]; strings.Contains(s, "Nothing was started") || !strings.Contains(s, body) {
			t.Errorf("the summary for %s:\n%s", body, s)
		}
		replies := slices.DeleteFunc(h.ours("reply"), func(c githubtest.Comment) bool { return !strings.Contains(c.Body, fmt.Sprintf("comment=%d ", id)) })
		if len(replies) != 1 {
			t.Fatalf("%d replies to %s", len(replies), body)
		}
		testenv.Has(t, "the reply to "+body, replies[0].Body, want...)
		if now := h.git(h.root, "--git-dir", "origin.git", "rev-parse", "reprise/issue-7"); now != before {
			t.Errorf("%s moved the branch", body)
		}
	}
	a.letGo()
	d := work.wait(t)
	d.want(t, bothJobs, theRun, "status", "completed")
	testenv.Is(t, "the agent was called for", a.steps(), "plan execute, build execute")
}

// permissions are what the workflow gives to a job, as GitHub names them.
func (h *hub) permissions(job string) map[string]string {
	h.t.Helper()
	var workflow struct {
		Jobs map[string]struct{ Permissions map[string]string }
	}
	testenv.Must(h.t, yaml.Unmarshal([]byte(h.read(filepath.Join(h.repo, ".github/workflows/reprise.yml"))), &workflow))
	all := map[string]string{}
	for name, access := range workflow.Jobs[job].Permissions {
		all[strings.ReplaceAll(name, "-", "_")] = access
	}
	return all
}

// TestActionsStartedOtherwise starts runs by a label, and by the form on the
// Actions page.
func TestActionsStartedOtherwise(t *testing.T) {
	h, a := newHand(t)
	h.github.ChangeIssue(repository, 7, func(is *githubtest.Issue) { is.Labels = []string{"reprise", "bug"} })
	d := h.deliver("issues", h.github.LabelPayload(repository, 7, "reprise", "eve"))
	d.want(t, gateOnly, "gate/gate", "decision", "denied", "reason-code", "permission_denied")
	h.github.ChangeIssue(repository, 7, func(is *githubtest.Issue) { is.Labels = append(is.Labels, "reprise") }) // the gate has taken it off
	d = h.deliver("issues", h.github.LabelPayload(repository, 7, "reprise", "ann"))
	d.want(t, bothJobs, theRun, "status", "completed")
	testenv.Same(t, "the labels are", []string{"bug"}, h.github.Labels(repository, 7))
	form := map[string]string{"issue": "#7", "command": "/rollback build it has to be shorter"}
	d = h.deliver("workflow_dispatch", h.github.WorkflowPayload(repository, ".github/workflows/reprise.yml", "ann", form))
	d.want(t, bothJobs, theRun, "status", "completed", "issue", "7")
	testenv.Is(t, "the agent was called for", a.steps(), "plan execute, build execute, build revise")
	testenv.Has(t, "the task after the rollback", a.calls[len(a.calls)-1].task, "it has to be shorter")
	run := h.record()
	if run.Status != metadata.Completed || len(run.RollbackHistory) != 1 || run.RollbackHistory[0].By != "ann" {
		t.Errorf("the run is %s, its rollbacks are %+v", run.Status, run.RollbackHistory)
	}
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "it has to be shorter")
}
