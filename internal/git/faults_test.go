//go:build slow

package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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
	commit(t, r, "{1}")
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
	if said := r.Warnings(); sh(t, user, "rev-parse", branch) != id || len(said) == 0 || !strings.Contains(said[0], "is locked") {
		t.Errorf("warnings %q", said)
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

// broken has every git command that this program starts from now on with a text in its arguments
// do something else than it should: what the shell does with do, in which $git is git.
func broken(t *testing.T, text, do string) {
	t.Helper()
	git, err := exec.LookPath("git")
	must(t, err)
	dir := t.TempDir()
	write(t, dir+"/git", fmt.Sprintf("#!/bin/sh\ngit='%s'\ncase \"$*\" in *'%s'*) %s ;; esac\nexec \"$git\" \"$@\"\n", git, text, do))
	must(t, os.Chmod(dir+"/git", 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// failing is git that cannot read its own objects.
const failing = `echo "fatal: unable to read: Input/output error" >&2; exit 128`

// That git fails does not say that there is no repository, or no commit in it.
func TestFindTellsWhyGitFailed(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(t *testing.T, user string)
		want  string
	}{
		"no answer":              {func(t *testing.T, _ string) { broken(t, "rev-parse", failing) }, "unable to read: Input/output error"},
		"a broken configuration": {func(t *testing.T, user string) { write(t, user+"/.git/config", "[core\n") }, "bad config line"},
		"a format of later versions": {func(t *testing.T, user string) {
			write(t, user+"/.git/config", "[core]\nrepositoryformatversion = 99\n")
		}, "Expected git repo version"},
		"an empty commit": {func(t *testing.T, user string) {
			head := sh(t, user, "rev-parse", "HEAD")
			name := filepath.Join(user, ".git/objects", head[:2], head[2:])
			must(t, os.Remove(name))
			write(t, name, "")
		}, " is empty"},
		"an answer that was cut": {func(t *testing.T, user string) {
			sh(t, withRemote(t, user), "branch", "trunk")
			sh(t, user, "fetch", "-q", "origin")
			sh(t, user, "remote", "set-head", "origin", "trunk")
			broken(t, "rev-parse", `"$git" "$@" | head -n 7; kill -9 $$`) // else main would be taken for the default branch
		}, "signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			user := newUser(t, map[string]string{"a.txt": "a\n"})
			tt.spoil(t, user)
			_, err := Find(t.Context(), user)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "git cannot read "+user) {
				t.Errorf("it is %v, want %q", err, tt.want)
			}
			if errors.As(err, new(*NotARepository)) || errors.As(err, new(*NoCommits)) {
				t.Errorf("it is a %T", err)
			}
		})
	}
}

// Where it is not known whether a record is kept, none is not the answer.
func TestRecordThatCannotBeFetched(t *testing.T) {
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	withRemote(t, user)
	r := openRun(t, user, pushing, keeping)
	commit(t, r, "one")
	shelve(t, r)
	must(t, r.Close())
	broken(t, "+"+KeptRefs, failing)
	_, err := tryOpen(t, user, pushing, keeping, func(o *Options) {
		o.Fit = func(read func(string) ([]byte, error)) error {
			_, err := read(record)
			return err
		}
	})
	if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "git fetch: unable to read: Input/output error") {
		t.Errorf("it is %v", err)
	}
}

// A file that cannot be read is not one that has no text, and a history that git does not tell is
// not one that was set back.
func TestMergeTellsWhyGitFailed(t *testing.T) {
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	sh(t, user, "branch", "-M", "main")
	withRemote(t, user)
	r := openRun(t, user)
	from := r.Tip()
	write(t, r.Tree()+"/a.txt", "ours\n")
	commit(t, r, "one", "a.txt")
	moveBase(t, user, map[string]string{"a.txt": "theirs\n"})
	to, _, err := r.FindBase(t.Context(), "main", from)
	must(t, err)
	for _, text := range []string{"cat-file --batch-check", "cat-file --batch"} {
		t.Run(text, func(t *testing.T) {
			broken(t, text, failing)
			if _, _, err := r.Merge(t.Context(), to, from); err == nil || !strings.Contains(err.Error(), "git cat-file: unable to read: Input/output error") {
				t.Errorf("it is %v", err)
			}
		})
	}
	t.Run("history", func(t *testing.T) {
		broken(t, "rev-list --count", failing)
		if _, _, err := r.FindBase(t.Context(), "main", from); err == nil || !strings.Contains(err.Error(), "git rev-list: unable to read: Input/output error") {
			t.Errorf("it is %v", err)
		}
	})
}

// In a conflict of a submodule there is nothing to read, and that is no failure.
func TestMergeOfSubmodules(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	sh(t, user, "branch", "-M", "main")
	withRemote(t, user)
	link := func(digit string) {
		sh(t, user, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(digit, 40)+",lib")
		sh(t, user, "commit", "-qm", "lib")
	}
	link("1")
	from := sh(t, user, "rev-parse", "HEAD")
	sh(t, user, "checkout", "-q", "-b", branch)
	link("2")
	r := openRun(t, user)
	sh(t, user, "checkout", "-q", "main")
	link("3")
	sh(t, user, "push", "-q", "origin", "main")
	to, _, err := r.FindBase(t.Context(), "main", from)
	must(t, err)
	_, result, err := r.Merge(t.Context(), to, from)
	must(t, err)
	if len(result.Conflicts) != 1 || result.Conflicts[0].Path != "lib" || result.Conflicts[0].Sides[2].Data != nil {
		t.Errorf("the conflicts are %+v", result.Conflicts)
	}
}

// Writers of code and of the record push to one branch at once, and the answer
// to one push in four is lost. What Commit says is so: what it took is on the
// branch once, what moved is not there, and the branch is one line.
func TestWritersAnytime(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	user := newUser(t, map[string]string{"a.txt": "a"})
	bare := withRemote(t, user)
	first := openRun(t, user, pushing)
	commit(t, first, "{0}")
	first.Close()
	// receive-pack is the parent of the hook, which runs when the ref has moved.
	hook(t, bare, "reference-transaction", "test $1 != committed || test $(( $(od -An -N1 -tu1 /dev/urandom) % 4 )) -ne 0 || kill -9 $PPID\n")
	w := &writers{t: t, said: map[string]error{}}
	dir := realTemp(t)
	var wg sync.WaitGroup
	var open []*Repo
	for n := range 3 {
		open = append(open, openRun(t, user, pushing, inRoot(filepath.Join(dir, fmt.Sprint(n)))))
	}
	for n, r := range open {
		dice := rand.New(rand.NewPCG(seed, uint64(n)))
		wg.Go(func() {
			for i := range 3 {
				if r = w.write(r, fmt.Sprintf("w%d-%d", n, i), dice.IntN(3) == 0); r == nil {
					return
				}
				time.Sleep(time.Duration(dice.IntN(40)) * time.Millisecond)
			}
		})
	}
	wg.Wait()
	if got := sh(t, bare, "rev-list", "--count", "--min-parents=2", branch); got != "0" {
		t.Errorf("%s commits have two parents", got)
	}
	seen := map[string]int{}
	for _, subject := range strings.Fields(sh(t, bare, "log", "--format=%s", "main.."+branch)) {
		seen[subject]++
	}
	for name, err := range w.said {
		var moved *Moved
		var push *PushError
		switch n := seen[name]; {
		case n > 1, err == nil && n != 1, errors.As(err, &moved) && n != 0:
			t.Errorf("%s is there %d times, and its writer was told: %v", name, n, err)
		case err != nil && moved == nil && !errors.As(err, &push):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// writers notes what Commit has said about each commit.
type writers struct {
	t    *testing.T
	mu   sync.Mutex
	said map[string]error
}

// write makes a commit of the record, or of a file of its own, and gives the run
// to go on with: if it moved, it is opened anew where it went. It is nil where
// that cannot be done.
func (w *writers) write(r *Repo, name string, state bool) *Repo {
	c, paths := Commit{Message: name, Time: noon}, []string{name}
	if state {
		paths, c.Files = nil, map[string][]byte{record: []byte("{" + name + "}")}
	} else if err := os.WriteFile(filepath.Join(r.Tree(), name), []byte(name), 0o644); err != nil {
		w.t.Error(err)
		return nil
	}
	_, err := commitPaths(context.Background(), r, c, paths...)
	w.mu.Lock()
	w.said[name] = err
	w.mu.Unlock()
	if !errors.As(err, new(*Moved)) {
		return r
	}
	o := r.opt
	o.TakeOther = true
	r.Close()
	for {
		if r, err = Open(context.Background(), o); err == nil {
			w.t.Cleanup(func() { r.Close() })
			return r
		}
		if !errors.As(err, new(*PushError)) && !errors.As(err, new(*Moved)) { // an answer that was lost, or it went on once more
			w.t.Errorf("%s, going on from where it went: %v", name, err)
			return nil
		}
	}
}

// A job as another user may have left files that git cannot write beside.
func TestFilesOfOthers(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]bool{
		"fatal: Unable to create temporary file '/w/.git/objects/pack/tmp_pack_X': Permission denied": true,
		"error: insufficient permission for adding an object to repository database .git/objects":     true,
		"git@example.com: Permission denied (publickey).":                                             false,
	} {
		if got := (&Error{Args: []string{"push"}, Stderr: said, Err: errors.New("exit status 128")}).Error(); strings.Contains(got, "chown -R") != want {
			t.Errorf("%s", got)
		}
	}
}
