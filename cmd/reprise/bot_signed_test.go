//go:build slow || e2e

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// Where a rule demands signatures, GitHub makes and signs all commits of a run, of a rollback and of a squash,
// and each says who signs it off if the pipeline asks for that. Without the rule nothing is signed.
func TestSignedByGitHub(t *testing.T) {
	for _, demanded := range []string{"rule", "pipeline", ""} {
		t.Run("by "+demanded, func(t *testing.T) {
			pipeline := twoSteps + "signoff: true\n"
			if demanded == "pipeline" {
				pipeline += "sign: true\n"
			}
			h := newStage(t, pipeline)
			h.write("home/build-execute", changesCode)
			h.forge.Permit(hubRepo, "mia", "maintain")
			if demanded == "rule" {
				h.forge.Configure(hubRepo, githubtest.Settings{Rules: []string{"non_fast_forward", "required_signatures"}})
			}
			if demanded != "" {
				h.git("-C", h.path("origin.git"), "config", "uploadpack.allowAnySHA1InWant", "true") // as GitHub has it
				hook := "#!/bin/sh\ncase $1 in refs/heads/reprise/*) ;; *) exit 0 ;; esac\nfor c in $(git rev-list \"$3\" --not --branches); do\n" +
					"git cat-file commit $c | grep -q '^gpgsig ' || { echo \"Commits must have verified signatures: $c\" >&2; exit 1; }\ndone\n"
				testenv.Must(t, os.WriteFile(h.path("origin.git/hooks/update"), []byte(hook), 0o755))
			}
			h.comment("ada", "/run").end(exit.Done).wants("status", "completed", "pr-number", "8")
			h.heard(h.say("ada", "/rollback build because it is not polite"), "ada").end(exit.Done).wants("status", "completed")
			commits := func(what string, least int) {
				t.Helper()
				out, err := testenv.Git(h.path("origin.git"), "rev-list", "reprise/issue-7", "--not", "main")
				if err != nil || len(strings.Fields(out)) < least {
					t.Fatalf("%s: the commits are %q (%v), want at least %d", what, out, err, least)
				}
				for _, c := range strings.Fields(out) {
					text, err := testenv.Git(h.path("origin.git"), "cat-file", "commit", c)
					signed := strings.Contains(text, "\ngpgsig ") && strings.Contains(text, "\nauthor github-actions[bot] ")
					if err != nil || signed != (demanded != "") {
						t.Errorf("%s: a commit is (%v):\n%s", what, err, text)
					}
					if off := regexp.MustCompile(`\nSigned-off-by: (ada|mia) <[1-9][0-9]*\+(ada|mia)@users\.noreply\.127\.0\.0\.1>\n`); !off.MatchString(text) {
						t.Errorf("%s: a commit lacks %q:\n%s", what, off, text)
					}
				}
			}
			commits("of the run", 5)
			h.heard(h.sayOn(8, "mia", "/finish --squash"), "mia").end(exit.Done).wants("status", "completed")
			commits("squashed", 1)
		})
	}
}

// A token for which GitHub does not sign is told before anything is done, and so is a git that signs nothing.
func TestNotSigned(t *testing.T) {
	h := newStage(t, twoSteps+"sign: true\n")
	h.forge.AddToken("ghp_canary0123456789", "ada")
	h.env = append(h.env, "INPUT_GITHUB_TOKEN=ghp_canary0123456789")
	id := h.say("ada", "/run")
	h.heard(id, "ada", "INPUT_GITHUB_TOKEN=ghp_canary0123456789").end(exit.Failed).wants("reason-code", "credentials_missing")
	testenv.Is(t, "agents were called for", h.calls(), "")
	said := ""
	for _, c := range h.forge.Comments(hubRepo, hubIssue) {
		said += c.Body
	}
	testenv.Has(t, "what was said", said, "does not sign for this token (unsigned)", "leave the secret TOKEN out")
}

// A commit that GitHub does not make is none, and no push that failed: the same job, started again, goes on from the
// last one, and does nothing twice that was committed.
func TestNotSignedForAWhile(t *testing.T) {
	const route = "/repos/" + hubRepo + "/git/commits"
	broken := githubtest.Status(500, "Server Error")
	signing := func(t *testing.T) *hub {
		h := newStage(t, twoSteps+"sign: true\n")
		h.write("home/build-execute", changesCode)
		return h
	}
	statement := func(t *testing.T, j *hubJob) {
		t.Helper()
		if _, err := os.Stat(j.outputs["statement"]); err != nil {
			t.Errorf("the statement that a job gives out: %v", err)
		}
	}
	h := signing(t)
	h.forge.Fault("POST "+route, broken)
	statement(t, h.comment("ada", "/run").end(exit.Done).wants("status", "completed"))
	h.called("plan execute, build execute")
	for nth, calls := range []string{
		"plan execute, build execute", "plan execute, plan execute, build execute", "plan execute, build execute, build execute",
		"plan execute, build execute", "plan execute, build execute",
	} {
		t.Run(fmt.Sprint(nth), func(t *testing.T) {
			h, made := signing(t), 0
			h.forge.FaultWhen(func(r githubtest.Request) *githubtest.Fault {
				if r.Method != "POST" || r.Path != route {
					return nil
				}
				if made++; made <= nth {
					return nil
				}
				return &broken
			})
			id := h.say("ada", "/run")
			j := h.heard(id, "ada", "GITHUB_RUN_ID=9001").end(exit.Failed).wants("reason-code", "api_error")
			testenv.Has(t, "what is said", j.said.String(), "have a commit signed: make a signed commit in acme/widget", "try again later")
			h.forge.FaultWhen(func(githubtest.Request) *githubtest.Fault { return nil })
			statement(t, h.heard(id, "ada", "GITHUB_RUN_ID=9001", "GITHUB_RUN_ATTEMPT=2").end(exit.Done).wants("status", "completed", "pr-number", "8"))
			h.called(calls)
			if run := h.record(); len(run.Attempts) != 2 {
				t.Errorf("the record has the attempts %+v", run.Attempts)
			}
		})
	}
}
