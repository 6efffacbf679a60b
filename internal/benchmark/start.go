package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const emptyProgram = `package main

import "fmt"

func main() { fmt.Println("reprise") }
`

// start measures the start of the program, its size, and the memory of a run.
func (b *bench) start() error {
	src, err := b.write("empty.go", emptyProgram, 0o644)
	if err != nil {
		return err
	}
	empty := filepath.Join(b.dir, "empty")
	if err := b.command("", "go", "build", "-ldflags=-s -w", "-o", empty, src).Run(); err != nil {
		return err
	}
	ours, err := repeat(31, func() error { return b.command("", b.bin, "version").Run() })
	if err != nil {
		return err
	}
	least, err := repeat(31, func() error { return b.command("", empty).Run() })
	if err != nil {
		return err
	}
	b.times("start: `reprise version`", ours, least, "<= 10 ms", "a Go program that prints a word")

	repo, err := b.repository("start")
	if err != nil {
		return err
	}
	issue, err := b.write("memory.md", issueText, 0o644)
	if err != nil {
		return err
	}
	run, err := b.peak(repo, b.bin, "run", "--issue-file", issue, "--agent", "rehearsal", "--pipeline", "full")
	if err != nil {
		return err
	}
	bare, err := b.peak("", empty)
	if err != nil {
		return err
	}
	b.sizes("peak memory of a run of ten phases", run, bare, "<= 40 MB", "a Go program that prints a word")
	size := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	b.sizes("binary, stripped", size(b.bin), size(empty), "<= 25 MB", "a Go program that prints a word")
	return nil
}

// sizes adds a row for two sizes in bytes.
func (b *bench) sizes(measure string, ours, least int64, target, how string) {
	mb := func(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
	b.rows = append(b.rows, row{measure, mb(ours), mb(least), fmt.Sprintf("%.1f", float64(ours)/float64(least)), target, how})
}

// peak gives the most memory a program held, in bytes.
func (b *bench) peak(dir, name string, args ...string) (int64, error) {
	c := b.command(dir, name, args...)
	if err := c.Run(); err != nil {
		return 0, err
	}
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, fmt.Errorf("this system does not tell the memory of a process")
	}
	return int64(usage.Maxrss) * 1024, nil // Linux counts kilobytes
}
