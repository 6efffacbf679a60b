package refs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/git/program"
)

// newer counts the processes of update-ref, and older has them tell of their updates
// when they end.
const (
	newer = "#!/bin/sh\ncase \"$*\" in *update-ref*) echo >>'%[1]s/starts';; esac\nexec '%[2]s' \"$@\"\n"
	older = "#!/bin/sh\ncase \"$*\" in *update-ref*) echo >>'%[1]s/starts'; out=$('%[2]s' \"$@\"); is=$?; echo \"$out\"; exit $is;; esac\nexec '%[2]s' \"$@\"\n"
)

// Refs are moved from what they are at and from nothing else, also after one that was
// not moved, after a while, and by a git that answers when it ends.
func TestUpdater(t *testing.T) {
	git := ""
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Stat(dir + "/git"); git == "" && err == nil {
			git = dir + "/git"
		}
	}
	for _, tt := range []struct {
		name, script string
		starts       int
	}{{"newer", newer, 5}, {"older", older, 9}} {
		dir := filepath.Join(t.TempDir(), "a b")
		must(t, os.MkdirAll(dir, 0o755))
		call, ask := standIn(t, dir, fmt.Sprintf(tt.script, dir, git))
		ask("init", "-q", "--bare", "r")
		empty := ask("hash-object", "-t", "tree", "-w", "/dev/null")
		var commits []string
		for i := range 3 {
			commits = append(commits, ask("-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", fmt.Sprint(i), empty))
		}
		none := strings.Repeat("0", 40)
		u := NewUpdater(func() program.Call { return call })
		defer u.Close()
		if tt.script == older {
			u.patience = 10 * time.Millisecond
		} else {
			u.patience = time.Hour
		}
		update := func(ctx context.Context, to, from string, moved bool) {
			t.Helper()
			err := u.Update(ctx, "refs/heads/x", to, from)
			if (err == nil) != moved {
				t.Errorf("%s: from %s to %s: %v", tt.name, from, to, err)
			}
			if _, err := os.Stat(dir + "/r/refs/heads/x.lock"); err == nil {
				t.Errorf("%s: the lock stays", tt.name)
			}
		}
		at := func(want string) {
			t.Helper()
			if got := ask("rev-parse", "refs/heads/x"); got != want {
				t.Errorf("%s: it is at %s, want %s", tt.name, got, want)
			}
		}
		update(t.Context(), commits[0], none, true)
		update(t.Context(), commits[1], commits[0], true)
		at(commits[1])
		update(t.Context(), commits[2], commits[0], false)
		update(t.Context(), commits[2], none, false)
		update(t.Context(), strings.Repeat("1", 40), commits[1], false)
		at(commits[1])
		ask("update-ref", "refs/heads/x", commits[0]) // by somebody else
		update(t.Context(), commits[2], commits[0], true)
		u.Close()
		update(t.Context(), commits[0], commits[2], true)
		must(t, u.Set(t.Context(), "refs/heads/x", commits[1]))
		at(commits[1])
		must(t, u.Set(t.Context(), "refs/heads/x", commits[0]))
		starts, err := os.ReadFile(dir + "/starts")
		if must(t, err); len(starts) != tt.starts+1 { // one by somebody else
			t.Errorf("%s: git was started %d times, want %d", tt.name, len(starts)-1, tt.starts)
		}
		if err := u.Set(t.Context(), "refs/heads/x", strings.Repeat("1", 40)); err == nil || !strings.Contains(err.Error(), "nonexistent object") {
			t.Errorf("%s: what is not there: %v", tt.name, err)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := u.Update(cancelled, "refs/heads/x", commits[1], commits[0]); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a call that was given up: %v", tt.name, err)
		}
	}
	if err := NewUpdater(nil).Update(t.Context(), "refs/heads/x\nupdate refs/heads/y", "a", "b"); err == nil {
		t.Error("a name of two lines is taken")
	}
}

// slow is a git that has read a whole change, says so, and makes it once it may.
const slow = `#!/bin/sh
case "$*" in *update-ref*)
	read -r a; read -r b; read -r c; read -r d
	: >'%[1]s/got'
	until test -e '%[1]s/may'; do sleep 0.02; done
	{ printf '%%s\n' "$a" "$b" "$c" "$d"; cat; } | '%[2]s' "$@"
	exit;;
esac
exec '%[2]s' "$@"
`

// A change that git has got is not given up half-way: it is made, and no lock stays.
func TestUpdaterIsCancelled(t *testing.T) {
	git, err := exec.LookPath("git")
	must(t, err)
	dir := t.TempDir()
	call, ask := standIn(t, dir, fmt.Sprintf(slow, dir, git))
	ask("init", "-q", "--bare", "r")
	commit := ask("-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", "a", ask("hash-object", "-t", "tree", "-w", "/dev/null"))
	u := NewUpdater(func() program.Call { return call })
	defer u.Close()
	u.patience = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for _, err := os.Stat(dir + "/got"); err != nil && t.Context().Err() == nil; _, err = os.Stat(dir + "/got") {
			time.Sleep(time.Millisecond)
		}
		cancel()
		_ = os.WriteFile(dir+"/may", nil, 0o644) // without it, the change is not made
	}()
	must(t, u.Update(ctx, "refs/heads/x", commit, strings.Repeat("0", 40)))
	if ctx.Err() == nil {
		t.Fatal("it was not cancelled meanwhile")
	}
	if at := ask("rev-parse", "refs/heads/x"); at != commit {
		t.Errorf("it is at %s", at)
	}
	must(t, u.Update(t.Context(), "refs/heads/y", commit, strings.Repeat("0", 40)))
}

// standIn has a script stand for git in a folder. It gives a call of it on the repository r
// there, and what asks git something.
func standIn(t *testing.T, dir, script string) (call program.Call, ask func(args ...string) string) {
	t.Helper()
	must(t, os.WriteFile(dir+"/git", []byte(script), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	call = program.Call{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH"), "GIT_DIR=" + dir + "/r", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}}
	return call, func(args ...string) string {
		t.Helper()
		c := call
		c.Args = args
		out, err := c.Do(t.Context())
		must(t, err)
		return strings.TrimSpace(string(out))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
