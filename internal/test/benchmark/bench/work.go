package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Command prepares a program with errors shown and an environment that no
// setting of this machine gets into.
func (b *Bench) Command(dir, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Stderr = os.Stderr
	c.Env = append(os.Environ(),
		"REPRISE_HOME="+b.Home, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=b", "GIT_AUTHOR_EMAIL=b@example.com", "GIT_COMMITTER_NAME=b", "GIT_COMMITTER_EMAIL=b@example.com",
	)
	return c
}

// Peak gives the most memory a program held, in bytes.
func (b *Bench) Peak(dir, name string, args ...string) (int64, error) {
	c := b.Command(dir, name, args...)
	if err := c.Run(); err != nil {
		return 0, err
	}
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, fmt.Errorf("this system does not tell the memory of a process")
	}
	return int64(usage.Maxrss) * 1024, nil // Linux counts kilobytes
}

// Repeat gives the median time of n calls.
func Repeat(n int, do func() error) (time.Duration, error) {
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

// Repository makes a repository with one commit and a bare origin.
func (b *Bench) Repository(name string) (string, error) {
	dir := filepath.Join(b.Dir, name)
	script := `git init -q -b main --bare "$1.git" && git init -q -b main "$1" && cd "$1" && echo hello > README.md &&
		git add . && git commit -q -m init && git remote add origin "$1.git" && git push -q origin HEAD`
	return dir, b.Command(b.Dir, "sh", "-c", script, "sh", dir).Run()
}

// Write puts a file into the scratch folder and gives its path.
func (b *Bench) Write(name, text string, mode os.FileMode) (string, error) {
	name = filepath.Join(b.Dir, name)
	return name, os.WriteFile(name, []byte(text), mode)
}
