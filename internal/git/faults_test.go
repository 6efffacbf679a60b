package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A remote that is reached and comes to no end is not waited for for ever.
func TestRemoteHangs(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	bare := withRemote(t, user)
	r := openRun(t, user, pushing)
	mark := filepath.Join(bare, "waits")
	hook(t, bare, "pre-receive", fmt.Sprintf("echo $$ >%q; exec sleep 300\n", mark))
	var id string
	// On a busy machine it takes a while until the remote has begun to hang.
	for r.opt.Patience = 250 * time.Millisecond; !there(mark); r.opt.Patience *= 2 {
		began := time.Now()
		var err error
		id, err = r.Commit(t.Context(), Commit{Message: "m", Files: map[string][]byte{record: []byte("{1}")}, Time: noon})
		var push *PushError
		if !errors.As(err, &push) || !strings.Contains(err.Error(), "origin has not answered in time, which is "+r.opt.Patience.String()) || id != r.Tip() {
			t.Fatalf("got %q, %v", id, err)
		}
		if took := time.Since(began); took > time.Minute+r.opt.Patience {
			t.Errorf("that took %v", took)
		}
	}
	pid := strings.TrimSpace(read(t, mark))
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("what git had started is still there")
		}
	}
	must(t, os.Remove(filepath.Join(bare, "hooks/pre-receive")))
	r.Close()
	r = openRun(t, user, pushing)
	if r.Tip() != id || sh(t, bare, "rev-parse", branch) != id {
		t.Error("the commit did not arrive with the next start")
	}
}

// The branch of a run that is at work, deleted at the remote or begun anew
// there.
func TestRemoteBranchMovesMeanwhile(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	bare := withRemote(t, user)
	r := openRun(t, user, pushing)
	first := commit(t, r, "{1}")
	sh(t, bare, "branch", "-D", branch)
	// The run has all of it, and whoever wants it to end can say so.
	second := commit(t, r, "{2}")
	if sh(t, bare, "rev-parse", branch) != second || sh(t, bare, "rev-parse", branch+"^") != first {
		t.Error("the branch is not there again with all its commits")
	}
	dir := other(t, bare)
	sh(t, dir, "checkout", "-q", "-b", branch, "origin/main")
	sh(t, dir, "commit", "-q", "--allow-empty", "-m", "anew")
	sh(t, dir, "push", "-q", "-f", "origin", branch)
	anew := sh(t, dir, "rev-parse", "HEAD")
	id, err := r.Commit(t.Context(), Commit{Message: "m", Files: map[string][]byte{record: []byte("{3}")}, Time: noon})
	var moved *Moved
	if !errors.As(err, &moved) || moved.Local != id || moved.Other != anew {
		t.Fatalf("got %q, %v", id, err)
	}
	if sh(t, bare, "rev-parse", branch) != anew {
		t.Error("what was pushed by force was overwritten")
	}
}

// Locks that somebody's git left in the user's repository are in the way of
// nothing, and are left alone.
func TestLocksOfTheUser(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	bare := withRemote(t, user)
	locks := []string{"index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock", "refs/heads/main.lock", "objects/maintenance.lock"}
	for _, name := range locks {
		write(t, filepath.Join(user, ".git", name), "")
	}
	r := openRun(t, user, pushing)
	write(t, r.Tree()+"/a.txt", "b")
	id := commit(t, r, "{1}", "a.txt")
	clean(t, r)
	for _, dir := range []string{user, bare} {
		if got := sh(t, dir, "rev-parse", branch); got != id || r.Warnings() != nil {
			t.Errorf("%s is at %s, warnings %q", dir, got, r.Warnings())
		}
	}
	for _, name := range locks {
		if _, err := os.Stat(filepath.Join(user, ".git", name)); err != nil {
			t.Error(err)
		}
	}
	// One on the run's own branch, which is somebody's at work: a warning says
	// so, and the branch comes along later.
	lock := filepath.Join(user, ".git/refs/heads", branch+".lock")
	write(t, lock, "")
	soon := time.Now().Add(time.Hour) // however long this takes, nobody left it long ago
	must(t, os.Chtimes(lock, soon, soon))
	second := commit(t, r, "{2}")
	if sh(t, user, "rev-parse", branch) != id || len(r.Warnings()) == 0 || !strings.Contains(r.Warnings()[0], "is locked") {
		t.Errorf("warnings %q", r.Warnings())
	}
	must(t, os.Remove(lock))
	third := commit(t, r, "{3}")
	if sh(t, user, "rev-parse", branch) != third || sh(t, user, "rev-parse", branch+"^") != second {
		t.Error("the branch did not come along")
	}
}

// A repository with very many branches costs no more than what git itself
// needs to look for one.
func TestManyRefs(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	bare := withRemote(t, user)
	start := sh(t, user, "rev-parse", "HEAD")
	for _, dir := range []string{filepath.Join(user, ".git"), bare} {
		var refs strings.Builder
		fmt.Fprintf(&refs, "# pack-refs with: peeled fully-peeled sorted \n%s refs/heads/main\n", start)
		for i := range 50_000 {
			fmt.Fprintf(&refs, "%s refs/heads/many/%05d\n", start, i)
		}
		write(t, filepath.Join(dir, "packed-refs"), refs.String())
	}
	began := time.Now()
	r := openRun(t, user, pushing)
	id := commit(t, r, "{1}")
	if sh(t, bare, "rev-parse", branch) != id || sh(t, user, "rev-parse", branch) != id {
		t.Error("the branch is not everywhere")
	}
	// A process for each branch would take many minutes anywhere.
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("to open a run and to commit took %v", took)
	}
	if out, err := r.git(t.Context(), "for-each-ref", "--count=10"); err != nil || strings.Contains(string(out), "many") {
		t.Errorf("the run took branches along: %s, %v", out, err)
	}
}

func there(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
