package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// made makes the repository of a case, and gives its folder.
func made(t *testing.T, c Case, prompts string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	testenv.Must(t, makeRepository(t.Context(), os.Environ(), c, prompts, dir))
	return dir
}

func run(t *testing.T, repo string, args ...string) string {
	t.Helper()
	out := testenv.MustGit(t, repo, args...)
	return strings.TrimSpace(out)
}

// commits is a repository whose second commit is the solution of what the first lacks.
func commits(t *testing.T) (repo, first, second string) {
	t.Helper()
	repo = folder(t, map[string]string{"sum.txt": "1 + 1 = 3\n"})
	run(t, repo, "init", "--quiet", "--initial-branch=trunk")
	run(t, repo, "add", ".")
	run(t, repo, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "Begin")
	first = run(t, repo, "rev-parse", "HEAD")
	testenv.Must(t, testenv.PutText(filepath.Join(repo, "sum.txt"), "1 + 1 = 2, the solution\n"))
	run(t, repo, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-a", "-m", "Solve")
	return repo, first, run(t, repo, "rev-parse", "HEAD")
}

// objects lists every commit and file that is in a repository, also what no branch has.
func objects(t *testing.T, repo string) string {
	t.Helper()
	all := ""
	for _, line := range strings.Split(run(t, repo, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"), "\n") {
		all += run(t, repo, "cat-file", "-p", line)
	}
	return all
}

// TestNothingThatCameLaterIsThere begins with the first of two commits: an agent that
// looks through all of git does not find the second.
func TestNothingThatCameLaterIsThere(t *testing.T) {
	repo, first, second := commits(t)
	dir := made(t, Case{Repo: repo, Commit: first[:12]}, "")
	if got := run(t, dir, "rev-parse", "main"); got != first {
		t.Errorf("main is %s, want %s", got, first)
	}
	if all := objects(t, dir); strings.Contains(all, "the solution") || strings.Contains(all, "Solve") || !strings.Contains(all, "Begin") {
		t.Errorf("there is:\n%s", all)
	}
	if got := run(t, made(t, Case{Repo: repo}, ""), "rev-parse", "main"); got != second {
		t.Errorf("without a commit main is %s, want %s", got, second)
	}
	err := makeRepository(t.Context(), os.Environ(), Case{Repo: repo, Commit: "1234567"}, "", filepath.Join(t.TempDir(), "repo"))
	if err == nil || !strings.Contains(err.Error(), "there is no commit 1234567") {
		t.Errorf("got %v", err)
	}
}

// TestPlantedMistakesCannotBeReadOffTheHistory plants one in a repository with history.
func TestPlantedMistakesCannotBeReadOffTheHistory(t *testing.T) {
	repo, _, _ := commits(t)
	dir := made(t, Case{Repo: repo, Mutation: []mutation{{File: "sum.txt", Find: "= 2", Replace: "= 4"}}}, "")
	if got := run(t, dir, "show", "main:sum.txt"); got != "1 + 1 = 4, the solution" {
		t.Errorf("got %q", got)
	}
	if all := objects(t, dir); strings.Contains(all, "= 2") || strings.Contains(all, "= 3") {
		t.Errorf("there is:\n%s", all)
	}
	err := makeRepository(t.Context(), os.Environ(), Case{Repo: repo, Mutation: []mutation{{File: "sum.txt", Find: "1", Replace: "4"}}}, "", filepath.Join(t.TempDir(), "repo"))
	if err == nil || !strings.Contains(err.Error(), `has the text "1" 2 times`) {
		t.Errorf("got %v", err)
	}
}

// TestFilesAsARepository makes the same commit of the same files, whoever and whenever.
func TestFilesAsARepository(t *testing.T) {
	files := folder(t, map[string]string{"a/b.txt": "b\n", ".gitignore": "ignored\n", "ignored": "x"})
	packed := filepath.Join(folder(t, map[string]string{"r.txtar": "-- a/b.txt --\nb\n-- .gitignore --\nignored\n"}), "r.txtar")
	prompts := folder(t, map[string]string{"execute.md": "Do it.\n"})
	first, second := made(t, Case{Repo: files}, ""), made(t, Case{Repo: packed}, "")
	if a, b := run(t, first, "rev-parse", "main"), run(t, second, "rev-parse", "main"); a != b {
		t.Errorf("%s and %s", a, b)
	}
	if got := run(t, first, "ls-files"); got != ".gitignore\na/b.txt" {
		t.Errorf("got %q", got)
	}
	if got := run(t, made(t, Case{Repo: packed}, prompts), "show", "main:.github/reprise/prompts/execute.md"); got != "Do it." {
		t.Errorf("got %q", got)
	}
}

// TestHiddenFilesGoOverWhatAnAgentLeft puts them in where somebody left a folder or a
// link in their place, and never through a link that leads out.
func TestHiddenFilesGoOverWhatAnAgentLeft(t *testing.T) {
	outside := t.TempDir()
	tree := folder(t, map[string]string{"x_test.go/inside": "a folder", "y_test.go": "weak"})
	testenv.Must(t, os.Symlink(filepath.Join(outside, "z"), filepath.Join(tree, "z_test.go")))
	c := Case{Hidden: folder(t, map[string]string{"x_test.go": "x", "y_test.go": "y", "z_test.go": "z"})}
	testenv.Must(t, c.addHidden(tree))
	for _, name := range []string{"x", "y", "z"} {
		if data, err := os.ReadFile(filepath.Join(tree, name+"_test.go")); string(data) != name {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	testenv.Must(t, os.Symlink(outside, filepath.Join(tree, "tests")))
	c.Hidden = folder(t, map[string]string{"tests/a": "a"})
	if err := c.addHidden(tree); err == nil {
		t.Error("a hidden file went through a link")
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside there is %v, %v", left, err)
	}
}
