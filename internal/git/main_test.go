package git

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// TestMain keeps the configuration of whoever runs the tests out of them, and
// lets the test binary be the process that other tests kill.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "git-lfs" {
		standInForLFS(os.Args[1:])
		os.Exit(0)
	}
	if os.Getenv("REPRISE_TEST_COMMITTER") != "" {
		if err := commitForever(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(testMain(m))
}

// testHome is the home directory of all tests; it goes when they end.
var testHome string

func testMain(m *testing.M) int {
	realLFS := os.Getenv("REPRISE_TEST_GIT_LFS")
	testenv.InMemory()
	defer testenv.Isolate()()
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	if err := os.Mkdir(filepath.Join(home, "bin"), 0o755); err != nil {
		panic(err)
	}
	testHome = home
	if err := os.Symlink(cmp.Or(realLFS, os.Args[0]), filepath.Join(home, "bin", "git-lfs")); err != nil {
		panic(err)
	}
	os.Setenv("HOME", home)
	os.Setenv("PATH", filepath.Join(home, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	os.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "xdg"))
	return m.Run()
}

const (
	branch = "reprise/issue-7"
	state  = ".reprise/issue-7"
	record = state + "/metadata.json"
)

// noon is the time of the first commit in tests.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// sh runs git the way a user would, and returns what it printed.
func sh(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s in %s: %v\n%s", strings.Join(args, " "), dir, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func write(t testing.TB, name, text string) {
	t.Helper()
	testenv.Put(t, name, text)
}

func read(t testing.TB, name string) string {
	t.Helper()
	return testenv.Read(t, name)
}

func must(t testing.TB, err error) {
	t.Helper()
	testenv.Must(t, err)
}

// newUser makes a repository with the given files in one commit.
func newUser(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(realTemp(t), "user")
	must(t, os.Mkdir(dir, 0o755))
	sh(t, dir, "init", "-q")
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	sh(t, dir, "add", "-A")
	sh(t, dir, "commit", "-q", "--allow-empty", "-m", "start")
	return dir
}

// withRemote makes a bare repository that is the user's origin.
func withRemote(t testing.TB, user string) string {
	t.Helper()
	bare := filepath.Join(filepath.Dir(user), "origin.git")
	sh(t, user, "clone", "-q", "--bare", "--config=receive.autogc=false", user, bare) // a process for each push, which finds nothing to do
	sh(t, user, "remote", "add", "origin", bare)
	sh(t, user, "fetch", "-q", "origin")
	return bare
}

func realTemp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

// openRun opens the run of issue 7 on a user's repository.
func openRun(t testing.TB, user string, change ...func(*Options)) *Repo {
	t.Helper()
	r, err := tryOpen(t, user, change...)
	must(t, err)
	return r
}

func tryOpen(t testing.TB, user string, change ...func(*Options)) (*Repo, error) {
	t.Helper()
	source := found(t, user)
	o := Options{Source: source, Root: filepath.Join(filepath.Dir(user), "run"), Branch: branch, State: state}
	for _, f := range change {
		f(&o)
	}
	r, err := Open(t.Context(), o)
	if err == nil {
		t.Cleanup(func() { r.Close() })
	}
	return r, err
}

func pushing(o *Options) { o.Remote = "origin" }

func inRoot(root string) func(*Options) { return func(o *Options) { o.Root = root } }

// commit commits the state file with text, and the paths.
func commit(t testing.TB, r *Repo, text string, paths ...string) string {
	t.Helper()
	id, err := commitPaths(t.Context(), r, Commit{
		Message: "step " + text + "\n\nReprise-Issue: 7\nReprise-Step: execute\n",
		Files:   map[string][]byte{record: []byte(text)}, Time: noon,
	}, paths...)
	must(t, err)
	return id
}

// commitPaths stages the paths and makes the commit.
func commitPaths(ctx context.Context, r *Repo, c Commit, paths ...string) (string, error) {
	s, err := r.Stage(ctx, paths)
	if err != nil {
		return "", err
	}
	c.Stage = s
	return r.Commit(ctx, c)
}

// commitStage commits the state file with text, and what is staged.
func commitStage(t testing.TB, r *Repo, text string, s *Stage) string {
	t.Helper()
	id, err := r.Commit(t.Context(), Commit{Message: "step " + text, Files: map[string][]byte{record: []byte(text)}, Stage: s, Time: noon})
	must(t, err)
	return id
}

// diffOf says how the tree differs from a commit.
func diffOf(t testing.TB, r *Repo, from string, exclude ...string) (string, metadata.Diff, error) {
	t.Helper()
	s := staged(t, r, allPaths(t, r))
	return r.Diff(t.Context(), from, s, exclude...)
}

func found(t testing.TB, dir string) *Source {
	t.Helper()
	s, err := Find(t.Context(), dir)
	must(t, err)
	return s
}

func changesOf(t testing.TB, r *Repo) []Change {
	t.Helper()
	changes, err := r.Changes(t.Context())
	must(t, err)
	return changes
}

func prepare(t testing.TB, r *Repo, g Guard) {
	t.Helper()
	_, err := r.Prepare(t.Context(), g)
	must(t, err)
}

func staged(t testing.TB, r *Repo, paths []string) *Stage {
	t.Helper()
	s, err := r.Stage(t.Context(), paths)
	must(t, err)
	return s
}

// changed lists the changes as "kind path" lines.
func changed(t testing.TB, r *Repo) []string {
	t.Helper()
	changes := changesOf(t, r)
	var out []string
	for _, c := range changes {
		plain := func(t Type) bool { return t == File || t == Executable }
		kind := "type changed"
		switch {
		case c.Was == None:
			kind = "added"
		case c.Type == None:
			kind = "deleted"
		case c.Was == c.Type || plain(c.Was) && plain(c.Type):
			kind = "modified"
		}
		out = append(out, kind+" "+c.Path)
	}
	return out
}

// allPaths are the paths of all changes.
func allPaths(t testing.TB, r *Repo) []string {
	t.Helper()
	changes := changesOf(t, r)
	var out []string
	for _, c := range changes {
		out = append(out, c.Path)
	}
	return out
}

// clean fails if tree, index and tip are not the same, seen by plain git.
func clean(t testing.TB, r *Repo) {
	t.Helper()
	if got := changed(t, r); got != nil {
		t.Errorf("the work tree is not as the tip: %q", got)
	}
	out, err := r.git(t.Context(), "diff-index", "--cached", "--name-status", r.Tip())
	must(t, err)
	if len(out) > 0 {
		t.Errorf("the index is not as the tip:\n%s", out)
	}
	if out, err := r.git(t.Context(), "fsck", "--no-dangling", "--connectivity-only"); err != nil {
		t.Errorf("fsck: %v\n%s", err, out)
	}
}

func there(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// commitForever is what the test binary does when another test wants a process
// to kill: it opens the run and commits state and code until it is ended.
func commitForever(ctx context.Context) error {
	user := os.Getenv("REPRISE_TEST_COMMITTER")
	source, err := Find(ctx, user)
	if err != nil {
		return err
	}
	r, err := Open(ctx, Options{Source: source, Root: filepath.Join(filepath.Dir(user), "run"), Branch: branch, State: state, Remote: "origin"})
	if err != nil {
		return err
	}
	last, _ := r.ReadFile(ctx, r.Tip(), record)
	n, _ := strconv.Atoi(string(last))
	fmt.Println("ready")
	for {
		n++
		text := []byte(strconv.Itoa(n))
		if err := os.WriteFile(filepath.Join(r.Tree(), "code.txt"), text, 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.Tree(), "new-"+string(text)), text, 0o644); err != nil {
			return err
		}
		if _, err := commitPaths(ctx, r, Commit{
			Message: "n " + string(text), Files: map[string][]byte{record: text}, Time: noon,
		}, "code.txt", "new-"+string(text)); err != nil {
			return err
		}
		fmt.Println(n)
	}
}
