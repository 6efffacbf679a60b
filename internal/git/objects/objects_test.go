package objects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/git/program"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// TestMain keeps the configuration of whoever runs the tests out of them.
func TestMain(m *testing.M) {
	testenv.Main(m)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := testenv.Git(dir, args...)
	must(t, err)
	return strings.TrimSpace(out)
}

// repository makes one, and the store of what is in it.
func repository(t *testing.T) (dir string, s *Store) {
	t.Helper()
	dir = t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	s = &Store{Place: func(context.Context) (program.Call, error) {
		return program.Call{Dir: dir, Env: os.Environ()}, nil
	}}
	t.Cleanup(s.Close)
	return dir, s
}

// What the process that answers knows is what is there now, also after all was
// packed anew, and it may end between two questions in whatever way.
func TestStore(t *testing.T) {
	t.Parallel()
	user, s := repository(t)
	ends := map[string]func(){
		"nothing":    func() {},
		"packing":    func() { git(t, user, "gc", "-q", "--prune=now") },
		"SIGKILL":    func() { must(t, s.now.cmd.Process.Kill()) },
		"long pause": func() { s.idle.Reset(0) },
	}
	n := 0
	for name, end := range ends {
		for range 3 {
			n++
			text := strings.Repeat(fmt.Sprint(n), 100_000)
			must(t, os.WriteFile(user+"/a.txt", []byte(text), 0o644))
			git(t, user, "add", "a.txt")
			git(t, user, "commit", "-q", "-m", "m")
			for _, ref := range []string{"main", git(t, user, "rev-parse", "HEAD")} {
				if got, err := s.Ask(t.Context(), ref+":a.txt"); err != nil || string(got[0].Data) != text {
					t.Errorf("after %s: %v", name, err)
				}
			}
			end()
		}
	}
	for _, gone := range []string{user + "/.git", user} {
		must(t, os.RemoveAll(gone))
		s.Close()
		if _, err := s.Ask(t.Context(), "main:a.txt"); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "cat-file") {
			t.Errorf("a repository of which %s is gone: %v", gone, err)
		}
	}
}

func TestStoreIsIdle(t *testing.T) {
	t.Parallel()
	_, s := repository(t)
	_, err := s.Ask(t.Context(), "main")
	must(t, err)
	pid := s.now.cmd.Process.Pid
	s.idle.Reset(0)
	for end := time.Now().Add(5 * time.Minute); syscall.Kill(pid, 0) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody asks, and the process is still there")
		}
	}
}

// A process that stays ends when nothing was asked for long, and so does the one after it.
func TestStoreStays(t *testing.T) {
	_, s := repository(t)
	s.Stay()
	for range 2 {
		_, err := s.One(t.Context(), "HEAD", Unlimited)
		must(t, err)
		s.idle.Reset(0)
		for end := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
			s.mu.Lock()
			gone := s.now == nil
			s.mu.Unlock()
			if gone {
				break
			}
			if time.Now().After(end) {
				t.Fatal("it does not end")
			}
		}
		if s.wait() < time.Minute {
			t.Errorf("the next one waits for %v", s.wait())
		}
	}
	s.Close()
	if s.wait() > time.Minute {
		t.Errorf("after Close, one waits for %v", s.wait())
	}
}
