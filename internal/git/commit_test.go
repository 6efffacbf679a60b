package git

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/metadata"
)

func TestCommitStateAndCode(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", ".gitignore": ".reprise/\nignored\n"})
	start := sh(t, user, "rev-parse", "HEAD")
	r := openRun(t, user)
	if !r.New() || r.Tip() != start {
		t.Fatalf("new %v, tip %s", r.New(), r.Tip())
	}
	write(t, r.Tree()+"/a.txt", "changed\n")
	write(t, r.Tree()+"/new file.txt", "new\n")
	write(t, r.Tree()+"/ignored", "x")
	write(t, r.Tree()+"/"+state+"/01_plan/plan.md", "plan\n")
	must(t, os.Remove(r.Tree()+"/b.txt"))
	want := []string{"added .reprise/issue-7/01_plan/plan.md", "modified a.txt", "deleted b.txt", "added new file.txt"}
	if diff := cmp.Diff(want, changed(t, r)); diff != "" {
		t.Fatal(diff)
	}

	id := commit(t, r, "{1}", state+"/01_plan/plan.md", "a.txt", "b.txt")
	if r.Tip() != id || r.New() || sh(t, user, "rev-parse", branch) != id {
		t.Errorf("tip %s, branch %s, commit %s", r.Tip(), sh(t, user, "rev-parse", branch), id)
	}
	if diff := cmp.Diff([]string{"added new file.txt"}, changed(t, r)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(".gitignore\n.reprise/issue-7/01_plan/plan.md\n.reprise/issue-7/metadata.json\na.txt",
		sh(t, user, "ls-tree", "-r", "--name-only", id)); diff != "" {
		t.Error(diff)
	}
	if got := sh(t, user, "show", "-s", "--format=%an <%ae>|%cn|%cI|%P|%B", id); got != "Ada <ada@example.com>|Ada|2026-01-02T12:00:00+00:00|"+
		start+"|step {1}\n\nReprise-Issue: 7\nReprise-Step: execute\n" {
		t.Errorf("commit: %q", got)
	}
	data, err := r.ReadFile(t.Context(), id, record)
	if err != nil || string(data) != "{1}" || read(t, r.Tree()+"/"+record) != "{1}" {
		t.Errorf("record: %q, %v", data, err)
	}
	commit(t, r, "{2}", "new file.txt")
	clean(t, r)
	must(t, os.Rename(user+"/.git", user+"/gone")) // git is not asked again for what a commit has
	if _, err := r.ReadFile(t.Context(), id, record); err != nil {
		t.Error(err)
	}
}

func TestMoves(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, nil))
	write(t, r.Tree()+"/"+state+"/02_design/design.md", "one")
	write(t, r.Tree()+"/"+state+"/02_design/notes with space.md", "two")
	write(t, r.Tree()+"/"+state+"/single.md", "three")
	commit(t, r, "{1}", allPaths(t, r)...)
	id, err := r.Commit(t.Context(), Commit{
		Message: "back", Time: noon,
		Moves: map[string]string{
			state + "/02_design": state + "/superseded/1/02_design",
			state + "/single.md": state + "/superseded/1/single.md",
		},
		Files: map[string][]byte{state + "/02_design/ROLLBACK_REASON.md": []byte("because"), state + "/empty": nil},
	})
	must(t, err)
	want := strings.Join([]string{
		state + "/02_design/ROLLBACK_REASON.md", state + "/empty", record, state + "/superseded/1/02_design/design.md",
		state + "/superseded/1/02_design/notes with space.md", state + "/superseded/1/single.md",
	}, "\n")
	if diff := cmp.Diff(want, sh(t, r.src.Dir, "ls-tree", "-r", "--name-only", id)); diff != "" {
		t.Error(diff)
	}
	if read(t, r.Tree()+"/"+state+"/superseded/1/02_design/design.md") != "one" {
		t.Error("the tree did not follow")
	}
	clean(t, r)
	r.Close()
	clean(t, openRun(t, r.src.Dir))
}

func TestCommitRefuses(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	r := openRun(t, user)
	first := commit(t, r, "{1}")
	tree := r.Tree()
	write(t, tree+"/good.txt", "good")
	must(t, syscall.Mkfifo(tree+"/"+state+"/pipe", 0o644))
	must(t, os.Symlink("/etc/passwd", tree+"/"+state+"/link"))
	secret := filepath.Join(filepath.Dir(user), "secret")
	write(t, secret, "secret")
	must(t, os.Link(secret, tree+"/"+state+"/hard"))
	must(t, os.Symlink(filepath.Dir(user), tree+"/"+state+"/out"))
	sh(t, tree, "init", "-q", "nested")
	write(t, tree+"/line\nbreak", "x")

	ok := map[string][]byte{record: []byte("{2}")}
	for _, tc := range []struct {
		name string
		c    Commit
		want string

		paths []string
	}{
		{"no message", Commit{Files: ok, Time: noon}, "message is empty", nil},
		{"zero byte", Commit{Message: "a\x00b", Files: ok, Time: noon}, "zero byte", nil},
		{"no time", Commit{Message: "m", Files: ok}, "time is missing", nil},
		{"line break", Commit{Message: "m", Time: noon, Files: ok}, "control character", []string{"good.txt", "line\nbreak"}},
		{"nested repository", Commit{Message: "m", Time: noon, Files: ok}, "repository of its own", []string{"good.txt", "nested"}},
		{"in .git", Commit{Message: "m", Time: noon}, ".git folder", []string{".git/config"}},
		{"in .GIT", Commit{Message: "m", Time: noon, Files: map[string][]byte{state + "/.GIT/config": nil}}, ".git folder", nil},
		{"dotdot", Commit{Message: "m", Time: noon}, "clean path", []string{"../x"}},
		{"absolute", Commit{Message: "m", Time: noon}, "clean path", []string{"/etc/passwd"}},
		{"state elsewhere", Commit{Message: "m", Time: noon, Files: map[string][]byte{"a.txt": nil}}, "state folder", nil},
		{"state of another", Commit{Message: "m", Time: noon, Files: map[string][]byte{state + "0/x": nil}}, "state folder", nil},
		{"move of nothing", Commit{Message: "m", Time: noon, Moves: map[string]string{state + "/x": state + "/y"}}, "not in branch", nil},
		{"move onto", Commit{Message: "m", Time: noon, Moves: map[string]string{record: state}}, "state folder", nil},
		{"pipe", Commit{Message: "m", Time: noon}, "is a pipe", []string{state + "/pipe"}},
		{"symlink", Commit{Message: "m", Time: noon}, "link", []string{state + "/link"}},
		{"hard link", Commit{Message: "m", Time: noon}, "hard link", []string{state + "/hard"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			id, err := commitPaths(t.Context(), r, tc.c, tc.paths...)
			if id != "" || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %q, %v, want something with %q", id, err, tc.want)
			}
			if sh(t, user, "rev-parse", branch) != first || r.Tip() != first || read(t, tree+"/"+record) != "{1}" {
				t.Error("something was done")
			}
		})
	}
	commit(t, r, "{3}", "good.txt")
	// A path beyond a link is not there, so that naming it commits nothing of what it leads to.
	id := commit(t, r, "{4}", state+"/out/secret")
	if got := sh(t, user, "ls-tree", "-r", "--name-only", id, "--", state); got != record {
		t.Errorf("committed %q", got)
	}
}

// A failure of git itself, after the index was written, leaves no trace either.
func TestCommitFailsWhole(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	r := openRun(t, user)
	commit(t, r, "{1}")
	write(t, r.Tree()+"/a.txt", "changed")
	bad, wall := "", ""
	for wall == "" || there(wall) { // other objects lie in a folder by chance
		bad += "odd"
		wall = filepath.Join(r.objects(), blobID([]byte(bad))[:2])
	}
	write(t, r.Tree()+"/bad.txt", bad)
	before := changed(t, r)
	write(t, wall, "a file where git wants a folder")
	if id, err := commitPaths(t.Context(), r, Commit{
		Message: "m", Time: noon, Files: map[string][]byte{record: []byte("{2}")},
	}, "a.txt", "bad.txt"); err == nil || id != "" {
		t.Fatalf("got %q, %v", id, err)
	}
	must(t, os.Remove(wall))
	if diff := cmp.Diff(before, changed(t, r)); diff != "" {
		t.Error(diff)
	}
	// The state commit that says what went wrong takes nothing else along.
	id := commit(t, r, "{2}")
	if got := sh(t, user, "show", "--format=", "--name-only", id); got != record {
		t.Errorf("committed %q", got)
	}
	commit(t, r, "{3}", "a.txt")
	must(t, r.Restore(t.Context()))
	clean(t, r)
}

// Nothing in a file is hidden by an encoding that git would undo.
func TestEncodingsAreKept(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, nil))
	commit(t, r, "{1}")
	write(t, r.Tree()+"/.gitattributes", "*.txt working-tree-encoding=IBM037\n*.asc working-tree-encoding=UTF-16\n")
	write(t, r.Tree()+"/a.txt", "\x92\x85\xa8%") // key, and an end of line
	write(t, r.Tree()+"/b.asc", "odd")
	id := commit(t, r, "{2}", ".gitattributes", "a.txt", "b.asc")
	for name, want := range map[string]string{"a.txt": "\x92\x85\xa8%", "b.asc": "odd"} {
		if data, err := r.ReadFile(t.Context(), id, name); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	clean(t, r)
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	for _, tc := range []struct {
		name string
		set  func(*Options)
		want string
	}{
		{"given", func(o *Options) { o.Name, o.Email = "Bot <x>\n", "bot@example.com" }, "Bot x <bot@example.com>"},
		{"configured", func(*Options) {}, "Ada <ada@example.com>"},
		{"none", func(o *Options) { o.Source.UserEmail = "" }, "reprise <reprise@reprise.invalid>"},
		{"signed off", func(o *Options) { o.Source.config = append(o.Source.config, setting{"format.signoff", "true"}) }, "Ada <ada@example.com>Signed-off-by: Ada <ada@example.com>"},
	} {
		r := openRun(t, user, tc.set)
		id := commit(t, r, tc.name)
		if got := sh(t, user, "show", "-s", "--format=%an <%ae>%(trailers:key=Signed-off-by)", id); strings.TrimSpace(got) != tc.want {
			t.Errorf("%s: %q", tc.name, got)
		}
		r.Close()
	}
}

// Everything in the user's repository stays as it was but for the objects and
// the run's own branch.
func TestUsersRepositoryIsUntouched(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a", "b.txt": "b"})
	withRemote(t, user)
	write(t, user+"/stashed", "x")
	sh(t, user, "stash", "-u", "-q")
	write(t, user+"/a.txt", "dirty")
	write(t, user+"/b.txt", "staged")
	sh(t, user, "add", "b.txt")
	write(t, user+"/untracked", "x")
	before := fingerprint(t, user)
	r := openRun(t, user, pushing)
	must(t, r.buildScratch("tree", r.home("index"), r.tip))
	write(t, r.Tree()+"/a.txt", "agent")
	write(t, r.Tree()+"/new", "agent")
	commit(t, r, "{1}", allPaths(t, r)...)
	commit(t, r, "{2}")
	if read(t, r.Tree()+"/b.txt") != "b" {
		t.Error("what the user had staged came into the run")
	}
	r.Close()
	openRun(t, user, pushing).Close()
	if diff := cmp.Diff(before, fingerprint(t, user)); diff != "" {
		t.Error(diff)
	}
}

// fingerprint is the content of all files of a repository, objects and the
// run's branch aside.
func fingerprint(t testing.TB, user string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must(t, filepath.Walk(user, func(name string, info os.FileInfo, err error) error {
		rel, _ := filepath.Rel(user, name)
		switch {
		case err != nil:
			return err
		case rel == ".git/objects":
			return filepath.SkipDir
		case info.IsDir(), strings.HasSuffix(rel, "refs/heads/"+branch):
			return nil
		}
		files[rel] = read(t, name)
		return nil
	}))
	return files
}

func TestBranchCheckedOutByTheUserIsNotMoved(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	r := openRun(t, user)
	first := commit(t, r, "{1}")
	linked := filepath.Join(filepath.Dir(user), "linked")
	sh(t, user, "worktree", "add", "-q", linked, branch)
	second := commit(t, r, "{2}")
	if got := sh(t, user, "rev-parse", branch); got != first {
		t.Errorf("branch moved to %s", got)
	}
	if w := r.Warnings(); len(w) != 1 || !strings.Contains(w[0], linked) {
		t.Errorf("warnings: %q", w)
	}
	commit(t, r, "{3}")
	if w := r.Warnings(); len(w) > 0 {
		t.Errorf("said more than once: %q", w)
	}
	sh(t, user, "worktree", "remove", linked)
	r.Close()
	r = openRun(t, user)
	if r.Tip() == first || r.Tip() == second || sh(t, user, "rev-parse", branch) != r.Tip() {
		t.Errorf("tip %s, branch %s", r.Tip(), sh(t, user, "rev-parse", branch))
	}
	clean(t, r)
}

func TestLog(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	r := openRun(t, user)
	start := r.Tip()
	first := commit(t, r, "{1}")
	second := commit(t, r, "{2}")
	got, err := r.Log(t.Context(), start)
	must(t, err)
	entry := func(id, parent, n string) LogEntry {
		return LogEntry{
			Commit: id, Parents: []string{parent}, Subject: "step " + n,
			Trailers: []Trailer{{Key: "Reprise-Issue", Value: "7"}, {Key: "Reprise-Step", Value: "execute"}},
		}
	}
	if diff := cmp.Diff([]LogEntry{entry(second, first, "{2}"), entry(first, start, "{1}")}, got); diff != "" {
		t.Error(diff)
	}
	if none, err := r.Log(t.Context(), r.Tip()); err != nil || none != nil {
		t.Errorf("%v, %v", none, err)
	}
	if all, err := r.Log(t.Context(), ""); err != nil || len(all) != 3 {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := r.Log(t.Context(), "--all"); err == nil {
		t.Error("an option was taken for a commit")
	}
}

func TestLocked(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	r := openRun(t, user)
	_, err := tryOpen(t, user)
	var locked *folders.Held
	if !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("got %v", err)
	}
	r.Close()
	openRun(t, user)
}

func TestDryRunWritesNothing(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a"})
	bare := withRemote(t, user)
	before := snapshotOf(t, filepath.Dir(user), user, bare)
	r := openRun(t, user, pushing, func(o *Options) { o.DryRun = true })
	write(t, r.Tree()+"/a.txt", "changed")
	id := commit(t, r, "{1}", "a.txt")
	if text, stat, err := diffOf(t, r, sh(t, user, "rev-parse", "main")); err != nil || stat.Files != 1 || !strings.Contains(text, "+changed") {
		t.Errorf("%v, %v\n%s", stat, err, text)
	}
	must(t, r.buildScratch("tree", r.home("index"), r.tip))
	if got := sh(t, r.Tree(), "rev-parse", "HEAD"); got != id {
		t.Errorf("the agent sees %s", got)
	}
	clean(t, r)
	if diff := cmp.Diff(before, snapshotOf(t, filepath.Dir(user), user, bare)); diff != "" {
		t.Error(diff)
	}
}

// snapshotOf is the content of every file below dirs.
func snapshotOf(t testing.TB, base string, dirs ...string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, dir := range dirs {
		must(t, filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
			if err == nil && !info.IsDir() {
				files[strings.TrimPrefix(name, base)] = read(t, name)
			}
			return err
		}))
	}
	return files
}

func TestScratchShowsWhatChanged(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	r := openRun(t, user)
	id := commit(t, r, "{1}")
	must(t, r.buildScratch("tree", r.home("index"), r.tip))
	if got := sh(t, r.Tree(), "status", "--porcelain"); got != "" {
		t.Errorf("status of a clean tree: %q", got)
	}
	write(t, r.Tree()+"/a.txt", "b\n")
	if got := sh(t, r.Tree(), "status", "--porcelain", "-b"); got != "## "+branch+"\n M a.txt" {
		t.Errorf("status: %q", got)
	}
	if got := sh(t, r.Tree(), "log", "-1", "--format=%H"); got != id {
		t.Errorf("HEAD is %s", got)
	}
	sh(t, r.Tree(), "diff", "main...")
	// What the agent would commit or stash there stays in the tree.
	for _, args := range [][]string{{"commit", "-qam", "agent"}, {"stash"}, {"checkout", "-b", "other"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = r.Tree()
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "leave the work in the tree") {
			t.Errorf("git %v: %v\n%s", args, err, out)
		}
	}
	if sh(t, user, "rev-parse", branch) != id || sh(t, r.Tree(), "rev-parse", "HEAD") != id || read(t, r.Tree()+"/a.txt") != "b\n" {
		t.Error("an agent's git did something all the same")
	}
	commit(t, r, "{2}", "a.txt")
	must(t, r.buildScratch("tree", r.home("index"), r.tip))
	if got := sh(t, r.Tree(), "status", "--porcelain"); got != "" {
		t.Errorf("status after a reset: %q", got)
	}
}

func TestLargeFile(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, nil))
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // 16 MB
	must(t, os.WriteFile(r.Tree()+"/big.bin", big, 0o644))
	id := commit(t, r, "{1}", "big.bin")
	data, err := r.ReadFile(t.Context(), id, "big.bin")
	if err != nil || !bytes.Equal(data, big) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	clean(t, r)
}

// A commit that begins the state folder anew leaves nothing there of what the
// branch started from, and everything else as it was.
func TestCommitBeginsTheStateFolderAnew(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{
		"a.txt": "a\n", record: "{old}", state + "/01_plan/plan.md": "old plan\n", ".reprise/issue-8/metadata.json": "{8}",
	})
	r := openRun(t, user)
	id, err := r.Commit(t.Context(), Commit{Message: "start", Time: noon, Gone: []string{state}, Files: map[string][]byte{record: []byte("{1}")}})
	must(t, err)
	want := ".reprise/issue-7/metadata.json\n.reprise/issue-8/metadata.json\na.txt"
	if diff := cmp.Diff(want, sh(t, user, "ls-tree", "-r", "--name-only", id)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(r.Tree() + "/" + state + "/01_plan"); !os.IsNotExist(err) || read(t, r.Tree()+"/"+record) != "{1}" {
		t.Errorf("the tree did not follow: %v", err)
	}
	clean(t, r)
	r.Close()
	clean(t, openRun(t, user))
}

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
	want := "branch reprise/issue-7 cannot be made beside branch reprise on origin: rename that one, or give the branches of runs another prefix, with the input branch-prefix or REPRISE_BRANCH_PREFIX"
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
	s := found(t, user)
	if got := s.config.Get("safe.directory"); got != user {
		t.Errorf("safe.directory is %q, want %q", got, user)
	}
	if s.UserName != "Ada" || s.UserEmail != "ada@example.com" {
		t.Errorf("the user is %q <%s>", s.UserName, s.UserEmail)
	}
	t.Setenv("GIT_AUTHOR_NAME", "Grace")
	t.Setenv("GIT_AUTHOR_EMAIL", "grace@example.com")
	s = found(t, user)
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
	if diff := cmp.Diff(metadata.Diff{Files: 2, Lines: 602, Added: 602}, stat); diff != "" {
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
