package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
)

// loudness is what agents print.
type loudness struct{ *bench.Bench }

// chatter are agents that print too much: a program called claude that fills
// its standard output.
var chatter = []struct{ measure, script string }{
	{"more memory for an agent that prints 5 GB", "#!/bin/sh\nyes 'a line of output that says nothing at all, over and over' | head -c 5000000000\n"},
	{"more memory for an agent that prints one line of 100 MB", "#!/bin/sh\nhead -c 100000000 /dev/zero | tr '\\0' x\n"},
}

// memory measures what an agent's output costs in memory.
func (b loudness) memory() error {
	repo, err := b.Repository("memory")
	if err != nil {
		return err
	}
	issue, err := b.Write("m.md", issueText, 0o644)
	if err != nil {
		return err
	}
	plan, err := b.Write("m.cue", strings.ReplaceAll(memoryPlan, "\t", " "), 0o644)
	if err != nil {
		return err
	}
	silent, err := b.loud(repo, issue, plan, "#!/bin/sh\n")
	if err != nil {
		return err
	}
	for _, c := range chatter {
		ours, err := b.loud(repo, issue, plan, c.script)
		if err != nil {
			return err
		}
		b.Sizes(c.measure, max(ours-silent, 0), 8<<20, "<= 8 MB", "the limit; ours is the peak over that of a silent agent")
	}
	return nil
}

const memoryPlan = `name: "m"
agents: {a: {use: "claude"}}
defaults: {agent: "a", reviewer: "a", retry: {max: 0, initial: "1s", factor: 1, cap: "1s"}}
phases: [{name: "p", goal: "Write it.", writes: "p.md"}]
`

// loud gives the peak memory of a run with that script as claude. The run
// itself fails: such an agent brings no result.
func (b loudness) loud(repo, issue, plan, script string) (int64, error) {
	bin := filepath.Join(b.Dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return 0, err
	}
	if err := os.WriteFile(filepath.Join(bin, "claude"), []byte(script), 0o755); err != nil {
		return 0, err
	}
	// The shell turns the failure of the run into its own success, so that
	// only a program that does not run at all is an error here.
	run := `PATH="$1:$PATH"; export PATH; "$2" run --issue-file "$3" --pipeline "$4" > /dev/null 2>&1; code=$?; [ $code = 1 ]`
	defer func() { _ = b.Command(repo, "sh", "-c", "git branch -D reprise/issue-m; rm -rf "+b.Home).Run() }() // each run begins anew
	return b.Peak(repo, "sh", "-c", run, "sh", bin, b.Bin, issue, plan)
}
