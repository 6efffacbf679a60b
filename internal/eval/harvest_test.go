package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/testenv"
)

func TestIsTest(t *testing.T) {
	for name, want := range map[string]bool{
		"a_test.go": true, "x/test_a.py": true, "a_test.py": true, "a.test.js": true, "a.spec.tsx": true, "tests/a.rs": true, "src/test/A.java": true,
		"ATest.java": true, "a_spec.rb": true, "x/testdata/y": true, "__tests__/a.js": true,
		"a.go": false, "latest.go": false, "contest/a.go": false, "protest.py": false, "test.go": false, "a.js": false, "testing.md": false,
	} {
		if got := isTest(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSlug(t *testing.T) {
	for text, want := range map[string]string{"Add --flag, please!": "add-flag-please", "日本": "", "issue-7": "issue-7", strings.Repeat("ab ", 30): strings.TrimSuffix(strings.Repeat("ab-", 14), "-")[:40]} {
		if got := slug(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestCasesOfCommits takes the commits that change code and tests, and no others.
func TestCasesOfCommits(t *testing.T) {
	repo := folder(t, map[string]string{"a.py": "1"})
	run(t, repo, "init", "--quiet", "--initial-branch=main")
	commit := func(message string, files ...string) {
		for _, f := range files {
			if err := testenv.PutText(filepath.Join(repo, f), message); err != nil {
				t.Fatal(err)
			}
		}
		run(t, repo, "add", ".")
		run(t, repo, "commit", "--quiet", "-m", message)
	}
	commit("Begin")
	commit("Solve \"it\"\n\nIn two\nlines.", "a.py", "test_a.py")
	commit("Only code", "a.py")
	commit("Only tests", "test_a.py")
	commit("Both", "b.py", "test_b.py")
	suite := filepath.Join(t.TempDir(), "cases")
	env := environ.Env{Environ: os.Environ()}
	made, err := Init(t.Context(), env, Harvest{Repo: repo, Suite: suite, Commits: 5, Check: "python3 -m unittest"})
	if err != nil || len(made) != 2 || !strings.HasSuffix(made[0], "-both") || !strings.HasSuffix(made[1], "-solve-it") {
		t.Fatalf("%v, %v", made, err)
	}
	c, err := readCase(made[1])
	if err != nil {
		t.Fatal(err)
	}
	if c.Repo != repo || c.Commit != run(t, repo, "rev-parse", "HEAD~4") || len(c.Checks) != 1 || c.Checks[0].Run != "python3 -m unittest" {
		t.Errorf("%+v", c)
	}
	for name, want := range map[string]string{"issue.md": "# Solve \"it\"\n\nIn two\nlines.\n", "hidden/test_a.py": "Solve \"it\"\n\nIn two\nlines."} {
		if got, err := os.ReadFile(filepath.Join(made[1], name)); string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if again, err := Init(t.Context(), env, Harvest{Repo: repo, Suite: filepath.Join(suite, "x"), Commits: 1, Check: "x"}); err != nil || len(again) != 1 {
		t.Errorf("%v, %v", again, err)
	}
	if _, err := Init(t.Context(), env, Harvest{Repo: repo, Suite: suite, Commits: 1, Check: "x"}); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("got %v", err)
	}
}
