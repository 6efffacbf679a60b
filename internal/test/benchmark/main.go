// Command benchmark measures what reprise itself costs, beside the least that
// could do the same work, in the same run, and prints one table. Run it from
// the top of the repository:
//
//	go run ./internal/test/benchmark            # everything, some two minutes
//	go run ./internal/test/benchmark -only steps,start
//	go run ./internal/test/benchmark -only checks -project ../gin -setup 'go mod download' -check 'go test ./...'
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

func main() {
	only := flag.String("only", "", "comma-separated: steps, start, vet, memory, gate, checks")
	var p project
	flag.StringVar(&p.repository, "project", "", "a repository whose checks are measured, too")
	flag.StringVar(&p.setup, "setup", "true", "what its checks need first")
	flag.StringVar(&p.check, "check", "", "its check")
	flag.Parse()
	if err := measure(*only, p); err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

// bench is where everything is measured, and the table of what came out.
type bench struct {
	dir  string // scratch folder, with the files of the benchmark and two programs: reprise, and one that prints a word
	made int    // repositories
	rows []row
}

// row is one line of the table.
type row struct{ measure, ours, least, ratio, target, how string }

func measure(only string, p project) error {
	dir, err := os.MkdirTemp("", "reprise-benchmark-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	b := &bench{dir: dir}
	if err := b.prepare(); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		do   func(*bench) error
	}{{"steps", steps}, {"start", start}, {"vet", vet}, {"memory", memory}, {"gate", gateCost}, {"checks", p.checks}} {
		if part.name == "checks" && p.repository == "" {
			continue
		}
		if only != "" && !slices.Contains(strings.Split(only, ","), part.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring", part.name, "...")
		if err := part.do(b); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	fmt.Println("| measure | reprise | least | ratio | target | least is |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, r := range b.rows {
		fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", r.measure, r.ours, r.least, r.ratio, r.target, r.how)
	}
	return nil
}

// prepare writes the files of the benchmark, and builds reprise as for a release.
func (b *bench) prepare() error {
	for name, text := range files {
		name = filepath.Join(b.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(text, "{{dir}}", b.dir)), 0o755); err != nil {
			return err
		}
	}
	return b.command("", `go build -ldflags="-s -w" -o "$BENCH/reprise" ./cmd/reprise
		go build -ldflags="-s -w" -o "$BENCH/word" "$BENCH/word.go"`).Run()
}

// command prepares a script of the shell, with errors shown and an environment
// that no setting of this machine gets into. $BENCH is the scratch folder.
func (b *bench) command(dir, script string) *exec.Cmd {
	c := exec.Command("sh", "-ec", script)
	c.Dir, c.Stderr = dir, os.Stderr
	c.Env = append(os.Environ(),
		"BENCH="+b.dir, "REPRISE_HOME="+filepath.Join(b.dir, "home"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=b", "GIT_AUTHOR_EMAIL=b@example.com", "GIT_COMMITTER_NAME=b", "GIT_COMMITTER_EMAIL=b@example.com",
	)
	return c
}

// repository makes a repository with one commit and a bare origin.
func (b *bench) repository() (string, error) {
	b.made++
	dir := filepath.Join(b.dir, fmt.Sprintf("repository-%d", b.made))
	return dir, b.command(b.dir, fmt.Sprintf(`git init -q -b main --bare %[1]s.git; git init -q -b main %[1]s; cd %[1]s
		echo hello >README.md; git add .; git commit -q -m init; git remote add origin "$PWD.git"; git push -q origin HEAD`, filepath.Base(dir))).Run()
}

// compared is something that reprise does, and a script that does the least.
type compared struct {
	name, ours, least string
	rounds, parts     int // each round has so many parts, and the time of one is told
	target, how       string
}

// compare adds a row for each. Every round is in a repository of its own, and ours
// and the least take turns, so that both have the same machine.
func (b *bench) compare(all ...compared) error {
	for _, c := range all {
		var took [2][]time.Duration
		for range c.rounds {
			for i, script := range []string{c.ours, c.least} {
				repo, err := b.repository()
				if err != nil {
					return err
				}
				begun := time.Now()
				if err := b.command(repo, script).Run(); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
				took[i] = append(took[i], time.Since(begun)/time.Duration(c.parts))
			}
		}
		b.times(row{measure: c.name, target: c.target, how: c.how}, median(took[0]), median(took[1]))
	}
	return nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// times adds a row for two durations.
func (b *bench) times(r row, ours, least time.Duration) {
	millis := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
	r.ours, r.least, r.ratio = millis(ours), millis(least), fmt.Sprintf("%.2f", float64(ours)/float64(least))
	b.rows = append(b.rows, r)
}

// sizes adds a row for two sizes in bytes.
func (b *bench) sizes(r row, ours, least int64) {
	mb := func(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
	r.ours, r.least, r.ratio = mb(ours), mb(least), fmt.Sprintf("%.1f", float64(ours)/float64(least))
	b.rows = append(b.rows, r)
}
