package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reprise-ci/reprise/internal/folders"
)

// A folder is read from its trees as git lists it, whatever they hold.
func TestBelow(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"d/a": "a", "d/sub/b": "b", "d/sub/deep/\xff ü": "c", "d0": "no", "e/a": "no"})
	must(t, os.Symlink("a", user+"/d/link"))
	must(t, os.Chmod(user+"/d/a", 0o755))
	sh(t, user, "add", "-A")
	sh(t, user, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",d/module")
	sh(t, user, "commit", "-q", "-m", "m")
	source, err := Find(t.Context(), user)
	must(t, err)
	want := map[string]entry{}
	for _, record := range records([]byte(sh(t, user, "ls-tree", "-r", "-z", "HEAD", "--", "d/"))) {
		info, name, _ := strings.Cut(record, "\t")
		f := strings.Fields(info)
		want[name] = entry{name, f[0], f[2]}
	}
	got, err := source.reads().below(t.Context(), source.Head, "d")
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 5 {
		t.Errorf("(-git +ours):\n%s", diff)
	}
	for _, none := range []string{"nothing", "d0", "d/link"} {
		if got, err := source.reads().below(t.Context(), source.Head, none); err != nil || len(got) > 0 {
			t.Errorf("below %s: %v, %v", none, got, err)
		}
	}
	for mode, want := range map[string]string{"100664": "100644", "100755": "100755", "100700": "100755", "120000": "120000"} {
		if got := plainMode(mode); got != want {
			t.Errorf("mode %s is %s, want %s", mode, got, want)
		}
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
		_, err := r.Prepare(t.Context(), guard)
		must(t, err)
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
	source, err := Find(t.Context(), user)
	must(t, err)
	r := openRun(t, user)
	here := func(ctx context.Context, path string) ([]byte, error) { return source.ReadPlain(ctx, "main", path) }
	run := func(ctx context.Context, path string) ([]byte, error) { return r.ReadPlain(ctx, r.tip, path) }
	for _, read := range []func(context.Context, string) ([]byte, error){here, run} {
		for name, want := range map[string]string{"d/a": "a", "top": "t"} {
			if data, err := read(t.Context(), name); err != nil || string(data) != want {
				t.Errorf("%s: %q, %v", name, data, err)
			}
		}
		for name, want := range map[string]error{
			"d": folders.ErrNoFile, "d/link": folders.ErrNoFile, "d/module": folders.ErrNoFile, "by": folders.ErrNoFile,
			"d/none": fs.ErrNotExist, "by/a": fs.ErrNotExist, "none/a": fs.ErrNotExist, "top/a": fs.ErrNotExist,
		} {
			if data, err := read(t.Context(), name); !errors.Is(err, want) {
				t.Errorf("%s: %q, %v, want %v", name, data, err, want)
			}
		}
	}
}
