package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
	"github.com/reprise-ci/reprise/metadata"
)

// rollback is measured on runs with a long history.
type rollback struct{ *bench.Bench }

// recordPath is where the record of the run lies on its branch.
const recordPath = ".reprise/issue-b/metadata.json"

// leastRollback is the least: it reads the record, changes a line, and unless it
// only looks, commits and pushes that.
const leastRollback = `
set -e
git show HEAD:.reprise/issue-b/metadata.json | sed '0,/"revision"/s/"revision": .*/"revision": '$$',/' > out.json
[ "$LOOK" = "" ] || exit 0
mv out.json .reprise/issue-b/metadata.json
git commit -q -a -m rollback
git push -q origin HEAD
`

// rollbacks measures how long it takes to take a run back, by the length of its
// history.
func (b rollback) rollbacks() error {
	type pair struct{ ours, least float64 }
	took := map[bool]map[int]pair{true: {}, false: {}}
	for _, n := range []int{10, 1_000, 10_000} {
		repo, err := b.longRun(n)
		if err != nil {
			return err
		}
		for _, look := range []bool{true, false} {
			ours, least, err := b.rollbackTimes(repo, look)
			if err != nil {
				return err
			}
			took[look][n] = pair{float64(ours), float64(least)}
			name, target := "rollback and push", map[int]string{10: "<= 90 ms", 1_000: "<= 1 s", 10_000: "<= 90 ms"}[n]
			if look {
				name, target = "rollback --dry-run", "<= 30 ms"
			}
			b.Times(fmt.Sprintf("%s, %d entries of history", name, n), ours, least, target, "a shell script: git show, one line edited"+map[bool]string{false: ", git commit, push"}[look])
		}
		if err := os.RemoveAll(repo); err != nil {
			return err
		}
	}
	for _, look := range []bool{true, false} {
		few, many := took[look][10], took[look][10_000]
		ours, least := many.ours/few.ours, many.least/few.least
		name := map[bool]string{true: "rollback --dry-run", false: "rollback and push"}[look]
		b.Rows = append(b.Rows, bench.Row{Measure: name + ", 10,000 entries over 10", Ours: fmt.Sprintf("%.2f", ours), Least: fmt.Sprintf("%.2f", least), Ratio: fmt.Sprintf("%.2f", ours/least), Target: "<= 1.5", How: "how the shell script grows"})
	}
	return nil
}

// rollbackTimes gives the median time of a rollback of ours and of the least.
func (b rollback) rollbackTimes(repo string, look bool) (ours, least time.Duration, err error) {
	args := []string{"rollback", "--issue", "b", "--to-phase", "design", "--reason", "The API must stay REST.", "--force"}
	if look {
		args = append(args, "--dry-run")
	}
	reprise := func() error {
		c := b.Command(repo, b.Bin, args...)
		c.Stderr = nil
		return c.Run()
	}
	if err := reprise(); err != nil { // the first lays out the work tree
		return 0, 0, fmt.Errorf("rollback: %w", err)
	}
	if ours, err = bench.Repeat(15, reprise); err != nil {
		return 0, 0, err
	}
	side := repo + "-side"
	if err := b.Command(b.Dir, "git", "clone", "-q", "-b", "reprise/issue-b", repo+".git", side).Run(); err != nil {
		return 0, 0, err
	}
	least, err = bench.Repeat(15, func() error {
		c := b.Command(side, "sh", "-c", leastRollback)
		c.Env = append(c.Env, map[bool]string{true: "LOOK=1", false: "LOOK="}[look])
		return c.Run()
	})
	if err != nil {
		return 0, 0, err
	}
	return ours, least, os.RemoveAll(side)
}

// twoPhases is a pipeline whose run has nine entries of history once it is
// completed.
func twoPhases(agent string) string {
	return fmt.Sprintf(`name: "bench"
agents: {a: {use: "command", command: [%q]}}
defaults: {agent: "a", reviewer: "a"}
phases: [
	{name: "design", goal: "Write it.", access: "artifacts"},
	{name: "build", goal: "Write it.", access: "artifacts"},
]
`, agent)
}

// longRun makes a repository with a run that is completed and has a history of
// n entries: attempts, decisions and rollbacks in equal parts. No machine has
// worked on it yet.
func (b rollback) longRun(n int) (string, error) {
	agent, err := b.Write("agent.sh", agentScript, 0o755)
	if err != nil {
		return "", err
	}
	plan, err := b.Write("long.cue", twoPhases(agent), 0o644)
	if err != nil {
		return "", err
	}
	issue, err := b.Write("b.md", issueText, 0o644)
	if err != nil {
		return "", err
	}
	repo, err := b.Repository(fmt.Sprintf("long-%d", n))
	if err != nil {
		return "", err
	}
	run := b.Command(repo, b.Bin, "run", "--issue-file", issue, "--pipeline", plan, "--push")
	if err := run.Run(); err != nil {
		return "", err
	}
	side := repo + "-side"
	if err := b.Command(b.Dir, "git", "clone", "-q", "-b", "reprise/issue-b", repo+".git", side).Run(); err != nil {
		return "", err
	}
	if err := lengthen(filepath.Join(side, filepath.FromSlash(recordPath)), n); err != nil {
		return "", err
	}
	script := `cd "$1-side" && git commit -q -a -m history && git push -q origin HEAD && cd "$1" &&
		git fetch -q origin +reprise/issue-b:reprise/issue-b`
	if err := b.Command(b.Dir, "sh", "-c", script, "sh", repo).Run(); err != nil {
		return "", err
	}
	for _, dir := range []string{side, b.Home} {
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
	}
	return repo, nil
}

// lengthen adds to the record in a file until its history has n entries.
func lengthen(file string, n int) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	r, err := metadata.Parse(data, file)
	if err != nil {
		return err
	}
	first := r.CreatedAt
	for i := 0; len(r.Attempts)+len(r.Decisions)+len(r.RollbackHistory) < n; i++ {
		at := first.Add(time.Duration(i) * time.Second)
		switch i % 3 {
		case 1:
			r.Attempts = append(r.Attempts, metadata.Attempt{
				N: len(r.Attempts) + 1, Phase: "design", Step: metadata.Review, Agent: "a", Status: metadata.Succeeded,
				Session: fmt.Sprintf("6ba7b810-9dad-11d1-80b4-%012d", i), StartedAt: at, EndedAt: &at, DurationMS: 61_000,
				Usage: metadata.Usage{InputTokens: int64(20_000 + i), OutputTokens: 1_500, Turns: 12, USD: 0.08},
			})
		case 2:
			r.Decisions = append(r.Decisions, metadata.Decision{At: at, Step: "review", Phase: "design", Why: metadata.Because("work_changed")})
		case 0:
			r.RollbackHistory = append(r.RollbackHistory, metadata.Rollback{
				Timestamp: at, FromPhase: "build", FromStep: metadata.Review, ToPhase: "design", ToStep: metadata.Revise,
				Reason: fmt.Sprintf("The API must stay REST, says customer %d; see the second paragraph of the issue.", i), TriggeredBy: metadata.Manual, By: "ada",
			})
		}
	}
	if data, err = metadata.Format(r); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}
