//go:build slow

package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reprise-ci/reprise/prompts"
)

// other is a second checkout of the remote, of somebody who pushes too.
func other(t testing.TB, bare string) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(bare), "other")
	sh(t, filepath.Dir(bare), "clone", "-q", bare, dir)
	return dir
}

// pushFile commits a file on the run's branch from elsewhere.
func pushFile(t testing.TB, dir, name, text string) string {
	t.Helper()
	sh(t, dir, "fetch", "-q", "origin")
	sh(t, dir, "checkout", "-q", "-B", branch, "origin/"+branch)
	write(t, filepath.Join(dir, name), text)
	sh(t, dir, "add", "-A")
	sh(t, dir, "commit", "-qm", "from elsewhere: "+name)
	sh(t, dir, "push", "-q", "origin", branch)
	return sh(t, dir, "rev-parse", "HEAD")
}

func hook(t testing.TB, bare, name, script string) {
	t.Helper()
	file := filepath.Join(bare, "hooks", name)
	write(t, file, "#!/bin/sh\n"+script)
	must(t, os.Chmod(file, 0o755))
}

func TestPush(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	bare := withRemote(t, user)
	r := openRun(t, user, pushing)
	if out := sh(t, bare, "branch", "--list"); strings.Contains(out, "reprise") {
		t.Errorf("opening made a branch: %s", out)
	}
	id := commit(t, r, "{1}")
	if sh(t, bare, "rev-parse", branch) != id || sh(t, user, "rev-parse", branch) != id {
		t.Error("the branch is not everywhere")
	}
	r.Close()

	// Another machine goes on from what the remote has.
	clone := filepath.Join(filepath.Dir(user), "clone")
	sh(t, user, "clone", "-q", "-b", "main", bare, clone)
	r2 := openRun(t, clone, pushing, inRoot(filepath.Join(realTemp(t), "run2")))
	if r2.New() || r2.Tip() != id || read(t, r2.Tree()+"/"+record) != "{1}" {
		t.Errorf("new %v, tip %s", r2.New(), r2.Tip())
	}
	write(t, r2.Tree()+"/a.txt", "b")
	id = commit(t, r2, "{2}", "a.txt")
	// And the first one follows.
	r = openRun(t, user, pushing)
	if r.Tip() != id || read(t, r.Tree()+"/a.txt") != "b" || sh(t, user, "rev-parse", branch) != id {
		t.Errorf("tip %s, want %s", r.Tip(), id)
	}
	clean(t, r)
	// One that somebody deletes meanwhile is not made again, until it is restored.
	sh(t, bare, "update-ref", "-d", "refs/heads/"+branch)
	for range 2 {
		_, err := r.Commit(t.Context(), Commit{Message: "m", Time: time.Now()})
		if !errors.As(err, new(*PushError)) || !strings.Contains(err.Error(), "somebody has deleted it there") || sh(t, bare, "branch", "--list", branch) != "" {
			t.Errorf("error %v", err)
		}
	}
	sh(t, bare, "update-ref", "refs/heads/"+branch, id)
	if id = commit(t, r, "{5}"); sh(t, bare, "rev-parse", branch) != id {
		t.Error("it is not pushed after it was restored")
	}
}

func TestPushJoinsWhatDoesNotOverlap(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a", "b.txt": "b", "c.txt": "c"})
	bare := withRemote(t, user)
	r := openRun(t, user, pushing)
	commit(t, r, "{1}")
	theirs := pushFile(t, other(t, bare), "b.txt", "theirs")
	write(t, r.Tree()+"/a.txt", "ours")
	write(t, r.Tree()+"/c.txt", "not committed")
	id := commit(t, r, "{2}", "a.txt")
	if sh(t, bare, "rev-parse", branch) != id || sh(t, bare, "rev-parse", id+"^") != theirs || sh(t, user, "rev-parse", branch) != id {
		t.Errorf("the remote's branch is\n%s", sh(t, bare, "log", "--oneline", "--graph", branch))
	}
	if got := sh(t, bare, "show", id+":a.txt") + sh(t, bare, "show", id+":b.txt") + sh(t, bare, "show", id+":"+record); got != "ourstheirs{2}" {
		t.Errorf("content %q", got)
	}
	if diff := cmp.Diff([]string{"modified c.txt"}, changed(t, r)); diff != "" || read(t, r.Tree()+"/b.txt") != "theirs" {
		t.Error(diff)
	}
	commit(t, r, "{3}", "c.txt")
	clean(t, r)
}

func TestPushRefusesToJoin(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, path, why string }{
		{"same file", "a.txt", "same files"},
		{"state", state + "/other.md", "somebody else went on"},
		{"uncommitted file", "c.txt", "same files"},
		{"below our file", "new/x", "same files"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			user := newUser(t, map[string]string{"a.txt": "a", "c.txt": "c"})
			bare := withRemote(t, user)
			r := openRun(t, user, pushing)
			commit(t, r, "{1}")
			theirs := pushFile(t, other(t, bare), tc.path, "theirs")
			write(t, r.Tree()+"/a.txt", "ours")
			write(t, r.Tree()+"/new", "ours")
			write(t, r.Tree()+"/c.txt", "not committed")
			id, err := commitPaths(t.Context(), r, Commit{Message: "m", Files: map[string][]byte{record: []byte("{2}")}, Time: noon}, "a.txt", "new")
			var moved *Moved
			if !errors.As(err, &moved) || !strings.Contains(moved.Cause.In(prompts.Words("en")), tc.why) {
				t.Fatalf("got %q, %v", id, err)
			}
			if moved.Local != id || moved.Other != theirs || !strings.Contains(err.Error(), short(id)) || !strings.Contains(err.Error(), short(theirs)) {
				t.Errorf("%+v, want %s and %s", moved, id, theirs)
			}
			if sh(t, bare, "rev-parse", branch) != theirs {
				t.Error("the remote's branch was overwritten")
			}
			// The loser can go on from what won.
			r.Close()
			r = openRun(t, user, pushing, func(o *Options) { o.TakeOther = true })
			clean(t, r)
			if r.Tip() != theirs || read(t, r.Tree()+"/"+tc.path) != "theirs" {
				t.Errorf("tip %s", r.Tip())
			}
			commit(t, r, "{3}")
			clean(t, r)
		})
	}
}

func TestOpenOnDivergedBranches(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	bare := withRemote(t, user)
	r := openRun(t, user, pushing)
	first := commit(t, r, "{1}")
	second := commit(t, r, "{2}")
	r.Close()
	dir := other(t, bare)
	sh(t, dir, "checkout", "-q", "-b", branch, first)
	sh(t, dir, "commit", "-q", "--allow-empty", "-m", "rewritten")
	sh(t, dir, "push", "-q", "-f", "origin", branch)
	rewritten := sh(t, dir, "rev-parse", "HEAD")
	_, err := tryOpen(t, user, pushing)
	var moved *Moved
	if !errors.As(err, &moved) || moved.Local != second || moved.Other != rewritten || moved.Where != "origin" {
		t.Errorf("got %v", err)
	}
	// Without the remote the run is where it was.
	r = openRun(t, user)
	if r.Tip() != second {
		t.Errorf("tip %s", r.Tip())
	}
}

func TestWhatIsNotFitMovesNothing(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	bare := withRemote(t, user)
	unfit := errors.New("a.txt is no good")
	fit := func(o *Options) {
		o.Fit = func(read func(string) ([]byte, error)) error {
			if text, err := read("a.txt"); err != nil || string(text) == "bad" {
				return errors.Join(unfit, err)
			}
			return nil
		}
	}
	root := inRoot(filepath.Join(realTemp(t), "run"))
	r := openRun(t, user, root, pushing, fit)
	tip := commit(t, r, "{1}")
	r.Close()
	dir := other(t, bare)
	sh(t, dir, "checkout", "-q", branch)
	pushFile(t, dir, "a.txt", "bad")
	if _, err := tryOpen(t, user, root, pushing, fit); !errors.Is(err, unfit) {
		t.Errorf("got %v", err)
	}
	if got := sh(t, user, "rev-parse", branch); got != tip {
		t.Errorf("the user's branch is at %s, want %s", got, tip)
	}
	// Without the remote the run is where it was.
	r = openRun(t, user, root, fit)
	if r.Tip() != tip {
		t.Errorf("the run is at %s, want %s", r.Tip(), tip)
	}
	r.Close()
	pushFile(t, dir, "a.txt", "good")
	r = openRun(t, user, root, pushing, fit)
	if got := sh(t, bare, "rev-parse", branch); r.Tip() != got {
		t.Errorf("the run is at %s, want %s", r.Tip(), got)
	}
}

func TestDeletedBranchStartsAnew(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	start := sh(t, user, "rev-parse", "HEAD")
	r := openRun(t, user)
	old := commit(t, r, "{1}")
	r.Close()
	sh(t, user, "branch", "-D", branch)
	r = openRun(t, user)
	if said := r.Warnings(); !r.New() || r.Tip() != start || len(said) != 1 || !strings.Contains(said[0], old) {
		t.Errorf("new %v, tip %s, warnings %q", r.New(), r.Tip(), said)
	}
	commit(t, r, "{new}")
	clean(t, r)
}

func TestObjectsGone(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	r := openRun(t, user)
	commit(t, r, "{1}")
	r.Close()
	must(t, os.RemoveAll(user))
	sh(t, filepath.Dir(user), "init", "-q", user)
	sh(t, user, "commit", "-q", "--allow-empty", "-m", "another")
	r = openRun(t, user)
	if !r.New() {
		t.Errorf("tip %s", r.Tip())
	}
	commit(t, r, "{1}")
	clean(t, r)
}

func TestRemoteRejects(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	bare := withRemote(t, user)
	hook(t, bare, "pre-receive", "echo 'GH006: Protected branch update failed' >&2; echo 'Changes must be made through a pull request.' >&2; exit 1\n")
	r := openRun(t, user, pushing)
	id, err := r.Commit(t.Context(), Commit{Message: "m", Files: map[string][]byte{record: []byte("{1}")}, Time: noon})
	var push *PushError
	if !errors.As(err, &push) || !strings.Contains(push.Rule, "GH006: Protected branch update failed Changes must be made") || id != r.Tip() || id == "" {
		t.Fatalf("got %q, %v", id, err)
	}
	if sh(t, user, "rev-parse", branch) != id {
		t.Error("the local branch does not have the commit")
	}
	must(t, os.Remove(filepath.Join(bare, "hooks/pre-receive")))
	id = commit(t, r, "{2}")
	if sh(t, bare, "rev-parse", branch) != id || sh(t, bare, "rev-list", "--count", branch) != "3" {
		t.Error("the commits did not arrive")
	}
}

func TestRemoteGone(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	bare := withRemote(t, user)
	r := openRun(t, user, pushing)
	commit(t, r, "{1}")
	must(t, os.Rename(bare, bare+".away"))
	id, err := r.Commit(t.Context(), Commit{Message: "m", Files: map[string][]byte{record: []byte("{2}")}, Time: noon})
	var push *PushError
	if !errors.As(err, &push) || id != r.Tip() {
		t.Fatalf("got %q, %v", id, err)
	}
	r.Close()
	if _, err := tryOpen(t, user, pushing); err == nil || !strings.Contains(err.Error(), "fetch reprise/issue-7 from origin") {
		t.Errorf("opened without knowing the remote: %v", err)
	}
	must(t, os.Rename(bare+".away", bare))
	r = openRun(t, user, pushing)
	if r.Tip() != id || sh(t, bare, "rev-parse", branch) != id {
		t.Error("opening did not push what was left")
	}
}

// The push arrives and its answer does not.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	bare := withRemote(t, user)
	r := openRun(t, user, pushing)
	commit(t, r, "{1}")
	// receive-pack is the parent of the hook, which runs when the ref has moved
	// and nobody has been told.
	hook(t, bare, "reference-transaction", "test $1 != committed || kill -9 $PPID\n")
	id := commit(t, r, "{2}")
	if sh(t, bare, "rev-parse", branch) != id || sh(t, bare, "rev-list", "--count", branch) != "3" {
		t.Errorf("the remote's branch is\n%s", sh(t, bare, "log", "--oneline", branch))
	}
	// The same, and somebody put a commit on top before we could ask.
	dir := other(t, bare)
	sh(t, dir, "config", "user.name", "Bob")
	sh(t, dir, "config", "user.email", "bob@example.com")
	hook(t, bare, "reference-transaction", fmt.Sprintf(`test $1 = committed || exit 0
rm hooks/reference-transaction
unset GIT_DIR GIT_QUARANTINE_PATH
cd %q && git fetch -q && git checkout -q -B %s origin/%[2]s && echo theirs > new.txt && git add new.txt && git commit -qm top && git push -q origin %[2]s
kill -9 $PPID
`, dir, branch))
	commit(t, r, "{3}")
	if sh(t, bare, "rev-parse", branch) != r.Tip() || read(t, r.Tree()+"/new.txt") != "theirs\n" {
		t.Errorf("the run is at %s, the remote's branch is\n%s", r.Tip(), sh(t, bare, "log", "--oneline", branch))
	}
	clean(t, r)
}

// Runs with a folder each push to one branch at once. Each commit is on the
// branch exactly once, in one line, or its maker knows that it is not.
func TestRace(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	bare := withRemote(t, user)
	first := openRun(t, user, pushing)
	commit(t, first, "{0}")
	first.Close()
	const runs, commits = 3, 2
	var wg sync.WaitGroup
	dir := realTemp(t)
	var open []*Repo
	for n := range runs {
		open = append(open, openRun(t, user, pushing, inRoot(filepath.Join(dir, fmt.Sprint(n)))))
	}
	for n, r := range open {
		// Only the code of each is its own; none writes state.
		wg.Go(func() {
			for i := range commits {
				name := fmt.Sprintf("code-%d-%d", n, i)
				if err := os.WriteFile(filepath.Join(r.Tree(), name), []byte(name), 0o644); err != nil {
					t.Error(err)
				}
				_, err := commitPaths(context.Background(), r, Commit{Message: name, Time: noon}, name)
				var late *PushError // others were first, again and again: the next one takes it along
				if err != nil && !errors.As(err, &late) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
	for n, r := range open {
		_, err := r.Commit(t.Context(), Commit{Message: fmt.Sprintf("alone-%d", n), Time: noon})
		must(t, err)
	}
	if got := sh(t, bare, "rev-list", "--count", "--no-merges", branch); got != fmt.Sprint(2+runs*(commits+1)) {
		t.Errorf("%s commits", got)
	}
	subjects := strings.Fields(sh(t, bare, "log", "--format=%s", "main.."+branch))
	seen := map[string]int{}
	for _, s := range subjects {
		seen[s]++
	}
	for n := range runs {
		for i := range commits {
			if name := fmt.Sprintf("code-%d-%d", n, i); seen[name] != 1 {
				t.Errorf("%s is there %d times", name, seen[name])
			}
		}
	}
}

func TestRemoteIsARelativePath(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	bare := withRemote(t, user)
	sh(t, user, "remote", "set-url", "origin", "../origin.git")
	r := openRun(t, user, pushing)
	if id := commit(t, r, "{1}"); sh(t, bare, "rev-parse", branch) != id {
		t.Error("not pushed")
	}
}

// In a clone of depth one the older commits of the run are fetched when they
// are needed, and the history below the branch never is.
func TestShallowClone(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	for i := range 5 {
		sh(t, user, "commit", "-q", "--allow-empty", "-m", fmt.Sprint("old ", i))
	}
	bare := withRemote(t, user)
	r := openRun(t, user, pushing)
	base := r.Tip()
	first := commit(t, r, "{1}")
	write(t, r.Tree()+"/a.txt", "b")
	commit(t, r, "{2}", "a.txt")
	r.Close()
	sh(t, user, "commit", "-q", "--allow-empty", "-m", "newer")
	sh(t, user, "push", "-q", "origin", "main")

	for _, known := range []bool{true, false} {
		clone := filepath.Join(realTemp(t), "user")
		sh(t, user, "clone", "-q", "--depth=1", "--no-single-branch", "-b", "main", "file://"+bare, clone)
		sh(t, clone, "update-ref", "-d", "refs/remotes/origin/"+branch)
		r = openRun(t, clone, pushing, func(o *Options) {
			if !o.Source.Shallow {
				t.Error("not seen as shallow")
			}
			if !known {
				o.Source.DefaultBranch = ""
			}
		})
		prepare(t, r, guard(base))
		if _, stat, err := diffOf(t, r, base, state); err != nil || stat.Files != 1 {
			t.Errorf("%+v, %v", stat, err)
		}
		if data, err := r.ReadFile(t.Context(), first, record); err != nil || string(data) != "{1}" {
			t.Errorf("%q, %v", data, err)
		}
		entries, err := r.Log(t.Context(), "")
		if err != nil || len(entries) > 2 {
			t.Errorf("%d entries, %v", len(entries), err)
		}
		id := commit(t, r, fmt.Sprint("{", known, "}"))
		if sh(t, bare, "rev-parse", branch) != id {
			t.Error("not pushed")
		}
		clean(t, r)
		r.Close()
		r = openRun(t, clone, pushing)
		clean(t, r)
		commit(t, r, fmt.Sprint("{", known, " again}"))
	}
	if got := sh(t, bare, "fsck", "--full"); strings.Contains(got, "missing") {
		t.Error(got)
	}
}

// GitHub has no repository of this kind.
func TestSHA256(t *testing.T) {
	t.Parallel()
	user := filepath.Join(realTemp(t), "user")
	sh(t, filepath.Dir(user), "init", "-q", "--object-format=sha256", user)
	sh(t, user, "commit", "-q", "--allow-empty", "-m", "start")
	_, err := Find(t.Context(), user)
	var no *NotARepository
	if !errors.As(err, &no) || !strings.Contains(no.Why, "sha256") {
		t.Errorf("%v", err)
	}
}

// A clone without the contents of old files has all that a run from its newest
// commit needs.
func TestBloblessClone(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	write(t, user+"/a.txt", "newer")
	sh(t, user, "commit", "-qam", "newer")
	bare := withRemote(t, user)
	sh(t, bare, "config", "uploadpack.allowFilter", "true")
	clone := filepath.Join(realTemp(t), "user")
	sh(t, user, "clone", "-q", "--filter=blob:none", "file://"+bare, clone)
	r := openRun(t, clone, pushing)
	write(t, r.Tree()+"/a.txt", "changed")
	id := commit(t, r, "{1}", "a.txt")
	if sh(t, bare, "rev-parse", branch) != id || changed(t, r) != nil {
		t.Error("not pushed, or not clean")
	}
	r.Close()
	if r = openRun(t, clone, pushing); r.Tip() != id {
		t.Errorf("tip %s", r.Tip())
	}
}
