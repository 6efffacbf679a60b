package git

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// trap writes programs that note their name in a file when they are run.
type trap struct {
	dir string
	log string
	bin string // how the paths of the programs begin
}

func newTrap(t testing.TB) trap {
	dir := realTemp(t)
	bin, err := os.MkdirTemp(filepath.Join(testHome, "bin"), "trap")
	must(t, err)
	return trap{dir: dir, log: filepath.Join(dir, "sprung"), bin: bin}
}

// program returns the name of a program that notes name, and in a filter hands
// on what it is given, so that git goes on to the next trap. It is found by
// PATH, since git takes no path with a space in some settings.
func (p trap) program(t testing.TB, name string) string {
	t.Helper()
	file := p.bin + "-" + strings.ReplaceAll(name, "/", "-")
	write(t, file, fmt.Sprintf("#!/bin/sh\necho %s >> %q\ncase $0 in *-clean|*-smudge) cat;; esac\n", name, p.log))
	must(t, os.Chmod(file, 0o755))
	return filepath.Base(file)
}

// sprung returns the names noted since the last call.
func (p trap) sprung(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile(p.log)
	if os.IsNotExist(err) {
		return nil
	}
	must(t, err)
	must(t, os.Remove(p.log))
	names := strings.Fields(string(text))
	slices.Sort(names)
	return slices.Compact(names)
}

func chmod(t testing.TB, mode fs.FileMode, names ...string) {
	t.Helper()
	for _, name := range names {
		must(t, os.Chmod(name, mode))
	}
}

// openedRun is a run with one commit and a scratch .git, on a repository that has
// what closers close. What is closed in the end is opened, so that it can go.
func openedRun(t *testing.T) (*Repo, string) {
	t.Helper()
	user := newUser(t, map[string]string{
		"a.txt": "a\n", "dir/one.txt": "1\n", "closed/one.txt": "1\n", "no-entry/one.txt": "1\n", "no-look/one.txt": "1\n",
		"gone/one.txt": "1\n", "gone/two.txt": "2\n", ".gitignore": "ignored/\n",
	})
	r := openRun(t, user)
	commit(t, r, "{1}")
	must(t, r.buildScratch("tree", r.home("index"), r.tip))
	t.Cleanup(func() { must(t, folders.RemoveAll(r.opt.Root)) })
	return r, user
}

func instructs(p string) bool { return filepath.Base(p) == "CLAUDE.md" }

// A mode hides no change.
func TestChangesInLockedFolders(t *testing.T) {
	testenv.Ordinary(t, func(t *testing.T) {
		for _, mode := range []fs.FileMode{0, 0o111, 0o444, 0o666} {
			r, _ := openedRun(t)
			write(t, r.Tree()+"/dir/one.txt", "changed\n")
			write(t, r.Tree()+"/new/file", "new\n")
			write(t, r.Tree()+"/"+state+"/plan/plan.md", "plan\n")
			write(t, r.Tree()+"/a.txt", "a\n") // as it was
			chmod(t, 0, r.Tree()+"/a.txt", r.Tree()+"/dir/one.txt")
			chmod(t, mode, r.Tree()+"/dir", r.Tree()+"/new", r.Tree()+"/"+state+"/plan")
			want := []string{"added " + state + "/plan/plan.md", "modified dir/one.txt", "added new/file"}
			if diff := cmp.Diff(want, changed(t, r)); diff != "" {
				t.Errorf("mode %o (-want +got):\n%s", mode, diff)
			}
			id := commit(t, r, "{2}", allPaths(t, r)...)
			clean(t, r)
			for name, text := range map[string]string{"dir/one.txt": "changed\n", "new/file": "new\n", state + "/plan/plan.md": "plan\n"} {
				if got, err := r.ReadFile(t.Context(), id, name); err != nil || string(got) != text {
					t.Errorf("mode %o: %s reads %q (%v)", mode, name, got, err)
				}
			}
		}
	})
}

// The run's own folders cannot be written to by a program, but closed.
func TestRunClosed(t *testing.T) {
	testenv.Ordinary(t, func(t *testing.T) {
		r, user := openedRun(t)
		root := r.opt.Root
		must(t, os.Mkdir(root+"/homes", 0o700))
		must(t, r.Close())
		chmod(t, 0, root+"/git/refs", root+"/git", root+"/homes", root)
		r = openRun(t, user)
		clean(t, r)
		commit(t, r, "{2}")
		if _, err := os.ReadDir(root + "/homes"); err != nil {
			t.Error(err)
		}
	})
}
