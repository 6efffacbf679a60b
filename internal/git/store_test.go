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
	settings := strings.Join(call{}.All(), " ") + " "
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
	var large *tooLarge
	if _, err := source.store.One(t.Context(), "main:large", 1000); !errors.As(err, &large) || large.Size != 6<<20 {
		t.Errorf("got %v", err)
	}
	small("an answer that was too large")
	if _, err := source.ReadFile(t.Context(), "main", "large\nmain:small"); err == nil {
		t.Error("a name of two lines was asked for")
	}
	small("a name of two lines")
}
