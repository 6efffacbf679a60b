//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/github/githubtest"
	"github.com/reprise-ci/reprise/metadata"
)

// newActions makes a hub with the real program, and an issue to work on.
func newActions(t *testing.T, agent string) *hub {
	t.Helper()
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	h := newHub(t, program, agent)
	h.says((&worker{change: changes}).script())
	h.github.AddIssue(repository, githubtest.Issue{Number: 7, Title: "The greeting is missing", Body: "The program prints nothing. It should say hello.", Author: "bob"})
	for who, role := range map[string]string{"ann": "write", "eve": "read"} {
		h.github.Permit(repository, who, role)
	}
	h.github.AddRun(repository, githubtest.Run{ID: 77, Attempt: 1})
	return h
}

// comment has somebody write a comment on the issue, and waits for what the
// workflow makes of it.
func (h *hub) comment(by, body string) delivery {
	h.t.Helper()
	id := h.github.AddComment(repository, 7, githubtest.Comment{Author: by, Body: body})
	return h.deliver("issue_comment", h.github.CommentPayload(repository, id, "created", by))
}

// TestActionsRun takes an issue from a comment to a pull request, with the
// workflow that people copy, the action, and a real agent program.
func TestActionsRun(t *testing.T) {
	for _, agent := range []string{"claude", "codex"} {
		t.Run(agent, func(t *testing.T) {
			h := newActions(t, agent)
			d := h.comment("ann", "/run --pipeline fix")
			if d.code != 0 || d.results["run"] != "success" {
				t.Fatalf("exit code %d, jobs %v\n%s", d.code, d.results, d.log)
			}
			if run := h.record(); run.Status != metadata.Completed || !strings.Contains(h.pushed("main.go"), "hello") {
				t.Errorf("the run is %s: %+v", run.Status, run.Stop)
			}
			if pulls := h.github.Pulls(repository); len(pulls) != 1 || pulls[0].Draft || pulls[0].Head != "reprise/issue-7" {
				t.Errorf("pull requests: %+v", pulls)
			}
			if d.summary["run"] == "" {
				t.Errorf("no summary of the job\n%s", d.log)
			}
			for _, r := range h.model.Requests() {
				if strings.Contains(string(r.Body), botToken) {
					t.Errorf("request %d to the model holds the token", r.N)
				}
			}
			if strings.Contains(d.log, botToken) {
				t.Error("the log holds the token")
			}
		})
	}
}

// TestActionsRefuses shows that who may not is refused before any model is
// asked, and before a job sees code.
func TestActionsRefuses(t *testing.T) {
	h := newActions(t, "claude")
	d := h.comment("eve", "/run --pipeline fix")
	if _, ran := d.results["run"]; ran || d.results["gate"] != "success" || d.outputs["gate/gate"]["reason-code"] != "permission_denied" {
		t.Errorf("jobs %v, outputs %v\n%s", d.results, d.outputs, d.log)
	}
	if n := len(h.model.Requests()); n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
}
