package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reprise-ci/reprise/internal/git/objects"
	"github.com/reprise-ci/reprise/internal/git/program"
)

// counting has every git command noted that this program starts, and returns what
// gives those that began since it was asked before, without their settings.
func counting(t *testing.T) func() []string {
	t.Helper()
	git, err := exec.LookPath("git")
	must(t, err)
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	write(t, dir+"/git", fmt.Sprintf("#!/bin/sh\nIFS=' '\necho \"$*\" >>'%s'\nexec '%s' \"$@\"\n", log, git))
	must(t, os.Chmod(dir+"/git", 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	settings := strings.Join(program.Call{}.All(), " ") + " "
	return func() []string {
		t.Helper()
		var commands []string
		for line := range strings.Lines(read(t, log)) {
			f := strings.Fields(strings.TrimPrefix(line, settings))
			commands = append(commands, strings.Join(f[:min(2, len(f))], " "))
		}
		write(t, log, "")
		return commands
	}
}

// To start a process takes longer than most questions, so what has been asked
// is not asked again.
func TestFewProcesses(t *testing.T) {
	user := newUser(t, map[string]string{"a.txt": "a", "link": "x", ".gitattributes": "*.png binary\n", ".github/reprise/one/a": "a", ".github/reprise/b": "b"})
	withRemote(t, user)
	since := counting(t)

	source, err := Find(t.Context(), user)
	must(t, err)
	for _, name := range []string{"a.txt", ".gitattributes"} {
		_, err := source.ReadFile(t.Context(), "main", name)
		must(t, err)
	}
	_, err = source.FS(t.Context(), "main", ".github/reprise")
	must(t, err)
	found := since()
	slices.Sort(found[:min(2, len(found))]) // those run side by side
	if diff := cmp.Diff([]string{"config --list", "rev-parse --path-format=absolute", "cat-file --batch"}, found); diff != "" {
		t.Errorf("a repository is found (-want +got):\n%s", diff)
	}

	r, err := Open(t.Context(), Options{Source: source, Root: filepath.Join(filepath.Dir(user), "run"), Branch: branch, State: state})
	must(t, err)
	defer r.Close()
	commit(t, r, "{1}")
	since()
	base := r.Tip()
	for i := range 2 {
		_, err := r.Prepare(t.Context(), Guard{Base: base, Instruct: instructs})
		must(t, err)
		write(t, r.Tree()+"/a.txt", fmt.Sprint("b", i))
		if got := changed(t, r); len(got) != 1 {
			t.Errorf("changes %q", got)
		}
		stage, err := r.Stage(t.Context(), []string{"a.txt"})
		must(t, err)
		must(t, r.EachStaged(t.Context(), stage, func(Staged) error { return nil }))
		_, stat, err := r.Diff(t.Context(), base, stage)
		if err != nil || stat.Files != 1 {
			t.Errorf("%+v, %v", stat, err)
		}
		_, err = r.Commit(t.Context(), Commit{Message: "m", Files: map[string][]byte{record: fmt.Append(nil, i)}, Stage: stage, Time: noon})
		must(t, err)
		// The first start of the process that moves the branch stays.
		want := []string{"status --porcelain=v2", "update-index --add", "diff --no-ext-diff"}
		got := since()
		slices.Sort(want)
		slices.Sort(got) // some run side by side
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i, diff)
		}
	}
}

// A step that changes nothing but the record, such as a review, takes no process, but for one
// where the tree has files that are ignored. A push is one more.
func TestReviewTakesNoProcess(t *testing.T) {
	for name, want := range map[string][]string{"a.o": {"status --porcelain=v2", "push --no-verify"}, "": {"push --no-verify"}} {
		t.Run(name, func(t *testing.T) { processesOfReview(t, name, want) })
	}
}

func processesOfReview(t *testing.T, ignored string, want []string) {
	user := newUser(t, map[string]string{"a.txt": "a", ".gitignore": "*.o\n"})
	withRemote(t, user)
	since := counting(t)
	r := openRun(t, user, func(o *Options) { o.Remote = "origin" })
	commit(t, r, "{1}")
	if ignored != "" {
		write(t, r.Tree()+"/"+ignored, "made by a build")
	}
	base := r.Tip()
	for i := range 2 {
		since()
		_, err := r.Prepare(t.Context(), Guard{Base: base, Instruct: instructs})
		must(t, err)
		putBack, err := r.SetAside(t.Context(), nil)
		must(t, err)
		if _, err := os.Lstat(r.Tree() + "/" + ignored); ignored != "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what is ignored is in the tree of a review: %v", err)
		}
		must(t, putBack())
		if got := changed(t, r); len(got) > 0 {
			t.Errorf("changes %q", got)
		}
		_, err = r.src.BranchesIn(t.Context(), "refs/heads/", "reprise", "refs/remotes/origin/")
		must(t, err)
		_, err = r.Commit(t.Context(), Commit{Message: "m", Files: map[string][]byte{record: fmt.Append(nil, i)}, Time: noon})
		must(t, err)
		got := slices.DeleteFunc(since(), func(c string) bool {
			return strings.HasPrefix(c, "pack-objects") || strings.HasPrefix(c, "receive-pack") || strings.HasPrefix(c, "send-pack") // of the push
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i, diff)
		}
	}
}

// That a run is over takes no process, unless it is pushed: the base has not moved, and what moves
// the branch notes where the record is.
func TestEndTakesNoProcess(t *testing.T) {
	user := newUser(t, map[string]string{"a.txt": "a"})
	since := counting(t)
	r := openRun(t, user, keeping)
	base := r.Tip()
	commit(t, r, "{1}")
	since()
	if commit, state, err := r.FindBase(t.Context(), "main", base); commit != base || state.Behind+state.Gone > 0 || state.Has || err != nil {
		t.Errorf("the base is at %s, %+v, %v", commit, state, err)
	}
	kept := shelve(t, r)
	if got := since(); len(got) > 0 {
		t.Errorf("git was started: %q", got)
	}
	if at := sh(t, user, "rev-parse", "refs/reprise/records/issue-7"); at != kept {
		t.Errorf("the record is at %s, want %s", at, kept)
	}
}

// A part that is over leaves the processes of its run at work.
func TestPartsLeaveTheProcessesOfTheRun(t *testing.T) {
	user := newUser(t, map[string]string{"a.txt": "a"})
	r := openRun(t, user)
	commit(t, r, "{1}")
	since := counting(t)
	lane, err := Open(t.Context(), Options{
		Source: r.src, Root: filepath.Join(filepath.Dir(user), "lane"), Branch: branch, State: state, Base: r.Tip(), Aside: r.objects(),
	})
	must(t, err)
	must(t, lane.MoveTo(t.Context(), r.Tip()))
	if got := since(); !slices.Equal(got, []string{"read-tree --reset"}) {
		t.Errorf("a tree is made by %q", got)
	}
	clean(t, lane)
	must(t, lane.Close())
	since()
	if text, err := r.ReadFile(t.Context(), r.Tip(), "a.txt"); err != nil || string(text) != "a" {
		t.Errorf("%q, %v", text, err)
	}
	commit(t, r, "{2}")
	if got := since(); len(got) > 0 {
		t.Errorf("the run has to start %q", got)
	}
}

// Nothing waits for the process between two questions, so that in a test whose
// clock only moves when nobody is at work the clock moves.
func TestStoreInABubble(t *testing.T) {
	source, err := Find(t.Context(), newUser(t, map[string]string{"a": "a"}))
	must(t, err)
	source.store.Close()
	ask := func(t *testing.T) {
		t.Helper()
		_, err := source.ReadFile(t.Context(), "main", "a")
		must(t, err)
	}
	synctest.Test(t, func(t *testing.T) {
		ask(t)
		time.Sleep(time.Hour)
	})
	ask(t)
	source.store.Close()
}

// A question that is given up, or whose answer is too large, does not leave half
// an answer for the next one.
func TestStoreGivesUp(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"large": strings.Repeat("large ", 1<<20), "small": "small"})
	source, err := Find(t.Context(), user)
	must(t, err)
	small := func(after string) {
		t.Helper()
		if got, err := source.ReadFile(t.Context(), "main", "small"); err != nil || string(got) != "small" {
			t.Errorf("after %s: %q, %v", after, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source.ReadFile(ctx, "main", "large"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	small("a question that was given up")
	var large *objects.TooLarge
	if _, err := source.store.One(t.Context(), "main:large", 1000); !errors.As(err, &large) || large.Size != 6<<20 {
		t.Errorf("got %v", err)
	}
	small("an answer that was too large")
	if _, err := source.ReadFile(t.Context(), "main", "large\nmain:small"); err == nil {
		t.Error("a name of two lines was asked for")
	}
	small("a name of two lines")
}
