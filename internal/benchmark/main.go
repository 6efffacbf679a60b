// Command benchmark measures what reprise itself costs, beside the least that
// could do the same work, in the same run, and prints one table. Run it from
// the top of the repository:
//
//	go run ./internal/benchmark            # everything, some four minutes
//	go run ./internal/benchmark -only steps,start
//
// Times are medians. A ratio is ours divided by the least.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// row is one line of the table.
type row struct {
	measure, ours, least, ratio, target, how string
}

// bench is what all measurements share.
type bench struct {
	dir  string // scratch folder
	bin  string // the program, built as for a release
	home string // where it keeps its runs
	rows []row
}

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
	b := &bench{dir: dir, bin: filepath.Join(dir, "reprise"), home: filepath.Join(dir, "home")}
	if err := b.command("", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.bin, "./cmd/reprise").Run(); err != nil {
		return fmt.Errorf("building reprise: %w", err)
	}
	parts := []struct {
		name string
		do   func() error
	}{
		{"steps", b.steps},
		{"lanes", b.lanes},
		{"start", b.start},
		{"vet", b.vet},
		{"commit", b.commits},
		{"prompts", b.prompts},
		{"hostile", b.hostile},
		{"memory", b.memory},
		{"restart", b.restart},
		{"calls", b.calls},
		{"sandbox", b.sandbox},
		{"rollback", b.rollbacks},
		{"action", b.action},
		{"secrets", b.secrets},
		{"gate", b.gate},
	}
	for _, p := range parts {
		if only != "" && !slices.Contains(strings.Split(only, ","), p.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring", p.name, "...")
		if err := p.do(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	b.print()
	return nil
}

func (b *bench) print() {
	fmt.Println("| measure | reprise | least | ratio | target | least is |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, r := range b.rows {
		fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", r.measure, r.ours, r.least, r.ratio, r.target, r.how)
	}
}

// gate measures what stands between an agent and the network.
func (b *bench) gate() error {
	f, err := throughGate()
	if err != nil {
		return err
	}
	b.times("the first byte of a model's answer, through the gate", f.first, f.firstDirect, "<= 1 ms more", "the same request without it, on loopback")
	b.times("100 MB of events of a model, through the gate", f.answer, f.answerDirect, "ratio <= 1.10", "the same without it, on loopback")
	b.times("the same events as a network of 1 Gbit/s carries them, through the gate", f.paced, f.pacedDirect, "ratio <= 1.10", "the same without it, on loopback")
	b.times("100 MB of another host, through the gate", f.tunnel, f.tunnelDirect, "ratio <= 1.10", "the same without it, on loopback")
	b.sizes("memory of a gate with an answer under way, its client included", f.memory, 2<<20, "<= 2 MB", "the limit")
	return nil
}

// times adds a row for two durations.
func (b *bench) times(measure string, ours, least time.Duration, target, how string) {
	b.rows = append(b.rows, row{measure, ms(ours), ms(least), fmt.Sprintf("%.2f", float64(ours)/float64(least)), target, how})
}

func ms(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// command prepares a program with errors shown and an environment that no
// setting of this machine gets into.
func (b *bench) command(dir, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Stderr = os.Stderr
	c.Env = append(os.Environ(),
		"REPRISE_HOME="+b.home, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=b", "GIT_AUTHOR_EMAIL=b@example.com", "GIT_COMMITTER_NAME=b", "GIT_COMMITTER_EMAIL=b@example.com",
	)
	return c
}

// repeat gives the median time of n calls.
func repeat(n int, do func() error) (time.Duration, error) {
	var all []time.Duration
	for range n {
		start := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// repository makes a repository with one commit and a bare origin.
func (b *bench) repository(name string) (string, error) {
	dir := filepath.Join(b.dir, name)
	script := `git init -q -b main --bare "$1.git" && git init -q -b main "$1" && cd "$1" && echo hello > README.md &&
		git add . && git commit -q -m init && git remote add origin "$1.git" && git push -q origin HEAD`
	return dir, b.command(b.dir, "sh", "-c", script, "sh", dir).Run()
}

// write puts a file into the scratch folder and gives its path.
func (b *bench) write(name, text string, mode os.FileMode) (string, error) {
	name = filepath.Join(b.dir, name)
	return name, os.WriteFile(name, []byte(text), mode)
}
