package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/command"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// twoSteps is a pipeline whose agent is the program "worker", see newStage.
const twoSteps = `
name: "own"
agents: own: {use: "command", command: ["worker"]}
defaults: retry: {max: 1, initial: "10ms"}
phases: [{name: "plan", goal: "Plan.", review: false}, {name: "build", goal: "Build.", access: "tree", review: false}]
`

// newStage is a hub whose default branch has the pipeline "own". Its agent
// notes each call in home/calls, then does what the script home/PHASE-STEP
// says, and writes an artifact.
func newStage(t *testing.T, pipeline string) *hub {
	t.Helper()
	t.Parallel()
	return stageOf(t, pipeline)
}

// stageOf is such a hub for a test that has said already whether it runs beside others.
func stageOf(t *testing.T, pipeline string) *hub {
	t.Helper()
	h := newHubOf(t, map[string]string{".github/reprise/pipelines/own.cue": pipeline})
	h.as, h.inputs = "hurried", map[string]string{"pipeline": "own", "sandbox": "off", "label": "reprise"}
	h.write("bin/worker", `#!/bin/sh
echo "$REPRISE_PHASE $REPRISE_STEP" >>"$HOME/calls"
if [ -e "$HOME/$REPRISE_PHASE-$REPRISE_STEP" ]; then . "$HOME/$REPRISE_PHASE-$REPRISE_STEP"; fi
[ "$REPRISE_STEP" = review ] || echo done >>"$REPRISE_ARTIFACT"
`)
	h.mayRun("bin/worker")
	return h
}

// calls are the calls of the agent so far.
func (h *hub) calls() string {
	h.t.Helper()
	data, err := os.ReadFile(h.path("home/calls"))
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	return strings.Join(strings.Split(strings.TrimSpace(string(data)), "\n"), ", ")
}

// called says for what the agent was called so far.
func (h *hub) called(want string) {
	h.t.Helper()
	testenv.Is(h.t, "the agent was called for", h.calls(), want)
}

// mayRun makes a program of a file of the stand.
func (h *hub) mayRun(name string) {
	h.t.Helper()
	testenv.Must(h.t, os.Chmod(h.path(name), 0o755))
}

// nothing says that nothing was left behind on the forge: no branch, no pull
// request and no live comment.
func (h *hub) nothing() {
	h.t.Helper()
	out, err := testenv.Git(h.path("origin.git"), "for-each-ref", "--format=%(refname)")
	if err != nil || strings.TrimSpace(out) != "refs/heads/main" {
		h.t.Errorf("the branches are %q (%v)", out, err)
	}
	for _, p := range h.forge.Pulls(hubRepo) {
		if p.Author == "github-actions[bot]" {
			h.t.Errorf("there is a pull request: %+v", p)
		}
	}
	if live := h.ours("progress"); len(live) > 0 {
		h.t.Errorf("the live comments are %+v", live)
	}
}

// replyTo is the one answer to a comment; "" if there is none.
func (h *hub) replyTo(id int64) string {
	h.t.Helper()
	all := slices.DeleteFunc(h.ours("reply"), func(c githubtest.Comment) bool { return !slices.Contains(command.AnswersTo(c.Body), id) })
	switch len(all) {
	case 0:
		return ""
	case 1:
		return all[0].Body
	}
	h.t.Errorf("%d answers to one comment: %+v", len(all), all)
	return all[0].Body
}

// signs says which reactions a comment has to have.
func (h *hub) signs(id int64, want string) {
	h.t.Helper()
	testenv.Is(h.t, "the comment has the reactions", h.reactions(id), want)
}

// jsonOf reads JSON.
func jsonOf(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
