package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
)

var promptLine = regexp.MustCompile(`(?m)^----- prompt: (\w+) (\w+), (\d+) bytes -----$`)

// prompts counts agent calls and bytes of prompts in a dry run of the full
// pipeline.
func (b *bench) prompts() error {
	repo, err := b.repository("prompts")
	if err != nil {
		return err
	}
	issue, err := b.write("p.md", issueText, 0o644)
	if err != nil {
		return err
	}
	c := b.command(repo, b.bin, "run", "--dry-run", "--show-prompts", "--issue-file", issue, "--pipeline", "full")
	var out bytes.Buffer
	c.Stderr = &out
	if err := c.Run(); err != nil {
		return err
	}
	calls, size := map[string]int{}, 0
	for _, m := range promptLine.FindAllStringSubmatch(out.String(), -1) {
		n, err := strconv.Atoi(m[3])
		if err != nil {
			return err
		}
		calls[m[1]]++
		if m[2] != "revise" && (m[2] != "review" || calls[m[1]] == 2) { // the first round of each phase
			size += n - len(issueText)
		}
	}
	b.rows = append(b.rows,
		row{"agent calls of a phase that passes at once", strconv.Itoa(calls["design"]), "2", fmt.Sprintf("%.1f", float64(calls["design"])/2), "2", "one call to write, one to review"},
		row{"bytes of prompts in a run of ten phases", fmt.Sprintf("%.1f kB", float64(size)/1000), "", "", "<= 60 kB", "issue text left out"})
	return nil
}
