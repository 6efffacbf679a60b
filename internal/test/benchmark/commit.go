package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
)

// committing is measured in repositories of its own.
type committing struct{ *bench.Bench }

// commits measures a commit of state alone in trees of three sizes.
func (b committing) commits() error {
	var all []time.Duration
	for _, n := range []int{1_000, 10_000, 100_000} {
		repo, err := b.bigRepository(n)
		if err != nil {
			return err
		}
		ours, err := b.commitState(repo, n)
		if err != nil {
			return err
		}
		least, err := b.fastImport(repo)
		if err != nil {
			return err
		}
		all = append(all, ours)
		b.Times(fmt.Sprintf("commit of the record, tree of %d files", n), ours, least, "<= 8 ms", "git fast-import of the same commit")
		if err := os.RemoveAll(repo); err != nil {
			return err
		}
	}
	growth := float64(max(all[0], all[1], all[2])) / float64(min(all[0], all[1], all[2]))
	b.Rows = append(b.Rows, bench.Row{Measure: "the same, largest over smallest", Ours: fmt.Sprintf("%.2f", growth), Least: "1.00", Target: "<= 1.3", How: "a cost that does not grow with the tree"})
	return nil
}

// bigRepository makes a repository with n files in folders of a hundred.
func (b committing) bigRepository(n int) (string, error) {
	dir := filepath.Join(b.Dir, fmt.Sprintf("big-%d", n))
	if err := b.Command(b.Dir, "git", "init", "-q", dir).Run(); err != nil {
		return "", err
	}
	var s bytes.Buffer
	s.WriteString("commit refs/heads/master\ncommitter b <b@example.com> 1700000000 +0000\ndata 4\nbig\n")
	for i := range n {
		text := fmt.Sprintf("file %d\n", i)
		fmt.Fprintf(&s, "M 100644 inline d%d/e%d/f%d.txt\ndata %d\n%s\n", i/10000, i/100, i, len(text), text)
	}
	imp := b.Command(dir, "git", "fast-import", "--quiet")
	imp.Stdin = &s
	if err := imp.Run(); err != nil {
		return "", err
	}
	return dir, b.Command(dir, "git", "symbolic-ref", "HEAD", "refs/heads/master").Run()
}

// commitState gives the median of state commits.
func (b committing) commitState(repo string, n int) (time.Duration, error) {
	ctx := context.Background()
	src, err := git.Find(ctx, repo)
	if err != nil {
		return 0, err
	}
	r, err := git.Open(ctx, git.Options{Source: src, Root: filepath.Join(b.Dir, fmt.Sprintf("root-%d", n)), Branch: "reprise/issue-b", State: ".reprise/issue-b"})
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Close() }() // nothing of it is used any more
	i := 0
	return bench.Repeat(21, func() error {
		i++
		_, err := r.Commit(ctx, git.Commit{Message: "state", Files: map[string][]byte{".reprise/issue-b/metadata.json": record(i)}, Time: time.Unix(1_700_000_000, 0)})
		return err
	})
}

// record is a file of the size that a record of ten phases has.
func record(i int) []byte {
	return append(bytes.Repeat([]byte("{\"k\": \"v\"}\n"), 2000), fmt.Sprintf("%d\n", i)...)
}

// fastImport gives the median of bare imports of the same commit.
func (b committing) fastImport(repo string) (time.Duration, error) {
	i := 0
	return bench.Repeat(21, func() error {
		i++
		data := record(i)
		var s bytes.Buffer
		fmt.Fprintf(&s, "commit refs/heads/least\ncommitter b <b@example.com> 1700000000 +0000\ndata 5\nstate\nfrom refs/heads/%s^0\nM 100644 inline .reprise/issue-b/metadata.json\ndata %d\n", map[bool]string{true: "master", false: "least"}[i == 1], len(data))
		s.Write(data)
		s.WriteString("\n")
		c := b.Command(repo, "git", "fast-import", "--quiet", "--done")
		s.WriteString("done\n")
		c.Stdin = &s
		return c.Run()
	})
}
