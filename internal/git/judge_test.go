package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/metadata"
)

var errEvil = errors.New("that is evil")

// noEvil lets through what it has seen every byte of to be good.
func noEvil(s Staged) error {
	if s.Type != File && s.Type != None || strings.Contains(string(s.Data), "evil") {
		return errEvil
	}
	return nil
}

// swap changes code and artifact for ever, as what an agent left at work could.
func swap(tree string, stop <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		for _, name := range []string{tree + "/code.txt", tree + "/" + state + "/plan.md"} {
			temp := name + ".swap"
			switch n % 4 {
			case 0:
				_ = os.Symlink("/etc/evil", temp) // each may fail while others are at it
			case 1:
				_ = os.WriteFile(temp, fmt.Appendf(nil, "evil %d\n", n), 0o755)
			default:
				_ = os.WriteFile(temp, fmt.Append(nil, strings.Repeat("good\n", n%7)), 0o644)
			}
			_ = os.Rename(temp, name)
		}
	}
}

// Whatever somebody does to the tree meanwhile, what is committed is what was
// staged: that was judged, read and counted.
func TestCommittedIsWhatWasJudged(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, map[string]string{"code.txt": "good\n"}))
	base := commit(t, r, "{1}")
	must(t, os.WriteFile(r.Tree()+"/"+state+"/plan.md", []byte("good\n"), 0o644))
	paths := []string{"code.txt", state + "/plan.md"}
	made, refused := 0, 0
	try := func(n int) {
		s, err := r.Stage(t.Context(), paths)
		if err == nil {
			err = r.EachStaged(t.Context(), s, noEvil)
		}
		if err != nil {
			refused++
			return
		}
		plan, _ := r.ReadStaged(t.Context(), s, paths[1]) // "" if it is not there
		_, stat, err := r.Diff(t.Context(), base, s)
		must(t, err)
		id := commitStage(t, r, fmt.Sprintf("{%d}", n), s)
		made++
		for _, line := range strings.Split(sh(t, r.src.Dir, "ls-tree", "-r", id, "--", paths[0], paths[1]), "\n") {
			if line != "" && !strings.HasPrefix(line, "100644 ") {
				t.Errorf("commit %d has %s", n, line)
			}
		}
		for _, name := range paths {
			data, _ := r.ReadFile(t.Context(), id, name) // "" if it is not there
			if strings.Contains(string(data), "evil") {
				t.Errorf("commit %d has %s in %s", n, data, name)
			}
			if name == paths[1] && string(data) != string(plan) {
				t.Errorf("commit %d has %q, read was %q", n, data, plan)
			}
		}
		_, now, err := r.Diff(t.Context(), base, nil)
		must(t, err)
		if diff := cmp.Diff(stat, now); diff != "" {
			t.Errorf("commit %d was counted otherwise (-before +after):\n%s", n, diff)
		}
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { swap(r.Tree(), stop) })
	for n := range 25 {
		try(n)
	}
	close(stop)
	wg.Wait()
	if made == 0 && refused == 0 {
		t.Error("nothing was tried")
	}
	must(t, os.RemoveAll(r.Tree()+"/code.txt")) // it may be a link
	write(t, r.Tree()+"/code.txt", "evil\n")
	before := r.Tip()
	try(100)
	if r.Tip() != before {
		t.Error("evil was committed")
	}
	must(t, r.Restore(t.Context()))
	clean(t, r)
}

// What happens to the files after they were staged changes nothing of the commit,
// also when the tree was looked at in between. Without staging it would: the
// files are no more what they were.
func TestStageHolds(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, map[string]string{"code.txt": "old\n", "gone.txt": "x\n"}))
	base := commit(t, r, "{1}")
	plan := state + "/plan.md"
	write(t, r.Tree()+"/code.txt", "good\n")
	write(t, r.Tree()+"/"+plan, "good plan\n")
	must(t, os.Remove(r.Tree()+"/gone.txt"))
	s := staged(t, r, allPaths(t, r))
	write(t, r.Tree()+"/code.txt", "evil\nand longer\n")
	write(t, r.Tree()+"/"+plan, "evil plan\n")
	write(t, r.Tree()+"/gone.txt", "evil\n")
	if got := changed(t, r); len(got) != 3 { // which brings the index back to the tip
		t.Errorf("changes %q", got)
	}
	var seen []string
	must(t, r.EachStaged(t.Context(), s, func(s Staged) error {
		seen = append(seen, fmt.Sprintf("%s %s from %s: %s", s.Path, s.Type, s.Was, s.Data))
		return nil
	}))
	want := []string{"gone.txt  from file: ", plan + " file from : good plan\n", "code.txt file from file: good\n"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("staged (-want +got):\n%s", diff)
	}
	if data, err := r.ReadStaged(t.Context(), s, plan); err != nil || string(data) != "good plan\n" {
		t.Errorf("read %q, %v", data, err)
	}
	text, stat, err := r.Diff(t.Context(), base, s)
	if diff := cmp.Diff(metadata.Diff{Files: 2, Lines: 3, Added: 1, Deleted: 2}, stat); err != nil || diff != "" || strings.Contains(text, "evil") {
		t.Errorf("it differs by %+v, %v\n%s", stat, err, text)
	}
	id := commitStage(t, r, "{2}", s)
	for name, want := range map[string]string{"code.txt": "good\n", plan: "good plan\n", "gone.txt": ""} {
		if data, _ := r.ReadFile(t.Context(), id, name); string(data) != want { // "" if it is not there
			t.Errorf("%s was committed as %q", name, data)
		}
	}
	if _, err := r.Commit(t.Context(), Commit{Message: "m", Stage: s, Time: noon}); err == nil || !strings.Contains(err.Error(), "stage it anew") {
		t.Errorf("what was staged on an older commit: %v", err)
	}
	must(t, r.Restore(t.Context()))
	clean(t, r)
}

func TestHolds(t *testing.T) {
	r := openRun(t, newUser(t, map[string]string{
		"a/data.txt": "one\n-e key.[0-9]+ two\n\n", "unix.txt": "xfirst\n\nsecond\nthird\n", "other way.txt": "third\nsecond\nfirst\n", "dos.txt": "four\r\nfive\r\n",
	}))
	for text, want := range map[string]bool{
		"key.[0-9]+": true, "-e key": true, "keyx": false, "key": true, "thirty": false, "one\x01": false,
		"first\n\nsecond\nth": true, "first\r\n\r\nsecond": true, "first\nthird": false, "second\nfirst": true, "four\nfive\n": true, "one\nfirst": false,
	} {
		if got, err := r.Holds(t.Context(), text); got != want || err != nil {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "\n", "a\x00b"} {
		if _, err := r.Holds(t.Context(), text); err == nil {
			t.Errorf("%q can be looked for?", text)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := r.Holds(ctx, "one"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// What is staged and not committed is never in the user's repository, and gone
// when the run is closed.
func TestStagedIsInQuarantine(t *testing.T) {
	user := newUser(t, nil)
	r := openRun(t, user)
	key := filepath.Join(r.Tree(), "key.txt")
	stored := func(id string) bool {
		_, err := os.Lstat(filepath.Join(user, ".git", "objects", id[:2], id[2:]))
		return err == nil
	}
	write(t, key, "not to be seen\n")
	refused := staged(t, r, []string{"key.txt"})
	id := refused.ops[0].id
	if stored(id) {
		t.Errorf("the user's repository has %s, which was only staged", id)
	}
	write(t, key, "to be seen\n")
	s := staged(t, r, []string{"key.txt"})
	if _, err := os.Lstat(objectFile(r.staged(), id)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was staged before is still there (%v)", err)
	}
	commitStage(t, r, "m", s)
	if !stored(s.ops[0].id) || stored(id) {
		t.Errorf("the user's repository has what is committed: %v, what was refused: %v", stored(s.ops[0].id), stored(id))
	}
	must(t, r.Close())
	if _, err := os.Lstat(r.staged()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something staged outlives the run (%v)", err)
	}
}

// The patches of a branch are those of its own commits, in their order, and no
// content or configuration of a repository gets in between.
func TestPatches(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n", "skip/x": "x\n"})
	base := strings.TrimSpace(sh(t, user, "rev-parse", "HEAD"))
	for _, c := range []struct{ file, text, message string }{
		{"a.txt", "b\n", "one\n\nNumber: 1"},
		{"a.txt", "c\n", "of somebody else"},
		{"skip/x", "y\n", "two\n\nNumber: 2"},
		{"evil", "\n" + base + " 1\n\x00" + base + "\n", "three\n\nNumber: 3"},
	} {
		write(t, user+"/"+c.file, c.text)
		sh(t, user, "add", "-A")
		sh(t, user, "commit", "-q", "-m", c.message)
	}
	touched := t.TempDir() + "/ran"
	write(t, user+"/.git/info/attributes", "* diff=evil\n")
	for key, value := range map[string]string{
		"diff.evil.textconv": "touch " + touched + "; cat", "diff.evil.command": "touch " + touched, "diff.external": "touch " + touched,
		"log.showSignature": "true", "gpg.program": touched, "color.ui": "always", "diff.noprefix": "true", "core.pager": "touch " + touched,
	} {
		sh(t, user, "config", key, value)
	}
	source := found(t, user)
	got, err := source.Patches(t.Context(), base, source.Branch, "Number", "skip")
	must(t, err)
	var numbers []string
	for _, p := range got {
		numbers = append(numbers, p.Trailer)
		if len(p.Commit) != 40 || p.Cut {
			t.Errorf("patch %s: commit %q, cut %v", p.Trailer, p.Commit, p.Cut)
		}
	}
	if diff := cmp.Diff([]string{"1", "3"}, numbers); diff != "" {
		t.Fatalf("patches (-want +got):\n%s", diff)
	}
	if want := "diff --git a/a.txt b/a.txt\n"; !strings.HasPrefix(got[0].Text, want) || !strings.HasSuffix(got[0].Text, "\n-a\n+b") {
		t.Errorf("the first patch is %q", got[0].Text)
	}
	if _, err := os.Lstat(touched); err == nil {
		t.Error("a program of the repository's configuration was run")
	}
	for _, where := range [][2]string{{strings.Repeat("1", 40), source.Branch}, {base, "gone"}} {
		if _, err := source.Patches(t.Context(), where[0], where[1], "Number"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: the error is %v", where, err)
		}
	}
}

// What does not fit is said to be missing.
func TestPatchesCut(t *testing.T) {
	t.Parallel()
	out := []byte("markaaa 1\n\nx\nmarkbbb 2\n\n" + strings.Repeat("y\n", mostPatch/2))
	got := parsePatches(out, "mark")
	if len(got) != 2 || got[0].Cut || !got[1].Cut || got[0].Text != "x" || got[1].Trailer != "2" {
		t.Errorf("%d patches", len(got))
	}
}

// What a comparison or the instructions of the base were is not taken for what
// they are after a commit that changed them.
func TestKnownIsForgotten(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n", "CLAUDE.md": "base\n"})
	r := openRun(t, user)
	base := r.Tip()
	commit(t, r, "{1}")
	guard := Guard{Base: base, Instruct: instructs}
	prepare := func() string {
		t.Helper()
		prepare(t, r, guard)
		return read(t, r.Tree()+"/CLAUDE.md")
	}
	added := func() int {
		t.Helper()
		_, stat, err := diffOf(t, r, base, ".reprise/")
		must(t, err)
		return stat.Added
	}
	for i := range 3 {
		if got, n := prepare(), added(); got != "base\n" || n != i {
			t.Errorf("step %d: the instructions are %q, and %d lines were added", i, got, n)
		}
		write(t, r.Tree()+"/"+state+"/review.md", fmt.Sprint(i))
		if n := added(); n != i {
			t.Errorf("step %d: with a review %d lines were added", i, n)
		}
		commit(t, r, fmt.Sprint("review ", i), allPaths(t, r)...)
		if n := added(); n != i {
			t.Errorf("step %d: after the review %d lines were added", i, n)
		}
		write(t, r.Tree()+"/a.txt", "a\n"+strings.Repeat("b\n", i+1))
		if n := added(); n != i+1 {
			t.Errorf("step %d: before the commit %d lines were added", i, n)
		}
		commit(t, r, fmt.Sprint("work ", i), "a.txt")
	}
	write(t, r.Tree()+"/CLAUDE.md", "changed\n")
	commit(t, r, "instructions", "CLAUDE.md")
	if got := prepare(); got != "base\n" {
		t.Errorf("after they were changed, the instructions are %q", got)
	}
}

// An ordinary file is read, and nothing that has another in its place.
func TestReadPlain(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"d/a": "a", "top": "t"})
	must(t, os.Symlink("/etc/passwd", user+"/d/link"))
	must(t, os.Symlink("d", user+"/by"))
	sh(t, user, "add", "-A")
	sh(t, user, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",d/module")
	sh(t, user, "commit", "-q", "-m", "m")
	source := found(t, user)
	for name, want := range map[string]string{"d/a": "a", "top": "t"} {
		if data, err := source.ReadPlain(t.Context(), "main", name); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	for name, want := range map[string]error{
		"d": folders.ErrNoFile, "d/link": folders.ErrNoFile, "d/module": folders.ErrNoFile, "by": folders.ErrNoFile,
		"d/none": fs.ErrNotExist, "by/a": fs.ErrNotExist, "none/a": fs.ErrNotExist, "top/a": fs.ErrNotExist,
	} {
		if data, err := source.ReadPlain(t.Context(), "main", name); !errors.Is(err, want) {
			t.Errorf("%s: %q, %v, want %v", name, data, err, want)
		}
	}
}
