package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// files are what the scripts below use; {{dir}} is the folder that they are in.
// The agents do what the smallest agent does, and use no tool but the shell, so
// that they cost one process wherever they are started.
var files = map[string]string{
	"word.go": "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"reprise\") }\n",
	"b.md":    "# Add a greeting\n\nThe program should greet.\n",
	"agent": `#!/bin/sh
[ "${AGENT_SLEEP:-0}" = 0 ] || sleep "$AGENT_SLEEP"
if [ "$REPRISE_STEP" = review ]; then
	echo '{"structured": {"verdict": "pass", "gates": [], "findings": []}, "usage": {"input_tokens": 1, "output_tokens": 1}}'
else
	echo "$REPRISE_PHASE written $$" > "$REPRISE_ARTIFACT"
	echo '{"text": "done", "usage": {"input_tokens": 1, "output_tokens": 1}}'
fi
`,
	"steps.cue": `name: "bench"
agents: a: {use: "command", command: ["{{dir}}/agent"], env: ["AGENT_SLEEP"]}
defaults: {agent: "a", reviewer: "a"}
phases: [for i in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] {name: "p\(i)", goal: "Write it.", writes: "p\(i).md", access: "artifacts"}]
`,
	"tasks": `#!/bin/sh
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
`,
	"tasks.cue": `name: "tasks"
agents: a: {use: "command", command: ["{{dir}}/tasks"]}
phases: [{
	name: "plan", goal: "Plan.", review: false
	report: tasks: [...{id: string, title: string, goal: string, files: [...string]}]
}, {name: "code", goal: "Build.", must_change: true, review: false}]
rules: [{after: "plan", when: {}, then: split: true}]
`,
	"claude.cue": `name: "m"
agents: a: {use: "claude"}
defaults: {agent: "a", reviewer: "a", retry: {max: 0, initial: "1s", factor: 1, cap: "1s"}}
phases: [{name: "p", goal: "Write it.", writes: "p.md"}]
`,
	"silent/claude": "#!/bin/sh\n",
	"loud/claude":   "#!/bin/sh\nyes 'a line of output that says nothing at all, over and over' | head -c 5000000000\n",
	"line/claude":   "#!/bin/sh\nhead -c 100000000 /dev/zero | tr '\\0' x\n",
}

// What is compared with what reprise does: the same agent calls, a commit after
// each, and a push where reprise pushes, by scripts that keep no record and
// check nothing.
const (
	plainSteps = `
for phase in 0 1 2 3 4 5 6 7 8 9; do
	mkdir -p ".reprise/issue-b/0${phase}_p$phase"
	for step in execute review; do
		REPRISE_STEP=$step REPRISE_PHASE=p$phase REPRISE_ARTIFACT=".reprise/issue-b/0${phase}_p$phase/p$phase.md" "$BENCH/agent" > out.json < /dev/null
		echo "{\"phase\": \"p$phase\", \"step\": \"$step\"}" > .reprise/issue-b/metadata.json
		git add -A
		git commit -q -m "p$phase: $step"
		[ -z "$PUSH" ] || git push -q origin HEAD
	done
done
`
	plainTasks = `
REPRISE_PHASE=plan REPRISE_ARTIFACT=plan.md "$BENCH/tasks" >/dev/null
git add -A
git commit -q -m plan
for i in 1 2 3 4 5 6 7 8; do REPRISE_PHASE=code.t$i REPRISE_ARTIFACT=code.t$i.md "$BENCH/tasks" & done
wait
for i in 1 2 3 4 5 6 7 8; do
	git add "code.t$i" "code.t$i.md"
	git commit -q -m "code.t$i"
done
`
	steps20 = `"$BENCH/reprise" run --issue-file "$BENCH/b.md" --pipeline "$BENCH/steps.cue" >out.txt `
	scripts = "a shell script: same agents, git add, commit, push"
)

// steps measures what a step costs around the agent.
func steps(b *bench) error {
	return b.compare(
		compared{
			name: "a step, agent of 0.5 s, commit and push", rounds: 1, parts: 20, target: "ratio <= 1.10", how: scripts,
			ours: "export AGENT_SLEEP=0.5; " + steps20 + "--push", least: "export AGENT_SLEEP=0.5 PUSH=1" + plainSteps,
		},
		compared{name: "a step, instant agent, commit and push", rounds: 3, parts: 20, how: scripts, ours: steps20 + "--push", least: "export PUSH=1" + plainSteps},
		compared{name: "a step, instant agent, commit only", rounds: 3, parts: 20, how: scripts, ours: steps20, least: plainSteps},
		compared{
			name: "eight tasks of 1 s at the same time, the whole run", rounds: 3, parts: 1, target: "ratio <= 1.25", how: scripts,
			ours: `"$BENCH/reprise" run --issue-file "$BENCH/b.md" --pipeline "$BENCH/tasks.cue" --jobs 8 >out.txt`, least: plainTasks,
		},
	)
}

const word = "a Go program that prints a word"

// start measures the start of the program, its size, and the memory of a run.
func start(b *bench) error {
	if err := b.compare(compared{name: "start: `reprise --version`", rounds: 31, parts: 1, target: "<= 15 ms", how: word, ours: `exec "$BENCH/reprise" --version >out.txt`, least: `exec "$BENCH/word" >out.txt`}); err != nil {
		return err
	}
	run, err := b.peak(`exec "$BENCH/reprise" run --issue-file "$BENCH/b.md" --agent rehearsal --pipeline full >out.txt`)
	if err != nil {
		return err
	}
	least, err := b.peak(`exec "$BENCH/word" >out.txt`)
	if err != nil {
		return err
	}
	b.sizes(row{measure: "peak memory of a run of ten phases", target: "<= 45 MB", how: word}, run, least)
	ours, err := os.Stat(filepath.Join(b.dir, "reprise"))
	if err != nil {
		return err
	}
	bare, err := os.Stat(filepath.Join(b.dir, "word"))
	if err != nil {
		return err
	}
	b.sizes(row{measure: "binary, stripped", target: "<= 28 MB", how: word}, ours.Size(), bare.Size())
	return nil
}

// vet measures checking a pipeline, as a whole process.
func vet(b *bench) error {
	for n, target := range map[int]string{10: "<= 50 ms", 100: "<= 100 ms", 1000: "<= 400 ms"} {
		var s strings.Builder
		s.WriteString("name: \"big\"\nagents: {a: {use: \"claude\"}}\ndefaults: {agent: \"a\", reviewer: \"a\"}\nphases: [\n")
		for i := range n {
			fmt.Fprintf(&s, "\t{name: \"p%d\", goal: \"Write it.\", writes: \"p%d.md\", gates: [\"It is right\"]},\n", i, i)
		}
		s.WriteString("]\n")
		file := filepath.Join(b.dir, fmt.Sprintf("vet-%d.cue", n))
		if err := os.WriteFile(file, []byte(s.String()), 0o644); err != nil {
			return err
		}
		if err := b.compare(compared{name: fmt.Sprintf("vet of %d phases, whole process", n), rounds: 5, parts: 1, target: target, how: word, ours: `"$BENCH/reprise" vet ` + file + " >out.txt", least: `"$BENCH/word" >out.txt`}); err != nil {
			return err
		}
	}
	return nil
}

// memory measures what the output of an agent costs in memory. The runs fail,
// because such an agent brings no result.
func memory(b *bench) error {
	var silent int64
	for _, agent := range []struct{ dir, measure string }{
		{"silent", ""},
		{"loud", "more memory for an agent that prints 5 GB"},
		{"line", "more memory for an agent that prints one line of 100 MB"},
	} {
		peak, err := b.peak(fmt.Sprintf(`PATH="$BENCH/%s:$PATH" "$BENCH/reprise" run --issue-file "$BENCH/b.md" --pipeline "$BENCH/claude.cue" >out.txt 2>&1 || [ $? = 1 ]`, agent.dir))
		if err != nil {
			return err
		}
		if agent.measure == "" {
			silent = peak
			continue
		}
		b.sizes(row{measure: agent.measure, target: "<= 16 MB", how: "the limit; ours is the peak over that of a silent agent"}, max(peak-silent, 0), 16<<20)
	}
	return nil
}

// peak gives the most memory that a process of a script held, in bytes.
func (b *bench) peak(script string) (int64, error) {
	repo, err := b.repository()
	if err != nil {
		return 0, err
	}
	c := b.command(repo, script)
	if err := c.Run(); err != nil {
		return 0, err
	}
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, fmt.Errorf("this system does not tell the memory of a process")
	}
	return int64(usage.Maxrss) * 1024, nil // Linux counts kilobytes
}
