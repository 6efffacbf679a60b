package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
)

// restarting is to be killed and started again.
type restarting struct{ *bench.Bench }

// sleeper is an agent that notes when it was started, beside its artifact, and
// then takes its time.
const sleeper = `#!/bin/sh
: > "${REPRISE_ARTIFACT%/*}/note"
exec sleep 60
`

// restart measures the time from a start after SIGKILL to the agent's start.
func (b restarting) restart() error {
	agent, err := b.Write("sleeper.sh", sleeper, 0o755)
	if err != nil {
		return err
	}
	planFile, err := b.Write("restart.cue", tenPhases(agent, "0"), 0o644)
	if err != nil {
		return err
	}
	issue, err := b.Write("r.md", issueText, 0o644)
	if err != nil {
		return err
	}
	repo, err := b.Repository("restart")
	if err != nil {
		return err
	}
	if _, err := b.untilNote(repo, b.Bin, "run", "--issue-file", issue, "--pipeline", planFile); err != nil {
		return err
	}
	var ours time.Duration
	for range 5 {
		d, err := b.untilNote(repo, b.Bin, "run", "--issue", "r")
		if err != nil {
			return err
		}
		if ours == 0 || d < ours {
			ours = d
		}
	}
	least, err := b.untilNote(repo, "sh", "-c", `git status --porcelain && git checkout -q -f && git clean -qfd && exec "$1"`, "sh", agent)
	if err != nil {
		return err
	}
	b.Times("SIGKILL, started again, to the agent's start", ours, least, "<= 150 ms", "a shell script: git status, checkout, clean, agent")
	return nil
}

// untilNote starts a program, waits until its agent has started, and kills it.
func (b restarting) untilNote(repo, name string, args ...string) (time.Duration, error) {
	if err := b.forEachNote(repo, os.Remove); err != nil {
		return 0, err
	}
	c := b.Command(repo, name, args...)
	c.Env = append(c.Env, "REPRISE_ARTIFACT=./x") // for the script; reprise sets its own
	start := time.Now()
	if err := c.Start(); err != nil {
		return 0, err
	}
	for {
		found := false
		if err := b.forEachNote(repo, func(string) error { found = true; return nil }); err != nil {
			return 0, err
		}
		if found {
			break
		}
		if time.Since(start) > 10*time.Second {
			return 0, fmt.Errorf("%s %s: the agent has not started after 10 s", name, strings.Join(args, " "))
		}
		time.Sleep(200 * time.Microsecond)
	}
	took := time.Since(start)
	if err := c.Process.Kill(); err != nil {
		return 0, err
	}
	_ = c.Wait() // it was killed
	return took, nil
}

// forEachNote calls do with every note that there is.
func (b restarting) forEachNote(repo string, do func(string) error) error {
	notes, err := filepath.Glob(filepath.Join(b.Home, "restart-*", "r", "tree", ".reprise", "issue-r", "00_p0", "note"))
	if err != nil {
		return err
	}
	own := filepath.Join(repo, "note")
	if _, err := os.Stat(own); err == nil {
		notes = append(notes, own)
	}
	for _, n := range notes {
		if err := do(n); err != nil {
			return err
		}
	}
	return nil
}
