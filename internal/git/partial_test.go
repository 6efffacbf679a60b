package git

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// partial makes a clone of a repository with two commits, that has left objects
// out and not fetched them since.
func partial(t *testing.T, filter string) (clone, first string) {
	t.Helper()
	user := newUser(t, map[string]string{"main.txt": "one\n", "dir/sub/deep.txt": "deep\n", ".github/reprise/pipelines/own.cue": "name: \"own\"\n"})
	first = sh(t, user, "rev-parse", "HEAD")
	write(t, filepath.Join(user, "main.txt"), "two\n")
	sh(t, user, "commit", "-q", "-a", "-m", "second")
	bare := withRemote(t, user)
	sh(t, bare, "config", "uploadpack.allowFilter", "true")
	sh(t, bare, "config", "uploadpack.allowAnySHA1InWant", "true")
	clone = filepath.Join(filepath.Dir(user), "clone")
	sh(t, filepath.Dir(user), "clone", "-q", "--no-checkout", "--filter="+filter, "file://"+bare, clone)
	return clone, first
}

func TestPartialClone(t *testing.T) {
	for _, filter := range []string{"blob:none", "tree:0"} {
		t.Run(filter, func(t *testing.T) {
			clone, first := partial(t, filter)
			source, err := Find(t.Context(), clone)
			must(t, err)
			if source.Partial() != filter {
				t.Errorf("the clone has left out %q, want %q", source.Partial(), filter)
			}
			data, err := source.ReadFile(t.Context(), "main", ".github/reprise/pipelines/own.cue")
			if err != nil || string(data) != "name: \"own\"\n" {
				t.Errorf("read from the user's repository: %q, %v", data, err)
			}
			folder, err := source.FS(t.Context(), "main", ".github/reprise")
			if err != nil || folder == nil {
				t.Errorf("a folder of the user's repository: %v, %v", folder, err)
			}
			r := openRun(t, clone, pushing)
			if got := read(t, filepath.Join(r.Tree(), "dir/sub/deep.txt")); got != "deep\n" {
				t.Errorf("the tree has %q", got)
			}
			write(t, filepath.Join(r.Tree(), "main.txt"), "three\n")
			commit(t, r, "a", "main.txt")
			text, _, err := diffOf(t, r, first) // whose file was never here
			if err != nil || !strings.Contains(text, "-one\n+three\n") {
				t.Errorf("the difference from an older commit is %q, %v", text, err)
			}
			if got := sh(t, clone, "ls-remote", "origin", branch); !strings.HasPrefix(got, r.Tip()) {
				t.Errorf("origin has %q, want %s", got, r.Tip())
			}
			back, err := r.RestoreTree(t.Context(), first, state)
			if err != nil || len(back.Paths) != 1 || read(t, filepath.Join(r.Tree(), "main.txt")) != "one\n" {
				t.Errorf("going back to an older commit changes %+v: %v", back, err)
			}
		})
	}
}

// A partial clone does not ask its remote for a commit that may be gone
// everywhere.
func TestPartialCloneLooksHereFirst(t *testing.T) {
	clone, _ := partial(t, "blob:none")
	r := openRun(t, clone)
	here, err := r.has(t.Context(), strings.Repeat("1", 40))
	if here || err != nil {
		t.Errorf("a commit that is nowhere: %v, %v", here, err)
	}
}

func TestPeek(t *testing.T) {
	user := newUser(t, map[string]string{"a": "a\n"})
	bare := withRemote(t, user)
	older := filepath.Join(filepath.Dir(user), "older")
	sh(t, filepath.Dir(user), "clone", "-q", bare, older)
	r := openRun(t, user, pushing)
	commit(t, r, "there")
	before := sh(t, older, "count-objects", "-v")

	source, err := Find(t.Context(), older)
	must(t, err)
	read, done, err := source.Peek(t.Context(), branch, "issue-7")
	must(t, err)
	defer done()
	data, err := read(record)
	if err != nil || string(data) != "there" {
		t.Errorf("read from origin: %q, %v", data, err)
	}
	if after := sh(t, older, "count-objects", "-v"); after != before {
		t.Errorf("looking has left objects behind:\n%s\nbefore:\n%s", after, before)
	}
	if _, _, err := source.Peek(t.Context(), "reprise/issue-8", "issue-8"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a branch that is not there: %v", err)
	}
}
