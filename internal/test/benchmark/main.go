// Command benchmark measures what reprise itself costs, beside the least that
// could do the same work, in the same run, and prints one table. Run it from
// the top of the repository:
//
//	go run ./internal/test/benchmark            # everything, some four minutes
//	go run ./internal/test/benchmark -only steps,start
//
// Times are medians. A ratio is ours divided by the least.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
)

func main() {
	only := flag.String("only", "", "comma-separated: steps, lanes, start, vet, commit, prompts, hostile, memory, restart, calls, sandbox, rollback, action, secrets, gate")
	flag.Parse()
	if err := measure(*only); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

func measure(only string) error {
	dir, err := os.MkdirTemp("", "reprise-benchmark-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	b := &bench.Bench{Dir: dir, Bin: filepath.Join(dir, "reprise"), Home: filepath.Join(dir, "home")}
	if err := b.Command("", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.Bin, "./cmd/reprise").Run(); err != nil {
		return fmt.Errorf("building reprise: %w", err)
	}
	parts := []struct {
		name string
		do   func(*bench.Bench) error
	}{
		{"steps", func(b *bench.Bench) error { return stepping{b}.steps() }},
		{"lanes", func(b *bench.Bench) error { return stepping{b}.lanes() }},
		{"start", start},
		{"vet", vet},
		{"commit", func(b *bench.Bench) error { return committing{b}.commits() }},
		{"prompts", prompts},
		{"hostile", hostile},
		{"memory", func(b *bench.Bench) error { return loudness{b}.memory() }},
		{"restart", func(b *bench.Bench) error { return restarting{b}.restart() }},
		{"calls", func(b *bench.Bench) error { return calling{b}.calls() }},
		{"sandbox", sandboxCost},
		{"rollback", func(b *bench.Bench) error { return rollback{b}.rollbacks() }},
		{"action", action},
		{"secrets", secretSearch},
		{"gate", gateCost},
	}
	for _, p := range parts {
		if only != "" && !slices.Contains(strings.Split(only, ","), p.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring", p.name, "...")
		if err := p.do(b); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	b.Print()
	return nil
}
