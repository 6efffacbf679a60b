package git

import (
	"fmt"
	"os"
	"testing"
)

// A configuration that takes names for the same which the file system keeps apart loses no
// file that only changes its capitals.
func TestRenamedInCapitals(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"dir/one": "1\n", "two": "2\n"})
	sh(t, user, "config", "core.ignorecase", "true")
	r := openRun(t, user)
	must(t, os.Rename(r.Tree()+"/dir/one", r.Tree()+"/dir/One"))
	changes, err := r.changes(t.Context())
	must(t, err)
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	if got := fmt.Sprint(paths); got != "[dir/One dir/one]" {
		t.Errorf("changed is %s", got)
	}
	commit(t, r, "one", paths...)
	if got := sh(t, user, "ls-tree", "-r", "--name-only", branch, "dir"); got != "dir/One" {
		t.Errorf("the branch has %q", got)
	}
}
