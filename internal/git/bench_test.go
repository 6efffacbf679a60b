package git

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// bigUser makes a repository with n files in one commit.
func bigUser(b *testing.B, n int) string {
	b.Helper()
	user := newUser(b, nil)
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit refs/heads/main\ncommitter a <a@b> 1 +0000\ndata 2\nm\nfrom refs/heads/main^0\n")
	for i := range n {
		text := fmt.Sprintf("file %d\n", i)
		fmt.Fprintf(&in, "M 100644 inline d%d/e%d/f%d\ndata %d\n%s", i%20, i/20%50, i, len(text), text)
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = user, &in
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	sh(b, user, "reset", "-q", "--hard")
	return user
}

var sizes = []int{1000, 10000}

// BenchmarkCommitState is a commit of state alone.
func BenchmarkCommitState(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := openRun(b, bigUser(b, n))
			commit(b, r, "{0}")
			for i := 0; b.Loop(); i++ {
				commit(b, r, fmt.Sprintf("{%d}", i))
			}
		})
	}
}

// BenchmarkFastImport is the least that could do the same: the same stream, and
// the user's branch moved along.
func BenchmarkFastImport(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			user := bigUser(b, n)
			tip := sh(b, user, "rev-parse", "HEAD")
			for i := 0; b.Loop(); i++ {
				text := fmt.Sprintf("{%d}", i)
				stream := fmt.Sprintf("feature done\ncommit refs/own/x\nmark :1\ncommitter a <a@b> 1 +0000\ndata 2\nm\nfrom %s\nM 100644 inline %s\ndata %d\n%s\nget-mark :1\ndone\n",
					tip, record, len(text), text)
				cmd := exec.Command("git", "fast-import", "--quiet", "--done")
				cmd.Dir, cmd.Stdin = user, bytes.NewReader([]byte(stream))
				out, err := cmd.Output()
				must(b, err)
				tip = string(bytes.TrimSpace(out))
				sh(b, user, "update-ref", "refs/heads/x", tip)
			}
		})
	}
}

// BenchmarkCommitCode is a commit of state and one changed file.
func BenchmarkCommitCode(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := openRun(b, bigUser(b, n))
			commit(b, r, "{0}")
			for i := 0; b.Loop(); i++ {
				write(b, filepath.Join(r.Tree(), "code.go"), fmt.Sprint(i))
				commit(b, r, fmt.Sprintf("{%d}", i), "code.go")
			}
		})
	}
}

// BenchmarkAddAndCommit is what people would do instead.
func BenchmarkAddAndCommit(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			user := bigUser(b, n)
			for i := 0; b.Loop(); i++ {
				write(b, filepath.Join(user, "code.go"), fmt.Sprint(i))
				sh(b, user, "add", "code.go")
				sh(b, user, "commit", "-q", "-m", "m")
			}
		})
	}
}

// BenchmarkCommitPush is a state commit with a remote on the same disk.
func BenchmarkCommitPush(b *testing.B) {
	user := bigUser(b, 1000)
	withRemote(b, user)
	r := openRun(b, user, pushing)
	for i := 0; b.Loop(); i++ {
		commit(b, r, fmt.Sprintf("{%d}", i))
	}
}

// BenchmarkChanges compares a tree in which one file changed.
func BenchmarkChanges(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := openRun(b, bigUser(b, n))
			write(b, filepath.Join(r.Tree(), "code.go"), "x")
			// An index as young as the files makes git read all of them.
			time.Sleep(1100 * time.Millisecond)
			commit(b, r, "{0}", "code.go")
			write(b, filepath.Join(r.Tree(), "code.go"), "y")
			for b.Loop() {
				allPaths(b, r)
			}
		})
	}
}

// BenchmarkOpen opens a run again that has not changed.
func BenchmarkOpen(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			user := bigUser(b, n)
			r := openRun(b, user)
			commit(b, r, "{0}")
			r.Close()
			for b.Loop() {
				openRun(b, user).Close()
			}
		})
	}
}
