package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
)

var hostileLine = regexp.MustCompile(`(?m)^BenchmarkHostile/(\d+)kB\S*\s.*?([\d.]+) once-ms\s+([\d.]+) slowest-ms`)

// hostile measures texts made to be slow, of 64 kB and 1 MB, on their way
// through the reader of commands, the cleaner and the masks.
func hostile(b *bench.Bench) error {
	c := b.Command("", "go", "test", "-run", "^$", "-bench", "^BenchmarkHostile$", "-benchtime", "3x", "./cmd/reprise")
	var out bytes.Buffer
	c.Stdout = &out
	if err := c.Run(); err != nil {
		return fmt.Errorf("%w:\n%s", err, out.Bytes())
	}
	found := hostileLine.FindAllStringSubmatch(out.String(), -1)
	if len(found) != 2 {
		return fmt.Errorf("no figures in\n%s", out.Bytes())
	}
	var took [2]time.Duration
	for i, target := range []string{"<= 10 ms", "<= 200 ms"} {
		var figures [2]time.Duration
		for j := range figures {
			ms, err := strconv.ParseFloat(found[i][2+j], 64)
			if err != nil {
				return err
			}
			figures[j] = max(time.Duration(ms*float64(time.Millisecond)), time.Microsecond)
		}
		took[i] = figures[1]
		b.Times("hostile "+found[i][1]+" kB through parse, clean and mask, the slowest of many", figures[1], figures[0], target, "turning the same text into capitals")
	}
	growth := float64(took[1]) / float64(took[0])
	b.Rows = append(b.Rows, bench.Row{Measure: "1 MB of it in times of 64 kB", Ours: fmt.Sprintf("%.1f", growth), Least: "16", Ratio: fmt.Sprintf("%.2f", growth/16), Target: "linear: 16", How: "as much text as that"})
	return nil
}
