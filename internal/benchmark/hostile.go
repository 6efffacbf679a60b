package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

var hostileLine = regexp.MustCompile(`(?m)^BenchmarkHostile/(\d+)kB\S*\s.*?([\d.]+) once-ms\s+([\d.]+) slowest-ms`)

// hostile measures texts made to be slow, of 64 kB and 1 MB, on their way
// through the reader of commands, the cleaner and the masks.
func (b *bench) hostile() error {
	c := b.command("", "go", "test", "-run", "^$", "-bench", "^BenchmarkHostile$", "-benchtime", "3x", "./cmd/reprise")
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
		b.times("hostile "+found[i][1]+" kB through parse, clean and mask, the slowest of many", figures[1], figures[0], target, "turning the same text into capitals")
	}
	growth := float64(took[1]) / float64(took[0])
	b.rows = append(b.rows, row{"1 MB of it in times of 64 kB", fmt.Sprintf("%.1f", growth), "16", fmt.Sprintf("%.2f", growth/16), "linear: 16", "as much text as that"})
	return nil
}
