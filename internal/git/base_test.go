package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// moveBase commits files to the branch main of a repository, and pushes it.
func moveBase(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	sh(t, dir, "checkout", "-q", "main")
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	sh(t, dir, "add", "-A")
	sh(t, dir, "commit", "-q", "-m", "the base moves")
	sh(t, dir, "push", "-q", "origin", "main")
	return sh(t, dir, "rev-parse", "HEAD")
}

// Where one has a file and the other one a folder, the run keeps what it has, and is told of
// both: no name that git has made up comes to the branch.
func TestMergeOfAFileWithAFolder(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n", "gone/one": "1\n"})
	sh(t, user, "branch", "-M", "main")
	withRemote(t, user)
	from := sh(t, user, "rev-parse", "HEAD")
	r := openRun(t, user, pushing)
	must(t, os.RemoveAll(r.Tree()+"/gone"))
	for name, text := range map[string]string{"file": "ours\n", "folder/a": "ours\n", "gone": "ours\n"} {
		write(t, filepath.Join(r.Tree(), name), text)
	}
	commit(t, r, "one", "file", "folder/a", "gone", "gone/one")
	moved := moveBase(t, user, map[string]string{"file/b": "theirs\n", "folder": "theirs\n", "gone/one": "theirs\n", "new": "theirs\n"})
	paths := []string{"file", "folder", "gone/one", "gone", "file/b", "folder/a"}
	_, state, err := r.FindBase(t.Context(), "main", from)
	if err != nil || !slices.Equal(state.Conflicts, paths) {
		t.Errorf("it will conflict in %q, %v; want %q", state.Conflicts, err, paths)
	}
	s, result, err := r.Merge(t.Context(), moved, from)
	if must(t, err); !slices.Equal(result.Paths(), paths) || !slices.Equal(s.Paths, []string{"new"}) {
		t.Errorf("it conflicts in %q, and brings %q", result.Paths(), s.Paths)
	}
	for _, c := range result.Conflicts {
		ours, theirs := slices.Contains([]string{"file", "gone", "folder/a"}, c.Path), slices.Contains([]string{"folder", "file/b", "gone/one"}, c.Path)
		if (string(c.Ours.Data) == "ours\n") != ours || (string(c.Theirs.Data) == "theirs\n") != theirs {
			t.Errorf("%s is told as %+v", c.Path, c)
		}
	}
	id, err := r.Commit(t.Context(), Commit{Message: "merge", Files: map[string][]byte{record: []byte("two")}, Stage: s, Merges: moved, Time: noon})
	must(t, err)
	base, err := r.WithBase(t.Context(), sh(t, user, "rev-parse", id+"^1"), from, moved)
	must(t, err)
	for _, commit := range []string{id, base} {
		if got := sh(t, user, "ls-tree", "-r", "--name-only", commit); got != record+"\na.txt\nfile\nfolder/a\ngone\nnew" {
			t.Errorf("there is\n%s", got)
		}
	}
}

// The base comes in as a second parent, also where the clone is shallow, and nothing of the run
// is lost.
func TestMerge(t *testing.T) {
	t.Parallel()
	for _, shallow := range []bool{false, true} {
		user := newUser(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
		sh(t, user, "branch", "-M", "main")
		bare := withRemote(t, user)
		from := moveBase(t, user, map[string]string{"c.txt": "c\n"}) // so that there is history to cut off
		at := user
		if shallow {
			at = filepath.Join(filepath.Dir(user), "shallow")
			sh(t, user, "clone", "-q", "--depth=1", "--branch=main", "file://"+bare, at)
		}
		r := openRun(t, at, pushing, inRoot(filepath.Join(filepath.Dir(user), "merging")))
		write(t, r.Tree()+"/a.txt", "ours\n")
		commit(t, r, "one", "a.txt")
		tip, none, err := r.FindBase(t.Context(), "main", from)
		if err != nil || none.Behind != 0 || len(none.Conflicts) > 0 {
			t.Fatalf("shallow %t: before the base moves it is %s, %+v, %v", shallow, tip, none, err)
		}
		began := r.Tip() // a phase after that
		moveBase(t, user, map[string]string{"b.txt": "theirs\n"})
		moved := moveBase(t, user, map[string]string{".gitattributes": "* merge=union\n"})
		to, state, err := r.FindBase(t.Context(), "main", from)
		if err != nil || to != moved || state.Behind != 2 || len(state.Conflicts) > 0 {
			t.Fatalf("shallow %t: it is %s, %+v, %v; want %s, 2 commits behind", shallow, to, state, err, moved)
		}
		s, result, err := r.Merge(t.Context(), to, from)
		must(t, err)
		if len(result.Conflicts) > 0 || !slices.Equal(s.Paths, []string{".gitattributes", "b.txt"}) {
			t.Errorf("shallow %t: it has %+v and brings %q", shallow, result.Conflicts, s.Paths)
		}
		id, err := r.Commit(t.Context(), Commit{Message: "merge", Files: map[string][]byte{record: []byte("two")}, Stage: s, Merges: to, Time: noon})
		must(t, err)
		if got := sh(t, bare, "log", "-1", "--format=%P", "refs/heads/"+branch); !strings.HasSuffix(got, " "+moved) {
			t.Errorf("shallow %t: the parents are %s", shallow, got)
		}
		if got := sh(t, bare, "merge-tree", "--write-tree", "main", id); got != sh(t, bare, "rev-parse", id+"^{tree}") {
			t.Errorf("shallow %t: main and the branch do not make what the branch has", shallow)
		}
		for name, want := range map[string]string{"a.txt": "ours\n", "b.txt": "theirs\n", record: "two"} {
			if got := read(t, r.Tree()+"/"+name); got != want {
				t.Errorf("shallow %t: %s has %q", shallow, name, got)
			}
		}
		if got := changed(t, r); got != nil {
			t.Errorf("shallow %t: the work tree is not as the tip: %q", shallow, got)
		}
		// Of what the base has brought, and of what was there before, the phase has done nothing;
		// also where a later process has the newest commits alone.
		again := filepath.Join(filepath.Dir(user), "again")
		sh(t, user, "clone", "-q", "--depth=1", "--branch=main", "file://"+bare, again)
		for _, r := range []*Repo{r, openRun(t, again, pushing, inRoot(filepath.Join(filepath.Dir(user), "later")))} {
			base, err := r.WithBase(t.Context(), began, from, to)
			must(t, err)
			if text, stat, err := r.Diff(t.Context(), base, nil); err != nil || stat.Files > 0 {
				t.Errorf("shallow %t: the phase has changed\n%s%v", shallow, text, err)
			}
			if _, stat, err := r.Diff(t.Context(), began, nil); err != nil || stat.Files != 2 {
				t.Errorf("shallow %t: without that it is %d files, %v", shallow, stat.Files, err)
			}
		}
		if _, state, err = r.FindBase(t.Context(), "main", to); err != nil || state.Behind != 0 {
			t.Errorf("shallow %t: then it is %+v, %v", shallow, state, err)
		}
	}
}

// A conflict shows, whatever attributes the branch or the user's files give to it.
func TestMergeShowsConflicts(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n", "gone.txt": "x\n"})
	sh(t, user, "branch", "-M", "main")
	withRemote(t, user)
	r := openRun(t, user)
	from := r.Tip()
	write(t, r.Tree()+"/a.txt", "ours\n")
	write(t, r.Tree()+"/gone.txt", "ours\n")
	write(t, r.Tree()+"/.gitattributes", "* merge=union conflict-marker-size=20\n")
	commit(t, r, "one", "a.txt", "gone.txt", ".gitattributes")
	sh(t, user, "rm", "-q", "gone.txt")
	moveBase(t, user, map[string]string{"a.txt": "theirs\n"})

	source, err := Find(t.Context(), user)
	must(t, err)
	state, err := source.Behind(t.Context(), branch, "main", from)
	if err != nil || state.Behind != 1 || !slices.Equal(state.Conflicts, []string{"a.txt", "gone.txt"}) {
		t.Fatalf("it is %+v, %v", state, err)
	}
	to, state, err := r.FindBase(t.Context(), "main", from)
	if err != nil || state.Behind != 1 || !slices.Equal(state.Conflicts, []string{"a.txt", "gone.txt"}) {
		t.Fatalf("it is %+v, %v", state, err)
	}
	_, result, err := r.Merge(t.Context(), to, from)
	must(t, err)
	if got := read(t, r.Tree()+"/a.txt"); !strings.HasPrefix(got, "<<<<<<< reprise/ours\nours\n|||||||") || !strings.HasSuffix(got, "=======\ntheirs\n>>>>>>> reprise/base\n") {
		t.Errorf("the file has %q", got)
	}
	for i, c := range result.Conflicts {
		if string(c.Ours.Data) != "ours\n" || c.Base.Data == nil || (c.Theirs.Data == nil) != (i == 1) {
			t.Errorf("a conflict is %+v", c)
		}
	}
}

// Marks are found whichever way lines end and wherever the two sides have the file, and
// what a rename carries elsewhere is known to be mixed.
func TestMergeAcrossRenames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 30)
	user := newUser(t, map[string]string{"windows.txt": "a\r\nb\r\n", "old.txt": long + "a\n", "ci.yml": long})
	sh(t, user, "branch", "-M", "main")
	withRemote(t, user)
	r := openRun(t, user)
	from := r.Tip()
	ours := map[string]string{"windows.txt": "ours\r\nb\r\n", "old.txt": long + "ours\n", "ci.yml": "ours\n" + long, "mine.txt": "ours\n"}
	for name, text := range ours {
		write(t, filepath.Join(r.Tree(), name), text)
	}
	commit(t, r, "one", keys(ours)...)
	sh(t, user, "checkout", "-q", "main")
	sh(t, user, "mv", "old.txt", "new.txt")
	sh(t, user, "mv", "ci.yml", "moved.yml")
	moveBase(t, user, map[string]string{"windows.txt": "theirs\r\nb\r\n", "new.txt": long + "theirs\n", "theirs.txt": "theirs\n"})
	to, _, err := r.FindBase(t.Context(), "main", from)
	must(t, err)
	_, result, err := r.Merge(t.Context(), to, from)
	must(t, err)
	if got := result.Paths(); !slices.Equal(got, []string{"new.txt", "windows.txt"}) {
		t.Fatalf("the conflicts are %q", got)
	}
	for _, name := range result.Paths() {
		if got := read(t, filepath.Join(r.Tree(), name)); !Marked([]byte(got)) {
			t.Errorf("%s is not taken for marked: %q", name, got)
		}
	}
	if Marked([]byte("a <<<<<<< reprise/ours\n")) {
		t.Error("what only looks similar is taken for a mark")
	}
	if got := result.Mixed; !slices.Equal(got, []string{"moved.yml", "new.txt", "windows.txt"}) {
		t.Errorf("of both sides are %q", got)
	}
}
