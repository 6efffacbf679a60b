package git

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
)

// oddTree is a user's repository with one of everything a tree can hold.
func oddTree(t testing.TB) string {
	t.Helper()
	user := filepath.Join(realTemp(t), "user")
	if out, err := exec.Command("cp", "-a", oddTemplate(t), user).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sh(t, user, "status", "--short") // lets git look at the copies once
	return user
}

var oddOnce struct {
	sync.Mutex
	dir string
}

// oddTemplate makes the repository once, below the home of all tests.
func oddTemplate(t testing.TB) string {
	t.Helper()
	oddOnce.Lock()
	defer oddOnce.Unlock()
	if oddOnce.dir != "" {
		return oddOnce.dir
	}
	user := makeOddTree(t)
	oddOnce.dir = filepath.Join(testHome, "odd")
	must(t, os.Rename(user, oddOnce.dir))
	return oddOnce.dir
}

func makeOddTree(t testing.TB) string {
	t.Helper()
	user := newUser(t, map[string]string{
		"a.txt": "a\n", "dir/one.txt": "1\n", "dir/two.txt": "2\n", "dir/deep/three.txt": "3\n", "empty": "", "pipe": "p\n",
		"日本語/ファイル 名.txt": "x\n", "with \"quote\" and \\": "q\n", "run.sh": "#!/bin/sh\n", "-dash": "d\n", ":colon": "c\n", "*star": "s\n",
		".gitignore": "ignored/\n", "crlf/.gitattributes": "*.txt text eol=crlf\n", "crlf/f.txt": "l1\nl2\n",
	})
	must(t, os.Chmod(user+"/run.sh", 0o755))
	must(t, os.Symlink("a.txt", user+"/link"))
	inner := newUser(t, map[string]string{"inner.txt": "i"})
	sh(t, user, "submodule", "add", "-q", inner, "sub")
	sh(t, user, "add", "-A")
	sh(t, user, "commit", "-qm", "odd")
	return user
}

// vandalise changes oddTree in every way that Changes should see.
func vandalise(t testing.TB, tree string) []string {
	t.Helper()
	outside := filepath.Join(realTemp(t), "outside")
	write(t, outside+"/one.txt", "1\n") // as in the tree
	write(t, outside+"/two.txt", "other\n")
	write(t, outside+"/precious", "p")
	must(t, os.RemoveAll(tree+"/dir"))
	must(t, os.Symlink(outside, tree+"/dir"))
	must(t, os.Remove(tree+"/a.txt"))
	write(t, tree+"/a.txt/inside/x", "now a folder")
	must(t, os.Chmod(tree+"/run.sh", 0o644))
	must(t, os.Remove(tree+"/link"))
	write(t, tree+"/link", "now a file")
	must(t, os.Remove(tree+"/pipe"))
	must(t, syscall.Mkfifo(tree+"/pipe", 0o644))
	write(t, tree+"/日本語/ファイル 名.txt", "changed\n")
	must(t, os.Rename(tree+"/-dash", tree+"/-Dash"))
	must(t, os.Remove(tree+"/:colon"))
	sh(t, tree, "init", "-q", ":colon")
	must(t, os.Remove(tree+"/*star"))
	write(t, tree+"/line\nbreak", "x")
	write(t, tree+"/new/deep/er/file", "x")
	write(t, tree+"/ignored/cache", "x")
	sh(t, tree, "init", "-q", "nested/repo")
	write(t, tree+"/nested/repo/f", "x")
	sh(t, tree, "init", "-q", "--bare", "barerepo")
	must(t, os.RemoveAll(tree+"/sub"))
	write(t, tree+"/"+state+"/plan.md", "plan")
	must(t, os.Symlink("/etc/passwd", tree+"/"+state+"/link"))
	return []string{
		"type changed :colon", "added .reprise/issue-7/link", "added .reprise/issue-7/plan.md", "deleted *star", "added -Dash", "deleted -dash",
		"deleted a.txt", "added a.txt/inside/x", "deleted dir/deep/three.txt", "deleted dir/one.txt", "deleted dir/two.txt",
		"added dir", "type changed pipe", "added line\nbreak", "type changed link", "added nested/repo", "added new/deep/er/file",
		"modified run.sh", "deleted sub", "modified 日本語/ファイル 名.txt",
	}
}

// A link that leads to itself in place of a folder hides nothing of what was in it.
func TestLinksThatLeadToThemselves(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, map[string]string{"a/b": "b", "a/c/d": "d", "e/f": "f", "g/h": "h", "z": "z"}))
	commit(t, r, "{1}")
	for name, to := range map[string]string{"a": "a", "e": "g", "g": "e"} {
		must(t, os.RemoveAll(r.Tree()+"/"+name))
		must(t, os.Symlink(to, r.Tree()+"/"+name))
	}
	want := []string{"added a", "deleted a/b", "deleted a/c/d", "added e", "deleted e/f", "added g", "deleted g/h"}
	if diff := cmp.Diff(want, changed(t, r)); diff != "" {
		t.Error(diff)
	}
	must(t, r.Restore(t.Context()))
	clean(t, r)
	if read(t, r.Tree()+"/a/c/d") != "d" || read(t, r.Tree()+"/e/f") != "f" {
		t.Error("the files are not back")
	}
	must(t, os.RemoveAll(r.Tree()+"/a"))
	must(t, os.Symlink("a", r.Tree()+"/a"))
	commit(t, r, "{2}", allPaths(t, r)...)
	clean(t, r)
}

func lines(s []string) map[string]bool {
	out := map[string]bool{}
	for _, line := range s {
		if !strings.Contains(line, "barerepo/") {
			out[line] = true
		}
	}
	return out
}

func TestChangesAndRestoreOfOddTrees(t *testing.T) {
	t.Parallel()
	r := openRun(t, oddTree(t))
	commit(t, r, "{1}")
	clean(t, r)
	want := vandalise(t, r.Tree())
	if diff := cmp.Diff(lines(want), lines(changed(t, r))); diff != "" {
		t.Error(diff)
	}
	outside, err := os.Readlink(r.Tree() + "/dir")
	must(t, err)
	must(t, r.Restore(t.Context()))
	clean(t, r)
	if read(t, outside+"/precious") != "p" || read(t, outside+"/two.txt") != "other\n" {
		t.Error("something outside was changed")
	}
	if read(t, r.Tree()+"/ignored/cache") != "x" {
		t.Error("an ignored file is gone")
	}
	for _, gone := range []string{"new", "nested", "barerepo/HEAD"} {
		if _, err := os.Lstat(r.Tree() + "/" + gone); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
	if got := read(t, r.Tree()+"/crlf/f.txt"); got != "l1\r\nl2\r\n" {
		t.Errorf("line ends: %q", got)
	}
	if out, err := exec.Command("git", "-C", r.src.Dir, "diff", "--no-index", "--stat", r.src.Dir+"/dir", r.Tree()+"/dir").CombinedOutput(); err != nil {
		t.Errorf("%s", out)
	}
}

// The same havoc, left behind by a killed process.
func TestOpenBringsOddTreesBack(t *testing.T) {
	t.Parallel()
	user := oddTree(t)
	r := openRun(t, user)
	commit(t, r, "{1}")
	vandalise(t, r.Tree())
	r.Close()
	r = openRun(t, user)
	clean(t, r)
	if r.Leftover() == "" || r.Warnings() != nil {
		t.Errorf("leftover %q, warnings %q", r.Leftover(), r.Warnings())
	}
}

// What can be committed of the havoc is, and comes back as it was.
func TestCommitOfOddTrees(t *testing.T) {
	t.Parallel()
	user := oddTree(t)
	r := openRun(t, user)
	commit(t, r, "{1}")
	vandalise(t, r.Tree())
	must(t, r.Restore(t.Context(), "line\nbreak", "nested", ":colon", "pipe", "sub", state+"/link", "barerepo"))
	paths := allPaths(t, r)
	id := commit(t, r, "{2}", paths...)
	clean(t, r)
	fresh := filepath.Join(filepath.Dir(user), "fresh")
	sh(t, user, "worktree", "add", "-q", "--detach", fresh, id)
	if target, err := os.Readlink(fresh + "/dir"); err != nil || !strings.HasSuffix(target, "/outside") {
		t.Errorf("dir: %q, %v", target, err)
	}
	if read(t, fresh+"/a.txt/inside/x") != "now a folder" || read(t, fresh+"/link") != "now a file" || read(t, fresh+"/-Dash") != "d\n" {
		t.Error("the commit is not what was in the tree")
	}
	if info, err := os.Stat(fresh + "/run.sh"); err != nil || info.Mode()&0o100 != 0 {
		t.Errorf("run.sh: %v, %v", info, err)
	}
	if got := sh(t, user, "ls-tree", id, "sub"); !strings.HasPrefix(got, "160000 commit") {
		t.Errorf("submodule: %q", got)
	}
}

func TestRestoreSomePaths(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, map[string]string{"keep.txt": "k", "dir/a": "a", "dir/b": "b", "dirt": "d"}))
	commit(t, r, "{1}")
	for _, name := range []string{"keep.txt", "dir/a", "dir/new", "dirt", record, state + "/artifact"} {
		write(t, r.Tree()+"/"+name, "changed")
	}
	must(t, os.Remove(r.Tree()+"/dir/b"))
	must(t, r.Restore(t.Context(), "dir/", record, "no/such/path", "--option"))
	want := []string{"added " + state + "/artifact", "modified dirt", "modified keep.txt"}
	if diff := cmp.Diff(want, changed(t, r)); diff != "" {
		t.Error(diff)
	}
	if read(t, r.Tree()+"/"+record) != "{1}" {
		t.Error("the record was not restored")
	}
}

// Rules for line ends that were planted must not decide how files come back.
func TestRestoreUnderPlantedAttributes(t *testing.T) {
	t.Parallel()
	for _, files := range []map[string]string{
		{"f.txt": "l1\nl2\n", ".gitattributes": "* text\n"},
		{"f.txt": "l1\nl2\n"},
	} {
		r := openRun(t, newUser(t, files))
		commit(t, r, "{\n}\n")
		write(t, r.Tree()+"/.gitattributes", "* text eol=crlf\n")
		write(t, r.Tree()+"/f.txt", "changed")
		write(t, r.Tree()+"/"+record, "changed")
		must(t, r.Restore(t.Context()))
		if got := read(t, r.Tree()+"/f.txt"); got != "l1\nl2\n" {
			t.Errorf("line ends: %q", got)
		}
		clean(t, r)
	}
}

func TestStateIsKeptByteForByte(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{".gitattributes": "* text=auto eol=crlf\n*.md ident\n", "code.txt": "a\n"})
	r := openRun(t, user)
	text := "mixed\r\nline\nends $Id$\n"
	write(t, r.Tree()+"/"+state+"/plan.md", text)
	id := commit(t, r, text, state+"/plan.md")
	clean(t, r)
	for _, name := range []string{record, state + "/plan.md"} {
		if data, err := r.ReadFile(t.Context(), id, name); err != nil || string(data) != text {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	write(t, r.Tree()+"/code.txt", "b\r\nc\r\n")
	id = commit(t, r, "2", "code.txt")
	if data, err := r.ReadFile(t.Context(), id, "code.txt"); err != nil || string(data) != "b\nc\n" {
		t.Errorf("code: %q, %v", data, err)
	}
	r.Close()
	must(t, os.RemoveAll(filepath.Dir(r.Tree())))
	r = openRun(t, user)
	clean(t, r)
	if got := read(t, r.Tree()+"/"+state+"/plan.md"); got != text {
		t.Errorf("checked out: %q", got)
	}
}

func TestRestoreTree(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{".gitattributes": "*.txt text eol=crlf\n", "a.txt": "one\n", "dir/b.txt": "b\n", "c": "c"})
	r := openRun(t, user)
	then := commit(t, r, "{1}")
	write(t, r.Tree()+"/a.txt", "two\n")
	write(t, r.Tree()+"/new/x", "x")
	must(t, os.RemoveAll(r.Tree()+"/dir"))
	write(t, r.Tree()+"/dir", "now a file")
	must(t, os.Remove(r.Tree()+"/.gitattributes"))
	now := commit(t, r, "{2}", allPaths(t, r)...)
	write(t, r.Tree()+"/uncommitted", "x")
	write(t, r.Tree()+"/"+state+"/artifact.md", "kept")

	stage, err := r.RestoreTree(t.Context(), then, state)
	must(t, err)
	if diff := cmp.Diff([]string{"dir", "new/x", ".gitattributes", "a.txt", "dir/b.txt"}, stage.Paths); diff != "" {
		t.Error(diff)
	}
	if read(t, r.Tree()+"/"+state+"/artifact.md") != "kept" || read(t, r.Tree()+"/"+record) != "{2}" {
		t.Error("the state folder was touched")
	}
	if got := read(t, r.Tree()+"/a.txt"); got != "one\r\n" {
		t.Errorf("a.txt: %q", got)
	}
	write(t, r.Tree()+"/a.txt", "swapped meanwhile\n")
	id := commitStage(t, r, "{3}", stage)
	must(t, r.Restore(t.Context(), "a.txt"))
	commit(t, r, "{4}", state+"/artifact.md")
	clean(t, r)
	if got := sh(t, user, "diff", "--name-only", then, id, "--", ".", ":!"+state); got != "" {
		t.Errorf("differs from then: %q", got)
	}
	if again, err := r.RestoreTree(t.Context(), id, state); err != nil || again.Paths != nil {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := r.RestoreTree(t.Context(), "HEAD", state); err == nil {
		t.Error("a name was taken for a commit")
	}
	_ = now
}

// A tree beside that of the run is as a fresh clone of its commit, with its .git for programs; of the
// tip it has the record, too.
func TestCheckOutBeside(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{".gitattributes": "*.txt text eol=crlf\n", "a.txt": "one\n", "dir/b.txt": "b\n", ".gitignore": "deps/\n"})
	base := sh(t, user, "rev-parse", "HEAD")
	r := openRun(t, user)
	write(t, r.Tree()+"/a.txt", "two\n")
	write(t, r.Tree()+"/new/x", "x")
	must(t, os.RemoveAll(r.Tree()+"/dir"))
	tip := commit(t, r, "{1}", allPaths(t, r)...)
	write(t, r.Tree()+"/deps/made", "made")
	write(t, r.Tree()+"/"+record, "{2}") // not committed yet
	must(t, os.Chtimes(r.Tree()+"/a.txt", noon, noon))
	for name, commit := range map[string]string{"then": base, "now": ""} {
		must(t, r.CheckOutBeside(t.Context(), commit, name))
		dir := filepath.Join(r.opt.Root, "copies", name)
		want, at := "", tip // of the record, git knows nothing
		if commit != "" {
			at = base
		}
		if got := sh(t, dir, "rev-parse", "HEAD"); got != at {
			t.Errorf("%s: git says %s, want %s", name, got, at)
		}
		if got := sh(t, dir, "status", "--porcelain", "--", ".", ":!.reprise"); got != want {
			t.Errorf("%s: git says %q, want %q", name, got, want)
		}
	}
	then, now := filepath.Join(r.opt.Root, "copies/then"), filepath.Join(r.opt.Root, "copies/now")
	if got := read(t, then+"/a.txt") + read(t, then+"/dir/b.txt"); got != "one\r\nb\r\n" {
		t.Errorf("of the other commit there is %q", got)
	}
	if got := read(t, now+"/a.txt") + read(t, now+"/"+record); got != "two\r\n{2}" {
		t.Errorf("of the tip there is %q", got)
	}
	if _, err := os.Stat(now + "/deps"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what no commit has is there, too: %v", err)
	}
	if info, err := os.Stat(now + "/a.txt"); err != nil || !info.ModTime().Equal(noon) {
		t.Errorf("a file is newer than that of the work tree: %v, %v", info.ModTime(), err)
	}
	if err := r.CheckOutBeside(t.Context(), "HEAD", "name"); err == nil {
		t.Error("a name was taken for a commit")
	}
	must(t, r.Clear(t.Context()))
	if _, err := os.Stat(r.Tree() + "/deps"); !errors.Is(err, fs.ErrNotExist) || read(t, r.Tree()+"/"+record) != "{2}" {
		t.Errorf("after it was cleared: %v", err)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, map[string]string{"a.txt": "1\n2\n3\n", "bin": "\x00"}))
	base := commit(t, r, "{1}")
	text, stat, err := diffOf(t, r, base)
	if err != nil || text != "" || stat != (metadata.Diff{}) {
		t.Errorf("%q, %v, %v", text, stat, err)
	}
	write(t, r.Tree()+"/a.txt", "1\n2 changed\n3\n4\n")
	commit(t, r, "{2}", "a.txt")
	write(t, r.Tree()+"/日本 x.txt", "new\n")
	write(t, r.Tree()+"/bin", "\x00\x01")
	text, stat, err = diffOf(t, r, base, state, "other/")
	must(t, err)
	if stat != (metadata.Diff{Files: 3, Lines: 4, Added: 3, Deleted: 1}) {
		t.Errorf("%+v", stat)
	}
	for _, want := range []string{"+2 changed", "Binary files a/bin and b/bin differ", "+++ b/日本 x.txt", "+new"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, record) {
		t.Error("the state folder was not left out")
	}
	if diff := cmp.Diff([]string{"modified bin", "added 日本 x.txt"}, changed(t, r)); diff != "" {
		t.Error(diff)
	}
	write(t, r.Tree()+"/huge.txt", strings.Repeat("0123456789\n", maxDiff/10))
	text, stat, err = diffOf(t, r, base, state)
	if err != nil || len(text) > maxDiff+100 || !strings.HasSuffix(text, "larger than 8 MB\n") || stat.Added != 3+maxDiff/10 {
		t.Errorf("%d bytes, %+v, %v", len(text), stat, err)
	}
}

func TestPatchLimits(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, nil))
	commit(t, r, "{1}")
	if patch, err := r.Patch(t.Context(), 1000); err != nil || patch != nil {
		t.Errorf("%q, %v", patch, err)
	}
	write(t, r.Tree()+"/small", "small\n")
	write(t, r.Tree()+"/large", strings.Repeat("x\n", 1000))
	sh(t, r.Tree(), "init", "-q", "nested")
	patch, err := r.Patch(t.Context(), 1000)
	must(t, err)
	for _, want := range []string{"# left out: \"nested\"", "# left out: \"large\", file, 2000 bytes", "+small"} {
		if !strings.Contains(string(patch), want) {
			t.Errorf("no %q in\n%s", want, patch)
		}
	}
	r.opt.Scrap = "small"
	if patch, err = r.Patch(t.Context(), 10_000); err != nil || strings.Contains(string(patch), "small") || !strings.Contains(string(patch), "large") {
		t.Errorf("with small as scrap: %v\n%s", err, patch)
	}
	r.opt.Scrap = ""
	if _, err := r.Patch(t.Context(), 100); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(r.home("snapshot-*")); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

// Rules for line ends that a program left behind count for no file that is written again.
func TestRulesThatWereLeftBehind(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.txt": "a\n", "d/b.txt": "b\n", "d/e/c.txt": "c\n", "f/.gitattributes": "*.txt text eol=crlf\n", "f/g.txt": "g\n"}
	for name, again := range map[string]func(r *Repo) *Repo{
		"opened again": func(r *Repo) *Repo { must(t, r.Close()); return openRun(t, r.src.Dir) },
		"killed once the rules were gone": func(r *Repo) *Repo {
			must(t, os.Remove(r.Tree()+"/d/.gitattributes"))
			must(t, os.Remove(r.home("index"))) // which goes before them
			must(t, r.Close())
			return openRun(t, r.src.Dir)
		},
		"moved": func(r *Repo) *Repo { must(t, r.MoveTo(t.Context(), r.Tip())); return r },
	} {
		r := openRun(t, newUser(t, files))
		commit(t, r, "{1}")
		spoil := func() {
			for _, file := range []string{"a.txt", "d/b.txt", "d/e/c.txt", "f/g.txt"} {
				write(t, filepath.Join(r.Tree(), file), "else\n")
			}
			write(t, r.Tree()+"/d/.gitattributes", "* text eol=crlf\n")
			must(t, os.Remove(r.Tree()+"/f/.gitattributes"))
		}
		spoil()
		r = again(r)
		defer func() { must(t, r.Close()) }()
		got := map[string]string{}
		for _, file := range []string{"a.txt", "d/b.txt", "d/e/c.txt", "f/g.txt"} {
			got[file] = read(t, filepath.Join(r.Tree(), file))
		}
		want := map[string]string{"a.txt": "a\n", "d/b.txt": "b\n", "d/e/c.txt": "c\n", "f/g.txt": "g\r\n"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if left := changed(t, r); len(left) > 0 {
			t.Errorf("%s: %q", name, left)
		}
	}
}

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
			commit(t, r, "{1}", "new/file")
			must(t, r.buildScratch("tree", r.home("index"), r.tip))
			write(t, r.Tree()+"/ignored", "x")
			write(t, r.Tree()+"/uncommitted", "x")
			must(t, r.Close())
			vanish(t, user)
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
	must(t, r.buildScratch("tree", r.home("index"), r.tip))
	write(t, r.Tree()+"/crlf.txt", "one\r\ntwo\r\n") // written anew, and the same
	write(t, r.Tree()+"/other.txt", "one\r\nchanged\r\n")
	must(t, os.Chmod(r.Tree()+"/run.txt", 0o755))
	got := strings.Join(changed(t, r), ", ")
	if want := "modified other.txt, modified run.txt"; got != want {
		t.Errorf("changes %q, want %q", got, want)
	}
	must(t, r.Restore(t.Context()))
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
