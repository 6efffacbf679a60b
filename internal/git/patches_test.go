package git

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
	source, err := Find(t.Context(), user)
	must(t, err)
	got, err := source.Patches(t.Context(), base, source.Branch, "Number", false, "skip")
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
	marked, err := source.Patches(t.Context(), base, source.Branch, "Number", true)
	must(t, err)
	if len(marked) != 3 || marked[0].Commit != got[0].Commit || marked[1].Trailer != "2" || marked[0].Text+marked[1].Text+marked[2].Text != "" {
		t.Errorf("the commits without what they changed are %+v", marked)
	}
	if want := "diff --git a/a.txt b/a.txt\n"; !strings.HasPrefix(got[0].Text, want) || !strings.HasSuffix(got[0].Text, "\n-a\n+b") {
		t.Errorf("the first patch is %q", got[0].Text)
	}
	if _, err := os.Lstat(touched); err == nil {
		t.Error("a program of the repository's configuration was run")
	}
	for _, where := range [][2]string{{strings.Repeat("1", 40), source.Branch}, {base, "gone"}} {
		if _, err := source.Patches(t.Context(), where[0], where[1], "Number", false); !errors.Is(err, fs.ErrNotExist) {
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
