package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run's folder that names objects which are gone is made anew.
func TestVanishedObjects(t *testing.T) {
	t.Parallel()
	for name, vanish := range map[string]func(t *testing.T, user string){
		"the branch deleted, and git's objects pruned": func(t *testing.T, user string) {
			sh(t, user, "branch", "-D", branch)
			sh(t, user, "reflog", "expire", "--expire=now", "--all")
			sh(t, user, "gc", "-q", "--prune=now")
		},
		"the repository made anew at the same path": func(t *testing.T, user string) {
			must(t, os.RemoveAll(user))
			other := newUser(t, map[string]string{"a.txt": "other\n", "dir": "a file now\n"})
			must(t, os.Rename(other, user))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			user := newUser(t, map[string]string{"a.txt": "a\n", "dir/b.txt": "b\n", ".gitignore": "ignored\n"})
			r := openRun(t, user)
			write(t, r.Tree()+"/new/file", "new\n")
			lost := commit(t, r, "{1}", "new/file")
			must(t, r.resetScratch(t.Context()))
			write(t, r.Tree()+"/ignored", "x")
			write(t, r.Tree()+"/uncommitted", "x")
			must(t, r.Close())
			vanish(t, user)
			source, err := Find(t.Context(), user)
			must(t, err)
			if got, err := source.Lost(t.Context(), r.opt.Root, branch); err != nil || got != lost {
				t.Errorf("lost %q (%v), want %q", got, err, lost)
			}
			r = openRun(t, user)
			if said := strings.Join(r.Warnings(), "\n"); !strings.Contains(said, "not in this repository any more, so its folder "+r.opt.Root+" is made anew") {
				t.Errorf("it says %q", said)
			}
			if !r.New() {
				t.Error("the run is not new")
			}
			clean(t, r)
			for _, gone := range []string{"new", "ignored", "uncommitted"} {
				if _, err := os.Lstat(filepath.Join(r.Tree(), gone)); err == nil {
					t.Errorf("%s is still there", gone)
				}
			}
			commit(t, r, "{2}")
			clean(t, r)
			if got, err := source.Lost(t.Context(), r.opt.Root, branch); err != nil || got != "" {
				t.Errorf("lost %q (%v), want nothing", got, err)
			}
		})
	}
}

// Files that were committed before .gitattributes had a word on their line
// ends differ from what git would commit, in every clone. Nobody changed them.
func TestUntouchedLineEnds(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"crlf.txt": "one\r\ntwo\r\n", "other.txt": "one\r\ntwo\r\n", "run.txt": "x\r\n"})
	write(t, user+"/.gitattributes", "*.txt text\n")
	sh(t, user, "add", ".gitattributes")
	sh(t, user, "commit", "-qm", "attributes")
	r := openRun(t, user)
	clean(t, r)
	commit(t, r, "{1}")
	clean(t, r)
	must(t, r.resetScratch(t.Context()))
	write(t, r.Tree()+"/crlf.txt", "one\r\ntwo\r\n") // written anew, and the same
	write(t, r.Tree()+"/other.txt", "one\r\nchanged\r\n")
	must(t, os.Chmod(r.Tree()+"/run.txt", 0o755))
	got := strings.Join(changed(t, r), ", ")
	if want := "modified other.txt, modified run.txt"; got != want {
		t.Errorf("changes %q, want %q", got, want)
	}
	must(t, r.RestoreAll(t.Context()))
	clean(t, r)
	if got := read(t, r.Tree()+"/other.txt"); got != "one\r\ntwo\r\n" {
		t.Errorf("it reads %q", got)
	}
	must(t, r.Close())
	r = openRun(t, user)
	clean(t, r)
	if r.Leftover() != "" {
		t.Error("what nobody touched is kept as a leftover")
	}
}

// A tree that is gone is told as such, and the next one has what was committed.
func TestVanishedTree(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	r := openRun(t, user)
	must(t, os.RemoveAll(r.Tree()))
	if _, err := r.Changes(t.Context()); err == nil || !strings.Contains(err.Error(), "something has removed the work tree "+r.Tree()) || strings.Contains(err.Error(), "git status") {
		t.Errorf("it says %v", err)
	}
	must(t, r.Close())
	if _, err := os.Stat(filepath.Join(openRun(t, user).Tree(), "a.txt")); err != nil {
		t.Error(err)
	}
}
