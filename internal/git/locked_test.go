package git

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func chmod(t testing.TB, mode fs.FileMode, names ...string) {
	t.Helper()
	for _, name := range names {
		must(t, os.Chmod(name, mode))
	}
}

// closers are what a program may leave behind that keeps an ordinary user from
// looking at the work tree or from writing there.
var closers = map[string]func(t *testing.T, tree string){
	"folders": func(t *testing.T, tree string) {
		write(t, tree+"/cache/mod/file", "x")
		must(t, os.Remove(tree+"/gone/one.txt"))
		nestedReadOnly(t, tree)
		write(t, tree+"/.git.new/x/file", "x")
		write(t, tree+"/.git/x/file", "x")
		write(t, tree+"/ignored/deep/CLAUDE.md", "x")
		write(t, tree+"/ignored/\xff/deep/file", "x") // a name that is not UTF-8
		write(t, tree+"/new.txt", "x")
		chmod(t, 0, tree+"/new.txt", tree+"/a.txt", tree+"/"+record)
		chmod(t, 0, tree+"/"+state, tree+"/.reprise", tree+"/closed", tree+"/.git.new/x", tree+"/.git.new", tree+"/.git/x", tree+"/.git",
			tree+"/ignored/deep", tree+"/ignored")
		chmod(t, 0o555, tree+"/cache/mod", tree+"/cache", tree+"/gone")
		chmod(t, 0o666, tree+"/no-entry")
		chmod(t, 0o333, tree+"/no-look")
	},
	"the top, and the record a folder": func(t *testing.T, tree string) {
		must(t, os.RemoveAll(tree+"/"+record))
		write(t, tree+"/"+record+"/file", "x")
		chmod(t, 0, tree+"/"+record, tree)
	},
	"the top read-only, and the record an empty folder": func(t *testing.T, tree string) {
		must(t, os.RemoveAll(tree+"/"+record))
		must(t, os.Mkdir(tree+"/"+record, 0))
		chmod(t, 0o555, tree)
	},
}

func nestedReadOnly(t *testing.T, tree string) {
	t.Helper()
	sh(t, tree, "init", "-q", "nested")
	write(t, tree+"/nested/file", "x")
	must(t, filepath.WalkDir(tree+"/nested", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			err = os.Chmod(name, 0o400)
		}
		return err
	}))
	chmod(t, 0o500, tree+"/nested/.git/refs", tree+"/nested/.git/objects", tree+"/nested/.git", tree+"/nested")
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
	must(t, r.resetScratch(t.Context()))
	t.Cleanup(func() { must(t, folders.RemoveAll(r.opt.Root)) })
	return r, user
}

func instructs(p string) bool { return filepath.Base(p) == "CLAUDE.md" }

// Whatever modes a program leaves behind, its work is taken back and the run
// goes on: in this process, in the next call, and in the next process.
func TestLockedFolders(t *testing.T) {
	testenv.Ordinary(t, func(t *testing.T) {
		for name, closer := range closers {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r, user := openedRun(t)
				closer := func(t *testing.T, tree string) {
					folders.Unlock(r.root, "tree") // what is ignored may be closed as before
					closer(t, tree)
				}
				closer(t, r.Tree())
				must(t, r.RestoreAll(t.Context()))
				clean(t, r)

				closer(t, r.Tree())
				_, err := r.Patch(t.Context(), 1<<20)
				must(t, err)
				_, err = r.Prepare(t.Context(), Guard{Instruct: instructs})
				must(t, err)
				must(t, r.RestoreAll(t.Context()))
				clean(t, r)
				if _, err := os.Lstat(r.Tree() + "/ignored/deep/CLAUDE.md"); err == nil {
					t.Error("an instruction in a closed folder is still there")
				}

				closer(t, r.Tree())
				must(t, r.Close())
				r = openRun(t, user)
				clean(t, r)
				commit(t, r, "{2}")
				clean(t, r)
				if got := read(t, r.Tree()+"/gone/two.txt") + read(t, r.Tree()+"/"+record); got != "2\n{2}" {
					t.Errorf("the tree reads %q", got)
				}
			})
		}
	})
}

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

// An empty folder in the state folder is none of git's changes, and yet in the
// way of a file.
func TestTidyRemovesEmptyFolders(t *testing.T) {
	r, _ := openedRun(t)
	must(t, os.MkdirAll(r.Tree()+"/"+state+"/00_plan/plan.md/deep", 0o755))
	write(t, r.Tree()+"/"+state+"/01_design/design.md", "design\n")
	must(t, os.MkdirAll(r.Tree()+"/build/empty", 0o755))
	_, err := r.Prepare(t.Context(), Guard{Instruct: instructs})
	must(t, err)
	for name, want := range map[string]bool{state + "/00_plan": false, state + "/01_design/design.md": true, "build/empty": true} {
		if _, err := os.Lstat(filepath.Join(r.Tree(), name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
}
