package git

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Names that look like options are names, or refused; git never gets them
// where it would read options.
func TestNamesAreNotOptions(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	bare := withRemote(t, user)
	canary := filepath.Join(realTemp(t), "canary")
	evil := []string{"-x", "--upload-pack=touch " + canary, "--receive-pack=touch${IFS}" + canary, "--output=" + canary, "-c", "--help", "@{-1}", "HEAD", "a..b", "a b", "x.lock", "", "-", "a\nb"}
	for _, name := range evil {
		if _, err := tryOpen(t, user, pushing, func(o *Options) { o.Branch = name }); err == nil || !strings.Contains(err.Error(), "not a name for a branch") {
			t.Errorf("branch %q: %v", name, err)
		}
		if name == "" || name == "HEAD" {
			continue // has a meaning below
		}
		if _, err := tryOpen(t, user, pushing, func(o *Options) { o.Remote = name }); err == nil {
			t.Errorf("remote %q was taken", name)
		}
		if _, err := tryOpen(t, user, pushing, func(o *Options) { o.Base = name }); err == nil {
			t.Errorf("base %q was taken", name)
		}
	}
	r := openRun(t, user, pushing)
	base := commit(t, r, "{1}")
	odd := []string{"--output=x", "--upload-pack=touch y", "-", "-c", "--", "dir/-f", "HEAD", "main", `back\slash`, `quo"te`, "new\u00a0space", ":(exclude)x", "*", "[a]", "~"}
	for _, name := range odd {
		write(t, filepath.Join(r.Tree(), name), name)
	}
	paths := allPaths(t, r)
	if got := len(paths); got != len(odd) {
		t.Fatalf("%d of %d files are seen: %q", got, len(odd), paths)
	}
	if _, _, err := diffOf(t, r, base, odd...); err != nil {
		t.Error(err)
	}
	id := commit(t, r, "{2}", paths...)
	clean(t, r)
	for _, name := range odd {
		if data, err := r.ReadFile(t.Context(), id, name); err != nil || string(data) != name {
			t.Errorf("%q: %q, %v", name, data, err)
		}
		write(t, filepath.Join(r.Tree(), name), "changed")
	}
	must(t, r.Restore(t.Context(), odd...))
	clean(t, r)
	restored, err := r.RestoreTree(t.Context(), base, state)
	if err != nil || len(restored.Paths) != len(odd) {
		t.Errorf("%+v, %v", restored, err)
	}
	for _, name := range []string{"-x", "--all", "main", "HEAD"} {
		if _, err := r.ReadFile(t.Context(), name, "a.txt"); err == nil {
			t.Errorf("%q was taken for a commit", name)
		}
		if _, _, err := diffOf(t, r, name); err == nil {
			t.Errorf("%q was taken for a commit", name)
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a name was run")
	}
	_ = bare
}

func TestBranchesOfOtherIssuesAreLeftAlone(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	bare := withRemote(t, user)
	for _, name := range []string{"issue-7", "reprise/issue-70", "reprise/issue", "x/reprise/issue-7"} {
		sh(t, user, "branch", name)
		sh(t, user, "push", "-q", "origin", name)
	}
	sh(t, user, "tag", branch)
	before := sh(t, user, "for-each-ref")
	r := openRun(t, user, pushing)
	if !r.New() {
		t.Errorf("took another branch for ours: %s", r.Tip())
	}
	id := commit(t, r, "{1}")
	after := strings.ReplaceAll(sh(t, user, "for-each-ref"), id+" commit\trefs/heads/"+branch+"\n", "")
	if before != after {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if got := sh(t, bare, "rev-parse", "refs/heads/"+branch); got != id {
		t.Errorf("remote: %s", got)
	}
}

func TestBranchInTheWay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"reprise", branch + "/sub"} {
		user := newUser(t, nil)
		sh(t, user, "branch", name)
		if _, err := tryOpen(t, user); err == nil || !strings.Contains(err.Error(), "beside branch "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	for _, tc := range []struct {
		name, want string
		set        func(*Options)
	}{
		{"root in the repository", "choose a folder outside", func(o *Options) { o.Root = user + "/run" }},
		{"root in .git", ".git folder", func(o *Options) { o.Root = user + "/.git/reprise" }},
		{"root beside .git", ".git folder", func(o *Options) { o.Root = filepath.Dir(user) + "/.git/x" }},
		{"no state", "state folder", func(o *Options) { o.State = "" }},
		{"state outside", "state folder", func(o *Options) { o.State = "../x" }},
		{"state pattern", "state folder", func(o *Options) { o.State = ".reprise/*" }},
		{"no base", "no such branch", func(o *Options) { o.Base = "nowhere" }},
		{"no such remote", "git remote add origin URL", pushing},
		{"no source", "source", func(o *Options) { o.Source = nil }},
	} {
		if _, err := tryOpen(t, user, tc.set); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	if _, err := os.Stat(user + "/run"); err == nil {
		t.Error("a folder was made in the repository")
	}
}

func TestBase(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	main := sh(t, user, "rev-parse", "main")
	sh(t, user, "checkout", "-q", "-b", "topic")
	sh(t, user, "commit", "-q", "--allow-empty", "-m", "topic")
	sh(t, user, "checkout", "-q", "--detach", "main")
	topic := sh(t, user, "rev-parse", "topic")
	for base, want := range map[string]string{"": main, "main": main, "topic": topic, topic: topic, "refs/heads/topic": topic} {
		r := openRun(t, user, func(o *Options) { o.Base = base })
		if r.Tip() != want {
			t.Errorf("base %q: %s, want %s", base, r.Tip(), want)
		}
		r.Close()
	}
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b []string
		want bool
	}{
		{[]string{"a"}, []string{"a"}, true},
		{[]string{"a/b"}, []string{"a"}, true},
		{[]string{"a"}, []string{"a/b/c"}, true},
		{[]string{"a/b"}, []string{"a/c"}, false},
		{[]string{"a"}, []string{"ab"}, false},
		{nil, []string{"a"}, false},
	} {
		if got := overlap(tc.a, tc.b); got != tc.want {
			t.Errorf("%q, %q: %v", tc.a, tc.b, got)
		}
	}
}

func TestLinkedWorkTreeAndSubfolder(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"sub/a.txt": "a"})
	linked := filepath.Join(filepath.Dir(user), "linked")
	sh(t, user, "worktree", "add", "-q", "-b", "topic", linked)
	r := openRun(t, linked+"/sub", inRoot(filepath.Join(filepath.Dir(user), "run")))
	write(t, r.Tree()+"/sub/a.txt", "b")
	id := commit(t, r, "{1}", "sub/a.txt")
	if sh(t, user, "rev-parse", branch) != id || !slices.Contains(strings.Fields(sh(t, linked, "branch", "--format=%(refname:short)")), branch) {
		t.Error("the branch is not there")
	}
	clean(t, r)
}

func TestUsersAlternates(t *testing.T) {
	t.Parallel()
	first := newUser(t, map[string]string{"a.txt": "a"})
	user := filepath.Join(realTemp(t), "user")
	sh(t, first, "clone", "-q", "--shared", first, user)
	r := openRun(t, user)
	write(t, r.Tree()+"/a.txt", "b")
	commit(t, r, "{1}", "a.txt")
	clean(t, r)
}

func TestChangesKnowAliasesAndLinks(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"docs/agents.md": "obey", "tools/claude/settings.json": "{}", "a.txt": "a"})
	sh(t, user, "config", "core.symlinks", "true")
	for link, target := range map[string]string{"CLAUDE.md": "AGENTS.md", "AGENTS.md": "docs/agents.md", ".claude": "./tools/claude", "out": "/etc", "up": "../x"} {
		symlink(t, target, user+"/"+link)
	}
	sh(t, user, "add", "-A")
	sh(t, user, "commit", "-q", "-m", "links")
	r := openRun(t, user)
	commit(t, r, "{1}")
	write(t, r.Tree()+"/docs/agents.md", "disobey")
	write(t, r.Tree()+"/tools/claude/settings.json", "evil")
	write(t, r.Tree()+"/A.txt", "alias")
	write(t, r.Tree()+"/"+state+"/Metadata.json", "alias")
	changes := changesOf(t, r)
	var got []string
	for _, c := range changes {
		slices.Sort(c.LinkedFrom)
		got = append(got, strings.TrimSpace(c.Path+" "+c.Alias+" "+strings.Join(c.LinkedFrom, " ")))
	}
	want := []string{
		state + "/Metadata.json " + record, "A.txt a.txt",
		"docs/agents.md  AGENTS.md CLAUDE.md", "tools/claude/settings.json  .claude",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes, with their aliases and the links that lead there (-want +got):\n%s", diff)
	}
}

// A file that was moved to where git does not look is not simply gone, and comes back with its old place.
func TestChangesKnowWhereFilesWent(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, map[string]string{
		".gitignore": "*.log\nbuilt/\n", "a.txt": "a", "b/c": "c", "gone": "g", "copied": "g",
		"edited": "1\n2\n3\n", "copy": "copy\n", "d/anew": "4\n5\n6\n", "d/other": "7\n8\n",
	}))
	commit(t, r, "{1}")
	must(t, os.Rename(r.Tree()+"/edited", r.Tree()+"/edited.log"))
	write(t, r.Tree()+"/edited.log", "1\n2\n4\n")
	write(t, r.Tree()+"/copy.log", "copy\n")
	must(t, os.Rename(r.Tree()+"/a.txt", r.Tree()+"/a.log"))
	must(t, os.Rename(r.Tree()+"/b", r.Tree()+"/built"))
	for _, name := range []string{"gone", "copy", "d/anew", "d/other"} {
		must(t, os.Remove(r.Tree()+"/"+name))
	}
	write(t, r.Tree()+"/built/anew.bak", "4\n5\n7\n")
	write(t, r.Tree()+"/built/other", "9\n9\n")
	write(t, r.Tree()+"/made.log", "other")
	var got []string
	for _, c := range changesOf(t, r) {
		got = append(got, fmt.Sprintf("%s: %v", c.Path, c.Ignored))
	}
	if diff := cmp.Diff([]string{
		"a.log: true", "a.txt: false", "b/c: false", "built/anew.bak: true", "built/c: true", "copy: false", "copy.log: true",
		"d/anew: false", "d/other: false", "edited: false", "edited.log: true", "gone: false",
	}, got); diff != "" {
		t.Errorf("changes, and which are ignored (-want +got):\n%s", diff)
	}
	must(t, r.Restore(t.Context(), "a.log", "a.txt", "b", "built", "gone", "copy", "copy.log", "d", "edited", "edited.log"))
	clean(t, r)
	if _, err := os.Stat(r.Tree() + "/made.log"); err != nil {
		t.Error(err)
	}
}

const pointerText = "version https://git-lfs.github.com/spec/v1\noid sha256:9daf3206115737fb0f2e4ab7d7b74f9897299e34335bde98bc0e9a65964f8d43\nsize 28893\n"

func TestLacksNothing(t *testing.T) {
	r := openRun(t, newUser(t, map[string]string{"a": "a\n", ".gitattributes": "*.txt text\n"}))
	if got := r.Lacks(); got != nil {
		t.Errorf("an ordinary repository lacks %q", got)
	}
}

// What Git LFS keeps is known in the tree of an agent; what would be committed
// as it is instead of as a pointer is told apart.
func TestLFS(t *testing.T) {
	user := newUser(t, map[string]string{"a.bin": pointerText, "b.bin": pointerText, "dir/.gitattributes": "*.dat filter=lfs -text\n", ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
	r := openRun(t, user)
	if got := strings.Join(r.Lacks(), "\n"); !strings.Contains(got, "Git LFS") {
		t.Errorf("nothing is said about Git LFS: %q", got)
	}
	write(t, filepath.Join(r.Tree(), "a.bin"), strings.Repeat("plain", 5000))
	write(t, filepath.Join(r.Tree(), "dir/new.dat"), "plain")
	write(t, filepath.Join(r.Tree(), "text"), "plain")
	must(t, os.Rename(filepath.Join(r.Tree(), "b.bin"), filepath.Join(r.Tree(), "moved.bin")))
	changes := changesOf(t, r)
	var large []string
	for _, c := range changes {
		if c.Large {
			large = append(large, c.Path)
		}
	}
	if got := strings.Join(large, " "); got != "a.bin dir/new.dat" {
		t.Errorf("Git LFS would have to convert %q", got)
	}
}

// What git would convert with another filter, or from another encoding, is told apart, and said beforehand.
func TestConvertedFiles(t *testing.T) {
	user := newUser(t, map[string]string{
		".gitattributes": "*.key filter=crypt\n*.txt working-tree-encoding=UTF-16LE-BOM\n*.md working-tree-encoding=UTF-8\nplain.key -filter\n", "a.txt": "a\n", "old.key": "old\n",
	})
	write(t, filepath.Join(user, ".git/info/attributes"), "*.own filter=mine\n")
	write(t, filepath.Join(user, "all"), "*.all filter=ours\n")
	sh(t, user, "config", "core.attributesFile", filepath.Join(user, "all"))
	r := openRun(t, user)
	if got := strings.Join(r.Lacks(), "\n"); !strings.Contains(got, "crypt, working-tree-encoding=UTF-16LE-BOM") || strings.HasSuffix(got, "UTF-8") {
		t.Errorf("what is said of it: %q", got)
	}
	want := map[string]string{"a.txt": "working-tree-encoding=UTF-16LE-BOM", "new.key": "crypt", "new.md": "", "plain.key": "", "plain": "", "new.own": "mine", "new.all": "ours"}
	for name := range want {
		write(t, filepath.Join(r.Tree(), name), "changed")
	}
	must(t, os.Rename(filepath.Join(r.Tree(), "old.key"), filepath.Join(r.Tree(), "moved")))
	want["old.key"], want["moved"] = "", "crypt"
	changes := changesOf(t, r)
	got := map[string]string{}
	for _, c := range changes {
		got[c.Path] = c.Filter
	}
	if !maps.Equal(got, want) {
		t.Errorf("converted: %q, want %q", got, want)
	}
}

// A repository that begins to use Git LFS in the call itself.
func TestLFSBegins(t *testing.T) {
	r := openRun(t, newUser(t, map[string]string{"a": "a\n"}))
	write(t, filepath.Join(r.Tree(), ".gitattributes"), "*.bin filter=lfs\n")
	write(t, filepath.Join(r.Tree(), "new.bin"), "plain")
	changes := changesOf(t, r)
	if len(changes) != 2 || changes[0].Large || !changes[1].Large {
		t.Errorf("changes: %+v", changes)
	}
}

func TestSubmodulesAreNamed(t *testing.T) {
	inner := filepath.Join(realTemp(t), "inner")
	sh(t, ".", "init", "-q", inner)
	sh(t, inner, "commit", "-q", "--allow-empty", "-m", "inner")
	user := newUser(t, map[string]string{"a": "a\n"})
	sh(t, user, "submodule", "add", "-q", inner, "vendor/lib")
	sh(t, user, "commit", "-q", "-m", "a submodule")
	r := openRun(t, user)
	if got := strings.Join(r.Lacks(), "\n"); !strings.HasPrefix(got, "vendor/lib is empty") {
		t.Errorf("nothing is said about the submodule: %q", got)
	}
}

func TestMerged(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	sh(t, user, "checkout", "-qb", "work")
	write(t, user+"/a.txt", "changed\n")
	write(t, user+"/.reprise/issue-7/plan.md", "plan\n")
	must(t, os.Remove(user+"/b.txt"))
	sh(t, user, "add", "-A")
	sh(t, user, "commit", "-qm", "work")
	sh(t, user, "checkout", "-q", "-")
	merged := func() bool {
		t.Helper()
		src := found(t, user)
		return src.Merged(t.Context(), "work")
	}
	commit := func() { sh(t, user, "add", "-A"); sh(t, user, "commit", "-qm", "main") }
	if merged() {
		t.Error("nothing was merged")
	}
	write(t, user+"/a.txt", "changed\n")
	if commit(); merged() {
		t.Error("one of two files was merged")
	}
	must(t, os.Remove(user+"/b.txt"))
	write(t, user+"/c.txt", "of others\n")
	if commit(); !merged() {
		t.Error("a squash has all of it")
	}
	write(t, user+"/a.txt", "changed since\n")
	if commit(); merged() {
		t.Error("a file is another by now, and no one commit has all of it")
	}
	sh(t, user, "merge", "-qX", "ours", "-m", "merge", "work")
	if !merged() {
		t.Error("the branch was merged")
	}
	sh(t, user, "branch", "-D", "work")
	if merged() {
		t.Error("there is no such branch")
	}
}

// What a squash or a rebase has brought is merged, also where others have changed the same files before or since; what
// only looks like it is not.
func TestMergedOtherwise(t *testing.T) {
	t.Parallel()
	lines := func(changed ...string) string { return strings.Join(slices.Concat(changed, []string{""}), "\n") }
	for name, tt := range map[string]struct {
		how  func(user string)
		want bool
	}{
		"squash": {func(user string) {
			sh(t, user, "merge", "-q", "--squash", "work")
			sh(t, user, "commit", "-qm", "work")
		}, true},
		"rebase":     {func(user string) { sh(t, user, "cherry-pick", "main..work") }, true},
		"half of it": {func(user string) { sh(t, user, "cherry-pick", "work~") }, false},
		"another logo": {func(user string) {
			write(t, user+"/logo", "\x00other")
			write(t, user+"/a.txt", lines("0", "1", "two", "3", "four", "5"))
			sh(t, user, "commit", "-qam", "other")
		}, false},
		"nothing": {func(string) {}, false},
	} {
		user := newUser(t, map[string]string{"a.txt": lines("1", "2", "3", "4", "5"), "logo": "\x00"})
		sh(t, user, "branch", "-M", "main")
		sh(t, user, "checkout", "-qb", "work")
		for i, text := range []string{lines("1", "two", "3", "4", "5"), lines("1", "two", "3", "four", "5")} {
			write(t, user+"/a.txt", text)
			write(t, user+"/logo", fmt.Sprintf("\x00%d", i))
			write(t, user+"/.reprise/issue-7/plan.md", text)
			sh(t, user, "add", "-A")
			sh(t, user, "commit", "-qm", "work")
		}
		sh(t, user, "checkout", "-q", "main")
		write(t, user+"/a.txt", lines("0", "1", "2", "3", "4", "5"))
		sh(t, user, "commit", "-qam", "before")
		tt.how(user)
		write(t, user+"/a.txt", "all is new\n")
		sh(t, user, "commit", "-qam", "since")
		tip := strings.TrimSpace(sh(t, user, "rev-parse", "work"))
		src, err := Find(t.Context(), user)
		must(t, err)
		if got := src.Merged(t.Context(), "work"); got != tt.want || src.Merged(t.Context(), tip) != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
