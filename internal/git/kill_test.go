//go:build slow

package git

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A process killed at any moment leaves a branch that is either before or after
// the commit it was making, state and code together, and the next one goes on.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"code.txt": "0"})
	bare := withRemote(t, user)
	committed, within := 0, 60*time.Millisecond
	for round := 0; round < 6 || committed == 0 && round < 20; round++ {
		announced, all := killSoon(t, user, within)
		switch { // about one commit, however fast the machine is
		case announced == 0:
			within = min(2*within, time.Minute)
		case announced > committed+2:
			within /= 2
		}
		if all {
			// Nothing lives that could come back for its locks. The remote's
			// are its owner's to remove, the user's are too young to sweep.
			for _, dir := range []string{bare, user + "/.git"} {
				_ = os.Remove(dir + "/refs/heads/" + branch + ".lock") // seldom there
			}
		}
		r := openRun(t, user, pushing)
		text, err := r.ReadFile(t.Context(), r.Tip(), record)
		if err != nil && announced > 0 {
			t.Fatal(err)
		}
		n, _ := strconv.Atoi(string(text))
		if n < announced || n < committed || n > max(announced, committed)+1 {
			t.Fatalf("the branch is at %d, commits up to %d and %d had been announced", n, committed, announced)
		}
		committed = n
		clean(t, r)
		if n > 0 {
			if got := read(t, r.Tree()+"/code.txt"); got != string(text) {
				t.Errorf("code %s beside state %s", got, text)
			}
			for where, tip := range map[string]string{"user": sh(t, user, "rev-parse", branch), "remote": sh(t, bare, "rev-parse", branch)} {
				if tip != r.Tip() {
					t.Errorf("%s is at %s, the run at %s", where, tip, r.Tip())
				}
			}
		}
		r.Close()
	}
	if committed == 0 {
		t.Error("no process came as far as a commit")
	}
}

// killSoon starts a committing process, kills it with all its children at a
// random moment within a time and returns the last number it announced, and whether its git
// commands ended with it.
func killSoon(t *testing.T, user string, within time.Duration) (int, bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "REPRISE_TEST_COMMITTER="+user)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	buf := make([]byte, 4096)
	n, _ := out.Read(buf)
	if !strings.HasPrefix(string(buf[:n]), "ready") {
		_ = cmd.Wait()
		t.Fatalf("the committer did not start: %s", stderr.String())
	}
	text := string(buf[:n])
	time.Sleep(rand.N(within))
	all := killTree(cmd.Process.Pid)
	for {
		n, err := out.Read(buf)
		text += string(buf[:n])
		if err != nil {
			break
		}
	}
	_ = cmd.Wait()
	f := strings.Fields(text)
	last, _ := strconv.Atoi(f[len(f)-1])
	return last, all
}

// killTree ends a process and, every other time, the git commands it runs,
// which have process groups of their own, and says so. The other times they go
// on for a moment without it.
func killTree(pid int) bool {
	own, groups := syscall.Getpgrp(), []int(nil)
	for _, p := range processes() {
		if p.parent == pid && p.group != own { // one that has just been forked is still in ours
			groups = append(groups, p.group)
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	if rand.IntN(2) == 0 {
		return false
	}
	for _, group := range groups {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	for slices.ContainsFunc(processes(), func(p gitProcess) bool { return slices.Contains(groups, p.group) }) {
		time.Sleep(time.Millisecond)
	}
	return true
}

// process is a live process of this machine.
type gitProcess struct{ parent, group int }

// processes returns what runs now; one that waits to be reaped does not.
func processes() []gitProcess {
	var all []gitProcess
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		text, _ := os.ReadFile(name) // empty if it has just ended
		f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(f) < 3 || f[0] == "Z" {
			continue
		}
		parent, _ := strconv.Atoi(f[1])
		group, _ := strconv.Atoi(f[2])
		all = append(all, gitProcess{parent, group})
	}
	return all
}

func TestStaleLocksAreSwept(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	r := openRun(t, user)
	commit(t, r, "{1}")
	r.Close()
	for _, name := range []string{"index.lock", "refs/heads/" + branch + ".lock", "HEAD.lock", "shallow.lock", "packed-refs.lock", "fast_import_crash_1"} {
		write(t, r.home(name), "")
	}
	usersLock := user + "/.git/refs/heads/" + branch + ".lock"
	write(t, usersLock, "")
	old := time.Now().Add(-time.Minute)
	must(t, os.Chtimes(usersLock, old, old))
	r = openRun(t, user)
	write(t, r.Tree()+"/a.txt", "b")
	id := commit(t, r, "{2}", "a.txt")
	clean(t, r)
	if got := sh(t, user, "rev-parse", branch); got != id || r.Warnings() != nil {
		t.Errorf("the user's branch is at %s, warnings %q", got, r.Warnings())
	}
}

func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	r := openRun(t, user)
	commit(t, r, "{1}")
	r.Close()
	byGit := func(args ...string) func(string) error {
		return func(p string) error {
			return plain(t, call{Dir: r.Tree(), Env: []string{"PATH=" + os.Getenv("PATH"), "GIT_DIR=" + filepath.Dir(p), "GIT_WORK_TREE=" + r.Tree()}, Args: append([]string{"update-index"}, args...)})
		}
	}
	for name, damage := range map[string]func(string) error{
		"empty":            func(p string) error { return os.WriteFile(p, nil, 0o644) },
		"garbage":          func(p string) error { return os.WriteFile(p, []byte("garbage"), 0o644) },
		"gone":             os.Remove,
		"a pipe":           func(p string) error { return errors.Join(os.Remove(p), syscall.Mkfifo(p, 0o644)) },
		"a folder":         func(p string) error { return errors.Join(os.Remove(p), os.MkdirAll(p+"/x", 0o755)) },
		"a link":           func(p string) error { return errors.Join(os.Rename(p, p+"2"), os.Symlink("index2", p)) },
		"another form":     byGit("--index-version", "4"),
		"in parts":         byGit("--split-index"),
		"overlooks a file": byGit("--assume-unchanged", "a.txt"),
		"without a file":   byGit("--skip-worktree", "a.txt"),
	} {
		must(t, damage(r.home("index")))
		r := openRun(t, user)
		if r.Leftover() != "" {
			t.Errorf("%s: found leftovers %s", name, read(t, r.Leftover()))
		}
		clean(t, r)
		write(t, r.Tree()+"/a.txt", "b"+name)
		if got := changed(t, r); len(got) != 1 {
			t.Errorf("%s: a change shows as %q", name, got)
		}
		must(t, r.Restore(t.Context()))
		r.Close()
	}
}

func TestLeftoversOfAKilledRunAreKept(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n", "gone.txt": "x\n"})
	r := openRun(t, user)
	commit(t, r, "{1}")
	write(t, r.Tree()+"/a.txt", "half done\n")
	write(t, r.Tree()+"/new.bin", "\x00\x01binary")
	must(t, os.Remove(r.Tree()+"/gone.txt"))
	r.Close()

	r = openRun(t, user)
	clean(t, r)
	if r.Leftover() == "" {
		t.Fatal("nothing was kept")
	}
	sh(t, r.Tree(), "apply", r.Leftover())
	if read(t, r.Tree()+"/a.txt") != "half done\n" || read(t, r.Tree()+"/new.bin") != "\x00\x01binary" {
		t.Error("the patch does not bring it back")
	}
	if diff := strings.Join(changed(t, r), " "); diff != "modified a.txt deleted gone.txt added new.bin" {
		t.Error(diff)
	}
}

func TestCancelledCommit(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	r := openRun(t, user)
	first := commit(t, r, "{1}")
	for i := range 15 {
		write(t, r.Tree()+"/a.txt", fmt.Sprint("b", i))
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
		before := r.Tip()
		id, err := commitPaths(ctx, r, Commit{Message: "m", Files: map[string][]byte{record: fmt.Append(nil, "c", i)}, Time: noon}, "a.txt")
		cancel()
		if err != nil && id == "" && r.Tip() != before {
			t.Fatalf("no commit was reported, and the tip moved: %v", err)
		}
		// A run that is interrupted says so in one more commit.
		commit(t, r, fmt.Sprint("{", i, "}"))
	}
	commit(t, r, "{last}", "a.txt")
	clean(t, r)
	if r.Tip() == first || sh(t, user, "rev-parse", branch) != r.Tip() {
		t.Error("the branch did not follow")
	}
}
