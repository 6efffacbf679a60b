package main

import (
	"fmt"
	"strings"
	"time"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// vet measures checking a pipeline, as a whole process.
func vet(b *bench.Bench) error {
	targets := map[int]string{10: "<= 25 ms", 100: "<= 200 ms", 1000: "<= 1200 ms"}
	for _, n := range []int{10, 100, 1000} {
		var s strings.Builder
		s.WriteString("name: \"big\"\nagents: {a: {use: \"claude\"}}\ndefaults: {agent: \"a\", reviewer: \"a\"}\nphases: [\n")
		for i := range n {
			fmt.Fprintf(&s, "\t{name: \"p%d\", goal: \"Write it.\", writes: \"p%d.md\", gates: [\"It is right\"]},\n", i, i)
		}
		s.WriteString("]\n")
		file, err := b.Write(fmt.Sprintf("vet-%d.cue", n), s.String(), 0o644)
		if err != nil {
			return err
		}
		ours, err := bench.Repeat(5, func() error { return b.Command(b.Dir, b.Bin, "vet", file).Run() })
		if err != nil {
			return err
		}
		start, err := bench.Repeat(5, func() error { return b.Command("", b.Bin, "--version").Run() })
		if err != nil {
			return err
		}
		least, err := bench.Repeat(5, func() error {
			return source.NewContext().CompileString(s.String()).Validate(cue.Concrete(true))
		})
		if err != nil {
			return err
		}
		b.Times(fmt.Sprintf("vet of %d phases, whole process", n), ours, least+start.Round(time.Microsecond), targets[n], "CUE compiling the file with no schema at all, plus one start")
	}
	return nil
}
