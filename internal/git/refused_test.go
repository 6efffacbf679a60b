package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file or link of the repository's own that stands where the record has to
// be is not removed for it.
func TestStateFolderIsTaken(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(user string) error{
		"file": func(user string) error { return os.WriteFile(user+"/.reprise", []byte("mine\n"), 0o644) },
		"link": func(user string) error { return os.Symlink("elsewhere", user+"/.reprise") },
	} {
		user := newUser(t, map[string]string{"a.txt": "a\n"})
		must(t, put(user))
		sh(t, user, "add", "-A")
		sh(t, user, "commit", "-qm", name)
		_, err := tryOpen(t, user)
		if err == nil || !strings.Contains(err.Error(), "of its own named .reprise, where the record of a run has to be: rename it first") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A branch on origin that is in the way is named, and what to do about it.
func TestBranchInTheWayOnOrigin(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	bare := withRemote(t, user)
	sh(t, bare, "branch", "reprise", "main")
	r := openRun(t, user, pushing)
	_, err := r.Commit(t.Context(), Commit{Message: "step", Files: map[string][]byte{record: []byte("{1}")}, Time: noon})
	want := "branch reprise/issue-7 cannot be made beside branch reprise on origin: rename that one, or give the branches of runs another prefix with REPRISE_BRANCH_PREFIX"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// The way out for a repository of somebody else can be copied into a shell.
func TestRepositoryOfSomebodyElse(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "Ada's work")
	must(t, os.Mkdir(dir, 0o755))
	c := exec.Command("sh", "-c", trusting(dir)+" && git config --global safe.directory")
	c.Dir, c.Env = home, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	if out, err := c.CombinedOutput(); err != nil || string(out) != dir+"\n" {
		t.Errorf("git was told to read %q (%v), want %q", out, err, dir)
	}
}

// Settings that come with the environment count as those of files do, and the
// author is found in git's own order.
func TestEnvironmentOfTheUser(t *testing.T) {
	user := newUser(t, nil)
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "safe.directory")
	t.Setenv("GIT_CONFIG_VALUE_0", user)
	s, err := Find(t.Context(), user)
	must(t, err)
	if got := s.config.Get("safe.directory"); got != user {
		t.Errorf("safe.directory is %q, want %q", got, user)
	}
	if s.UserName != "Ada" || s.UserEmail != "ada@example.com" {
		t.Errorf("the user is %q <%s>", s.UserName, s.UserEmail)
	}
	t.Setenv("GIT_AUTHOR_NAME", "Grace")
	t.Setenv("GIT_AUTHOR_EMAIL", "grace@example.com")
	s, err = Find(t.Context(), user)
	must(t, err)
	if s.UserName != "Grace" || s.UserEmail != "grace@example.com" {
		t.Errorf("the user is %q <%s>", s.UserName, s.UserEmail)
	}
}

// No attribute of the tree keeps a change from being seen or counted.
func TestAttributesHideNoChange(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, map[string]string{"a.txt": "a\n"}))
	base := commit(t, r, "{1}")
	write(t, r.Tree()+"/.gitattributes", "* -diff\n*.go binary\n")
	write(t, r.Tree()+"/calc.go", strings.Repeat("evil\n", 600))
	text, stat, err := diffOf(t, r, base, state)
	must(t, err)
	if diff := cmp.Diff(DiffStat{Files: 2, Added: 602}, stat); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if !strings.Contains(text, "+evil") || strings.Contains(text, "Binary files") {
		t.Errorf("the difference reads\n%.300s", text)
	}
}

// Programs that git finds by a path which is not absolute are not those of the
// work tree.
func TestGitDoesNotWorkInTheTree(t *testing.T) {
	p := newTrap(t)
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	bare := withRemote(t, user)
	sh(t, user, "config", "core.sshCommand", "./tools/ssh")
	sh(t, user, "remote", "set-url", "origin", "git@127.0.0.1:"+bare)
	t.Setenv("PATH", ".:"+os.Getenv("PATH")+"::tools")
	plant := func(dir string) {
		for _, name := range []string{"tools/ssh", "git-remote-https", "ssh", "tools/git"} {
			file := filepath.Join(dir, name)
			write(t, file, "#!/bin/sh\nexec "+p.program(t, name)+"\n")
			must(t, os.Chmod(file, 0o755))
		}
	}
	r, err := tryOpen(t, user, func(o *Options) { o.Remote = "" })
	must(t, err)
	commit(t, r, "{1}")
	plant(r.Tree())
	for _, part := range filepath.SplitList(r.src.env.Path()) {
		if !filepath.IsAbs(part) {
			t.Errorf("PATH has the part %q", part)
		}
	}
	must(t, r.Close())
	_, err = tryOpen(t, user, pushing)
	if err == nil {
		t.Error("a remote that cannot be reached was reached")
	}
	if got := p.sprung(t); got != nil {
		t.Errorf("git ran %q of the tree", got)
	}
}
