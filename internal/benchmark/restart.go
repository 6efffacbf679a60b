package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// sleeper is an agent that notes when it was started and then takes its time.
const sleeper = `#!/bin/sh
touch "$NOTE"
exec sleep 60
`

// restart measures the time from a start after SIGKILL to the agent's start.
func (b *bench) restart() error {
	agent, err := b.write("sleeper.sh", sleeper, 0o755)
	if err != nil {
		return err
	}
	plan := strings.Replace(tenPhases(agent, "0"), "AGENT_SLEEP", "NOTE", 1)
	planFile, err := b.write("restart.cue", plan, 0o644)
	if err != nil {
		return err
	}
	issue, err := b.write("r.md", issueText, 0o644)
	if err != nil {
		return err
	}
	repo, err := b.repository("restart")
	if err != nil {
		return err
	}
	if _, err := b.untilNote(repo, b.bin, "run", "--issue-file", issue, "--pipeline", planFile); err != nil {
		return err
	}
	var ours time.Duration
	for range 5 {
		d, err := b.untilNote(repo, b.bin, "run", "--issue", "r")
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
	b.times("SIGKILL, started again, to the agent's start", ours, least, "<= 150 ms", "a shell script: git status, checkout, clean, agent")
	return nil
}

// untilNote starts a program, waits until its agent has started, and kills it.
func (b *bench) untilNote(repo, name string, args ...string) (time.Duration, error) {
	note := filepath.Join(b.dir, "note")
	if err := os.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	c := b.command(repo, name, args...)
	c.Env = append(c.Env, "NOTE="+note)
	start := time.Now()
	if err := c.Start(); err != nil {
		return 0, err
	}
	for {
		if _, err := os.Stat(note); err == nil {
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
