package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"

	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
)

var promptLine = regexp.MustCompile(`(?m)^----- prompt: (\w+) (\w+), (\d+) bytes -----$`)

// prompts counts agent calls and bytes of prompts in a dry run of the full
// pipeline.
func prompts(b *bench.Bench) error {
	repo, err := b.Repository("prompts")
	if err != nil {
		return err
	}
	issue, err := b.Write("p.md", issueText, 0o644)
	if err != nil {
		return err
	}
	c := b.Command(repo, b.Bin, "explain", "--prompts", "--issue-file", issue, "--pipeline", "full")
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
	b.Rows = append(b.Rows,
		bench.Row{Measure: "agent calls of a phase that passes at once", Ours: strconv.Itoa(calls["design"]), Least: "2", Ratio: fmt.Sprintf("%.1f", float64(calls["design"])/2), Target: "2", How: "one call to write, one to review"},
		bench.Row{Measure: "bytes of prompts in a run of ten phases", Ours: fmt.Sprintf("%.1f kB", float64(size)/1000), Target: "<= 60 kB", How: "issue text left out"})
	return nil
}
