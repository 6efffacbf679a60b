package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a", "sub/b.txt": "b"})
	head := sh(t, user, "rev-parse", "HEAD")
	sh(t, user, "remote", "add", "origin", "https://bob:secret-pw@example.com/acme/widget.git")
	linked := filepath.Join(filepath.Dir(user), "linked")
	sh(t, user, "worktree", "add", "-q", "-b", "feature/x", linked)
	detached := filepath.Join(filepath.Dir(user), "detached")
	sh(t, user, "worktree", "add", "-q", "--detach", detached)

	for _, tc := range []struct{ name, dir, top, branch string }{
		{"top", user, user, "main"},
		{"subfolder", filepath.Join(user, "sub"), user, "main"},
		{"linked work tree", linked, linked, "feature/x"},
		{"detached", detached, detached, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := found(t, tc.dir)
			got := Source{
				Dir: s.Dir, CommonDir: s.CommonDir, Head: s.Head, Branch: s.Branch, DefaultBranch: s.DefaultBranch,
				RemoteURL: s.RemoteURL, GitHub: s.GitHub, Shallow: s.Shallow, UserName: s.UserName, UserEmail: s.UserEmail,
			}
			want := Source{
				Dir: tc.top, CommonDir: filepath.Join(user, ".git"), Head: head, Branch: tc.branch, DefaultBranch: "main",
				RemoteURL: "https://example.com/acme/widget.git", GitHub: "acme/widget", UserName: "Ada", UserEmail: "ada@example.com",
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(Source{}, lfsSetup{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFindRefuses(t *testing.T) {
	t.Parallel()
	dir := realTemp(t)
	empty, bare, file := filepath.Join(dir, "empty"), filepath.Join(dir, "bare"), filepath.Join(dir, "file")
	sh(t, dir, "init", "-q", empty)
	sh(t, dir, "init", "-q", "--bare", bare)
	write(t, file, "")
	damaged := newUser(t, nil)
	must(t, os.Remove(filepath.Join(damaged, ".git/HEAD")))
	orphan := newUser(t, nil)
	sh(t, orphan, "checkout", "-q", "--orphan", "new")

	for _, tc := range []struct{ name, dir, want string }{
		{"no repository", dir, "make one with git init"},
		{"missing folder", filepath.Join(dir, "none"), "no such folder"},
		{"a name in Latin-1", filepath.Join(dir, "caf\xe9"), "no UTF-8"},
		{"a file", file, "not a folder"},
		{"bare", bare, "bare repository"},
		{"inside .git", filepath.Join(empty, ".git"), "inside of .git"},
		{"a damaged .git", damaged, "has a .git that is no repository"},
		{"no commits", empty, "commit something first"},
		{"unborn branch", orphan, "commit something first"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Find(t.Context(), tc.dir)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want something with %q", err, tc.want)
			}
			var none *NoCommits
			var not *NotARepository
			if !errors.As(err, &none) && !errors.As(err, &not) {
				t.Errorf("error has no type: %T", err)
			}
		})
	}
}

func TestDefaultBranchIsTheRemotes(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	bare := withRemote(t, user)
	sh(t, bare, "branch", "trunk")
	sh(t, user, "fetch", "-q", "origin")
	sh(t, user, "remote", "set-head", "origin", "trunk")
	s := found(t, user)
	if s.DefaultBranch != "trunk" {
		t.Errorf("default branch %q", s.DefaultBranch)
	}
}

func TestSourceReads(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "one", "dir/b.txt": "two", "-x": "dash"})
	first := sh(t, user, "rev-parse", "HEAD")
	sh(t, user, "checkout", "-q", "-b", "reprise/issue-1")
	write(t, filepath.Join(user, "a.txt"), "branch")
	sh(t, user, "commit", "-qam", "more")
	sh(t, user, "checkout", "-q", "main")
	for _, b := range []string{"reprise/issue-10", "reprise/issue-2", "other"} {
		sh(t, user, "branch", b)
	}
	s := found(t, user)

	for _, tc := range []struct{ ref, path, want string }{
		{"main", "a.txt", "one"},
		{"reprise/issue-1", "a.txt", "branch"},
		{first, "dir/b.txt", "two"},
		{"refs/heads/main", "-x", "dash"},
	} {
		data, err := s.ReadFile(t.Context(), tc.ref, tc.path)
		if err != nil || string(data) != tc.want {
			t.Errorf("%s:%s: got %q, %v", tc.ref, tc.path, data, err)
		}
	}
	for _, tc := range []struct{ ref, path string }{{"main", "none"}, {"reprise/issue", "a.txt"}, {"--all", "a.txt"}} {
		if _, err := s.ReadFile(t.Context(), tc.ref, tc.path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s:%s: %v", tc.ref, tc.path, err)
		}
	}
	for _, tc := range []struct{ ref, path string }{{"main", "dir"}, {"main\nmain", "a.txt"}, {"main", "a.txt\nmain:a.txt"}} {
		if _, err := s.ReadFile(t.Context(), tc.ref, tc.path); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q:%q: %v", tc.ref, tc.path, err)
		}
	}
	for prefix, want := range map[string][]string{
		"reprise/":         {"reprise/issue-1", "reprise/issue-10", "reprise/issue-2"},
		"reprise/issue-1":  {"reprise/issue-1"},
		"reprise/issue-10": {"reprise/issue-10"},
		"repr":             nil,
		"--all":            nil,
	} {
		all, err := s.Refs(t.Context(), "refs/heads/"+prefix)
		must(t, err)
		var got []string
		for _, b := range all {
			got = append(got, strings.TrimPrefix(b.Name, "refs/heads/"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", prefix, diff)
		}
	}
}

func TestSourceReadsRemoteBranchWhenThereIsNoLocalOne(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "one"})
	withRemote(t, user)
	clone := filepath.Join(filepath.Dir(user), "clone")
	sh(t, user, "clone", "-q", filepath.Join(filepath.Dir(user), "origin.git"), clone)
	sh(t, clone, "checkout", "-q", "--detach")
	sh(t, clone, "branch", "-D", "main")
	s := found(t, clone)
	data, err := s.ReadFile(t.Context(), "main", "a.txt")
	if err != nil || string(data) != "one" {
		t.Errorf("got %q, %v", data, err)
	}
}

func TestFindIgnoresVariablesOfAHook(t *testing.T) {
	user := newUser(t, nil)
	t.Setenv("GIT_DIR", filepath.Join(user, "elsewhere"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(user, "elsewhere"))
	s, err := Find(t.Context(), user)
	if err != nil || s.Dir != user {
		t.Errorf("got %v, %v", s, err)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"p/a.cue": "a", "p/deep/b.md": "b", "other": "x"})
	must(t, os.Symlink("/etc/passwd", user+"/p/link"))
	sh(t, user, "add", "-A")
	sh(t, user, "commit", "-qm", "link")
	s := found(t, user)
	folder, err := s.FS(t.Context(), "main", "p")
	must(t, err)
	got := map[string]string{}
	must(t, fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, e := fs.ReadFile(folder, name)
			got[name], err = string(data), e
		}
		return err
	}))
	if diff := cmp.Diff(map[string]string{"a.cue": "a", "deep/b.md": "b"}, got); diff != "" {
		t.Error(diff)
	}
	if none, err := s.FS(t.Context(), "main", "none"); none != nil || err != nil {
		t.Errorf("%v, %v", none, err)
	}
	if _, err := s.FS(t.Context(), "nowhere", "p"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestOwnerAndName(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://github.com/acme/widget.git":      "acme/widget",
		"https://github.com/acme/widget":          "acme/widget",
		"https://ghe.example.com:8443/acme/w.git": "acme/w",
		"git@github.com:acme/widget.git":          "acme/widget",
		"ssh://git@github.com/acme/widget.git":    "acme/widget",
		"file:///srv/widget.git":                  "",
		"/srv/acme/widget.git":                    "",
		"../widget.git":                           "",
		"https://example.com/a/b/c.git":           "",
		"":                                        "",
	} {
		if got := ownerAndName(address); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://github.com/acme/widget.git": "github.com", "https://ghe.example.com:8443/acme/w.git": "ghe.example.com",
		"git@github.com:acme/widget.git": "github.com", "ssh://git@github.com/acme/widget.git": "github.com",
		"/srv/acme/widget.git": "", "../widget.git": "", "": "",
	} {
		if got := Host(address); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}

func TestGitIsTooOldForLanes(t *testing.T) {
	for says, want := range map[string]bool{
		"git version 2.37.9\n": true, "git version 2.38.0\n": false, "git version 2.39.5 (Apple Git-154)\n": false, "git version 3.0\n": false, "git version 1.9\n": true,
	} {
		if err := tooOld(says); (err != nil) != want {
			t.Errorf("%s: %v", says, err)
		}
	}
}
