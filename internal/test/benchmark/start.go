package main

import (
	"os"
	"path/filepath"

	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
)

const emptyProgram = `package main

import "fmt"

func main() { fmt.Println("reprise") }
`

// start measures the start of the program, its size, and the memory of a run.
func start(b *bench.Bench) error {
	src, err := b.Write("empty.go", emptyProgram, 0o644)
	if err != nil {
		return err
	}
	empty := filepath.Join(b.Dir, "empty")
	if err := b.Command("", "go", "build", "-ldflags=-s -w", "-o", empty, src).Run(); err != nil {
		return err
	}
	ours, err := bench.Repeat(31, func() error { return b.Command("", b.Bin, "--version").Run() })
	if err != nil {
		return err
	}
	least, err := bench.Repeat(31, func() error { return b.Command("", empty).Run() })
	if err != nil {
		return err
	}
	b.Times("start: `reprise --version`", ours, least, "<= 10 ms", "a Go program that prints a word")

	repo, err := b.Repository("start")
	if err != nil {
		return err
	}
	issue, err := b.Write("memory.md", issueText, 0o644)
	if err != nil {
		return err
	}
	run, err := b.Peak(repo, b.Bin, "run", "--issue-file", issue, "--agent", "rehearsal", "--pipeline", "full")
	if err != nil {
		return err
	}
	bare, err := b.Peak("", empty)
	if err != nil {
		return err
	}
	b.Sizes("peak memory of a run of ten phases", run, bare, "<= 40 MB", "a Go program that prints a word")
	size := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	b.Sizes("binary, stripped", size(b.Bin), size(empty), "<= 25 MB", "a Go program that prints a word")
	return nil
}
