package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
)

// calls are counted with a GitHub in memory.
type calling struct{ *bench.Bench }

// coder is a program for a "command" agent that changes code, too, so that
// there is a pull request.
const coder = `#!/bin/sh
sleep "${AGENT_SLEEP:-0}"
if [ "$REPRISE_STEP" = review ]; then
	echo '{"structured": {"verdict": "pass", "gates": [], "findings": []}, "usage": {"input_tokens": 1, "output_tokens": 1}}'
else
	echo "$REPRISE_PHASE written $$" > "$REPRISE_ARTIFACT"
	echo "$REPRISE_PHASE" >> code.txt
	echo '{"text": "done", "usage": {"input_tokens": 1, "output_tokens": 1}}'
fi
`

// host is what the GitHub in memory tells of wrong requests.
type host struct {
	wrong   []error
	cleanup []func()
}

func (*host) Helper()            {}
func (h *host) Cleanup(f func()) { h.cleanup = append(h.cleanup, f) }
func (h *host) Errorf(format string, args ...any) {
	h.wrong = append(h.wrong, fmt.Errorf(format, args...))
}

// calls counts what a run that a comment started asks of GitHub: from the event
// to the pull request that is ready. A long step shows itself in the comment
// and looks for new commands; what that adds is counted by the difference to
// the same run with an instant agent.
func (b calling) calls() error {
	agent, err := b.Write("coder.sh", coder, 0o755)
	if err != nil {
		return err
	}
	var n [3]githubtest.Counts
	for i, c := range []struct {
		phases int
		sleep  string
	}{{10, "0"}, {2, "0"}, {2, "11"}} {
		if n[i], err = b.count(agent, c.sleep, c.phases); err != nil {
			return err
		}
	}
	per := func(measure string, count, phases int, target string) {
		each := fmt.Sprintf("%.1f", float64(count)/float64(phases))
		b.Rows = append(b.Rows, bench.Row{Measure: measure, Ours: each, Least: "1", Ratio: each, Target: target, How: "one that shows the phase"})
	}
	asked := func(c githubtest.Counts) int { return c.Calls - c.Free }
	per("GitHub calls a phase, 10 phases, instant agent, all in all", asked(n[0]), 10, "<= 3")
	per("writes among them", n[0].Writes, 10, "<= 2")
	per("GitHub calls that a phase of two steps of 11 s adds", asked(n[2])-asked(n[1]), 2, "<= 3")
	per("writes among them", n[2].Writes-n[1].Writes, 2, "<= 2")
	b.Rows = append(b.Rows, bench.Row{Measure: "content-creating calls of a run of 10 phases", Ours: fmt.Sprint(n[0].Content), Least: "4", Ratio: fmt.Sprintf("%.2f", float64(n[0].Content)/4), Target: "<= 12", How: "comment, pull request, two reactions"})
	return nil
}

// count runs the action for a comment, and counts.
func (b calling) count(agent, sleep string, phases int) (githubtest.Counts, error) {
	h := &host{}
	defer func() {
		for _, f := range h.cleanup {
			f()
		}
	}()
	repo, err := b.Repository(fmt.Sprintf("calls-%d-%s", phases, sleep))
	if err != nil {
		return githubtest.Counts{}, err
	}
	forge := githubtest.New(h)
	forge.AddInstallation("token", "github-actions[bot]")
	forge.AddIssue("acme/widget", githubtest.Issue{Number: 7, Title: "Add a greeting", Body: "The program should greet."})
	forge.Bare("acme/widget", repo+".git")
	forge.Permit("acme/widget", "ada", "write")
	id := forge.AddComment("acme/widget", 7, githubtest.Comment{Author: "ada", Body: "/run"})
	event, err := b.Write("event.json", string(forge.CommentPayload("acme/widget", id, "created", "")), 0o644)
	if err != nil {
		return githubtest.Counts{}, err
	}
	pipeline, err := b.Write("calls.cue", coding(agent, phases), 0o644)
	if err != nil {
		return githubtest.Counts{}, err
	}
	job := b.Command(repo, b.Bin, "action")
	job.Stdout = nil
	job.Env = append(job.Env,
		"GITHUB_API_URL="+forge.URL, "GITHUB_EVENT_NAME=issue_comment", "GITHUB_EVENT_PATH="+event, "GITHUB_REPOSITORY=acme/widget", "GITHUB_ACTOR=ada",
		"GITHUB_WORKSPACE="+repo, "GITHUB_OUTPUT="+filepath.Join(b.Dir, "outputs"), "INPUT_GITHUB_TOKEN=token", "INPUT_PIPELINE="+pipeline, "AGENT_SLEEP="+sleep,
	)
	if err := job.Run(); err != nil {
		return githubtest.Counts{}, err
	}
	outputs, err := os.ReadFile(filepath.Join(b.Dir, "outputs"))
	if err == nil && (!strings.Contains(string(outputs), "\ncompleted\n") || len(forge.Pulls("acme/widget")) != 1) {
		err = fmt.Errorf("the run did not end as it should:\n%s", outputs)
	}
	return forge.Counts(), errors.Join(append(h.wrong, err)...)
}

// coding is a pipeline whose agent is the coder.
func coding(agent string, phases int) string {
	var s strings.Builder
	fmt.Fprintf(&s, "name: \"calls\"\nagents: {a: {use: \"command\", command: [%q], env: [\"AGENT_SLEEP\"]}}\n", agent)
	s.WriteString("defaults: {agent: \"a\", reviewer: \"a\"}\nphases: [\n")
	for i := range phases {
		fmt.Fprintf(&s, "\t{name: \"p%d\", goal: \"Write it.\", writes: \"p%d.md\", access: \"tree\"},\n", i, i)
	}
	s.WriteString("]\n")
	return s.String()
}
