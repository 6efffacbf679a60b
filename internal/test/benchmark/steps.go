package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
)

// stepping is going through a whole run.
type stepping struct{ *bench.Bench }

// agentScript is a program for a "command" agent. It does what the smallest
// agent does: it writes the artifact, or passes the review. It uses no tool
// but the shell, so that it costs one process wherever it is started.
const agentScript = `#!/bin/sh
sleep_for="${AGENT_SLEEP:-0}"
[ "$sleep_for" = 0 ] || sleep "$sleep_for"
if [ "$REPRISE_STEP" = review ]; then
	echo '{"structured": {"verdict": "pass", "gates": [], "findings": []}, "usage": {"input_tokens": 1, "output_tokens": 1}}'
else
	echo "$REPRISE_PHASE written $$" > "$REPRISE_ARTIFACT"
	echo '{"text": "done", "usage": {"input_tokens": 1, "output_tokens": 1}}'
fi
`

// plainScript is the least: the same agent calls, a commit and a push after
// each, by a shell script that keeps no record and checks nothing.
const plainScript = `
set -e
for phase in 0 1 2 3 4 5 6 7 8 9; do
	mkdir -p ".reprise/issue-b/0${phase}_p$phase"
	for step in execute review; do
		REPRISE_STEP=$step REPRISE_PHASE=p$phase REPRISE_ARTIFACT=".reprise/issue-b/0${phase}_p$phase/p$phase.md" "$AGENT" > out.json < /dev/null
		echo "{\"phase\": \"p$phase\", \"step\": \"$step\"}" > .reprise/issue-b/metadata.json
		git add -A
		git commit -q -m "p$phase: $step"
		[ -z "$PUSH" ] || git push -q origin HEAD
	done
done
`

// tenPhases is a pipeline whose agent is the script.
func tenPhases(agent, sleep string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "name: \"bench\"\nagents: {a: {use: \"command\", command: [%q], env: [\"AGENT_SLEEP\"]}}\n", agent)
	s.WriteString("defaults: {agent: \"a\", reviewer: \"a\"}\nphases: [\n")
	for i := range 10 {
		fmt.Fprintf(&s, "\t{name: \"p%d\", goal: \"Write it.\", writes: \"p%d.md\", access: \"artifacts\"},\n", i, i)
	}
	s.WriteString("]\n")
	return s.String()
}

const issueText = "# Add a greeting\n\nThe program should greet.\n"

// steps measures what a step costs around the agent.
func (b stepping) steps() error {
	agent, err := b.Write("agent.sh", agentScript, 0o755)
	if err != nil {
		return err
	}
	if _, err := b.Write("bench.cue", tenPhases(agent, "0"), 0o644); err != nil {
		return err
	}
	if _, err := b.Write("b.md", issueText, 0o644); err != nil {
		return err
	}
	for _, c := range []struct {
		measure, sleep, push, target string
		n                            int
	}{
		{"a step, instant agent, commit and push", "0", "1", "<= 25 ms, ratio <= 1.25", 3},
		{"a step, instant agent, commit only", "0", "", "<= 6 ms", 3},
		{"a step, agent of 0.5 s, commit and push", "0.5", "1", "ratio <= 1.10", 1},
	} {
		ours, err := b.twenty(c.n, c.sleep, c.push, func(repo string) error {
			args := []string{"run", "--issue-file", filepath.Join(b.Dir, "b.md"), "--pipeline", filepath.Join(b.Dir, "bench.cue")}
			if c.push != "" {
				args = append(args, "--push")
			}
			cmd := b.Command(repo, b.Bin, args...)
			cmd.Env = append(cmd.Env, "AGENT_SLEEP="+c.sleep)
			return cmd.Run()
		})
		if err != nil {
			return err
		}
		least, err := b.twenty(c.n, c.sleep, c.push, func(repo string) error {
			cmd := b.Command(repo, "sh", "-c", plainScript)
			cmd.Env = append(cmd.Env, "AGENT="+agent, "AGENT_SLEEP="+c.sleep, "PUSH="+c.push)
			return cmd.Run()
		})
		if err != nil {
			return err
		}
		b.Times(c.measure, ours, least, c.target, "a shell script: same agent, git add, commit, push")
	}
	return nil
}

// twenty gives the median time of a step, from whole runs of twenty.
func (b stepping) twenty(n int, sleep, push string, run func(repo string) error) (time.Duration, error) {
	i := 0
	var repos []string
	for range n {
		repo, err := b.Repository(fmt.Sprintf("steps-%s-%s-%d", sleep, push, len(b.Rows)*100+i+time.Now().Nanosecond()))
		if err != nil {
			return 0, err
		}
		repos = append(repos, repo)
	}
	whole, err := bench.Repeat(n, func() error { i++; return run(repos[i-1]) })
	for _, r := range repos {
		_ = os.RemoveAll(r) // a temporary folder
	}
	return whole / 20, err
}

// partsScript is a program that finds eight tasks, and does each in a second.
const partsScript = `#!/bin/sh
echo "$REPRISE_PHASE" >"$REPRISE_ARTIFACT"
if [ "$REPRISE_PHASE" = plan ]; then
	tasks=
	for i in 1 2 3 4 5 6 7 8; do
		tasks="$tasks${tasks:+, }{\"id\": \"t$i\", \"title\": \"T\", \"goal\": \"G\", \"files\": [\"code.t$i\"]}"
	done
	echo "{\"structured\": {\"tasks\": [$tasks]}}"
else
	sleep 1
	echo done >"$REPRISE_PHASE"
fi
`

// besideScript is the least: the same calls, those of tasks at the same time in one tree,
// and a commit for each.
const besideScript = `
set -e
REPRISE_PHASE=plan REPRISE_ARTIFACT=plan.md "$AGENT" >/dev/null
git add -A
git commit -q -m plan
for i in 1 2 3 4 5 6 7 8; do REPRISE_PHASE=code.t$i REPRISE_ARTIFACT=code.t$i.md "$AGENT" & done
wait
for i in 1 2 3 4 5 6 7 8; do
	git add "code.t$i" "code.t$i.md"
	git commit -q -m "code.t$i"
done
`

// lanes measures what it costs to do eight tasks at the same time.
func (b stepping) lanes() error {
	agent, err := b.Write("parts.sh", partsScript, 0o755)
	if err != nil {
		return err
	}
	plan := fmt.Sprintf(`name: "parts"
agents: a: {use: "command", command: [%q]}
phases: [{
	name: "plan", goal: "Plan.", review: false
	report: tasks: [...{id: string, title: string, goal: string, files: [...string]}]
}, {name: "code", goal: "Build.", must_change: true, review: false}]
rules: [{after: "plan", when: {}, then: split: true}]
`, agent)
	if _, err := b.Write("parts.cue", plan, 0o644); err != nil {
		return err
	}
	if _, err := b.Write("b.md", issueText, 0o644); err != nil {
		return err
	}
	ours, err := b.twenty(3, "lanes", "", func(repo string) error {
		return b.Command(repo, b.Bin, "run", "--issue-file", filepath.Join(b.Dir, "b.md"), "--pipeline", filepath.Join(b.Dir, "parts.cue"), "--jobs", "8").Run()
	})
	if err != nil {
		return err
	}
	least, err := b.twenty(3, "lanes", "least", func(repo string) error {
		cmd := b.Command(repo, "sh", "-c", besideScript)
		cmd.Env = append(cmd.Env, "AGENT="+agent)
		return cmd.Run()
	})
	if err != nil {
		return err
	}
	b.Times("eight tasks of 1 s at the same time, the whole run", 20*ours, 20*least, "ratio <= 1.25", "a shell script: same agents at the same time, git add, commit")
	return nil
}
