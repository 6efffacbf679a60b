package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What no commit has is out of the tree until it is put back, also where a
// folder is locked, and takes the place of what has come there meanwhile.
func TestSetAside(t *testing.T) {
	user := newUser(t, map[string]string{"calc/a.go": "package calc\n", ".gitignore": "node_modules/\n"})
	r := openRun(t, user)
	tree := func(name string) string { return filepath.Join(r.Tree(), name) }
	for _, name := range []string{"calc/.gitignore", "calc/forged_test.go", "node_modules/x/index.js", "node_modules/keep/index.js", "new/sub/z", "locked/file"} {
		write(t, tree(name), "*\n")
	}
	if err := os.Chmod(tree("locked"), 0o555); err != nil {
		t.Fatal(err)
	}
	list := func() string {
		t.Helper()
		var out []string
		err := filepath.WalkDir(r.Tree(), func(name string, d os.DirEntry, err error) error {
			rel, _ := filepath.Rel(r.Tree(), name) // it lies below
			if err == nil && !d.IsDir() {
				out = append(out, rel)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(out, " ")
	}
	all := list()
	for _, tt := range []struct {
		name string
		keep func(string) bool
		want string
	}{
		{"all", nil, ".gitignore calc/a.go"},
		{"a folder in one", func(p string) bool { return p == "node_modules/keep" }, ".gitignore calc/a.go node_modules/keep/index.js"},
	} {
		putBack, err := r.SetAside(t.Context(), tt.keep)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, list()); diff != "" {
			t.Errorf("%s: left (-want +got):\n%s", tt.name, diff)
		}
		write(t, tree("new/sub/z"), "of a check\n")
		if err := putBack(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(tree("new/sub/z"))
		if diff := cmp.Diff(all, list()); diff != "" || err != nil || string(text) != "*\n" {
			t.Errorf("%s: back are %q, error %v (-want +got):\n%s", tt.name, text, err, diff)
		}
	}

	// One who was interrupted finds everything back when the next begins.
	if _, err := r.SetAside(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Prepare(t.Context(), Guard{Instruct: func(string) bool { return false }}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(r.Tree() + "/.git"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all, list()); diff != "" {
		t.Errorf("after an interruption (-want +got):\n%s", diff)
	}
}
