package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// project is what the checks of a real repository are measured with.
type project struct{ repository, setup, check string }

const checksPipeline = `name: "checks"
finish: "keep"
setup: [{name: "packages", run: %q, timeout: "20m"}]
agents: a: {use: "command", command: ["%s/notes"]}
phases: [{name: "code", goal: "Write it.", access: "tree", review: false, checks: [{name: "tests", run: %q, timeout: "20m"}]}]
`

const notes = `#!/bin/sh
echo "$REPRISE_PHASE" >"$REPRISE_ARTIFACT"
echo note >>NOTES.md
`

// checks measures what the checks of a project cost beside the same command in the user's own checkout: cold, as in a fresh
// clone, for those of the base, and warm for those of work that changes no code, in this run and in the next one.
func (p project) checks(b *bench) error {
	for name, text := range map[string]string{"checks.cue": fmt.Sprintf(checksPipeline, p.setup, b.dir, p.check), "notes": notes} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o755); err != nil {
			return err
		}
	}
	own := fmt.Sprintf(`export HOME="$BENCH/user"; mkdir -p "$HOME"; cd "$BENCH/own"; { %s; } >"$BENCH/out.txt" 2>&1`, p.check)
	if err := b.command(b.dir, fmt.Sprintf(`git clone -q %q own; git clone -q own theirs; export HOME="$BENCH/user"; mkdir -p "$HOME"; cd own; { %s; } >"$BENCH/out.txt" 2>&1`, p.repository, p.setup)).Run(); err != nil {
		return fmt.Errorf("the setup: %w", err)
	}
	var least [3]time.Duration
	for i := range least {
		begun := time.Now()
		if err := b.command(b.dir, own).Run(); err != nil {
			return fmt.Errorf("the check: %w", err)
		}
		least[i] = time.Since(begun)
	}
	var base, round [2]time.Duration
	for i, issue := range []string{"one", "two"} {
		if err := b.command(filepath.Join(b.dir, "theirs"), fmt.Sprintf(`cp "$BENCH/b.md" "$BENCH/%[1]s.md"; "$BENCH/reprise" run --issue-file "$BENCH/%[1]s.md" --pipeline "$BENCH/checks.cue" >"$BENCH/out.txt" || { tail -30 "$BENCH/out.txt" >&2; exit 1; }
			git show reprise/issue-%[1]s:.reprise/issue-%[1]s/metadata.json >"$BENCH/record.json"`, issue)).Run(); err != nil {
			return err
		}
		data, err := os.ReadFile(filepath.Join(b.dir, "record.json"))
		if err != nil {
			return err
		}
		var run metadata.Run
		if err := json.Unmarshal(data, &run); err != nil {
			return err
		}
		if len(run.Baseline) != 1 || len(run.Phases) != 1 || run.Phases[0].Checks == nil || !run.Phases[0].Checks.Results[0].Pass {
			return fmt.Errorf("the record of %s has no passing check: %+v", issue, run.Baseline)
		}
		base[i] = time.Duration(run.Baseline[0].DurationMS) * time.Millisecond
		round[i] = time.Duration(run.Phases[0].Checks.Results[0].DurationMS) * time.Millisecond
	}
	warm := min(least[1], least[2])
	b.times(row{measure: "checks of the base", target: "ratio <= 1.5", how: "the same command in a fresh clone"}, base[0], least[0])
	b.times(row{measure: "checks of unchanged code", target: "ratio <= 1.5", how: "the same command, warm"}, round[0], warm)
	b.times(row{measure: "checks of the base, in the next run", how: "the same command, warm"}, base[1], warm)
	b.times(row{measure: "checks of unchanged code, in the next run", target: "ratio <= 1.5", how: "the same command, warm"}, round[1], warm)
	return nil
}
