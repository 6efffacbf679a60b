package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	must(t, r.Restore(t.Context(), odd))
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
